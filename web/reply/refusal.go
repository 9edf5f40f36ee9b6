package reply

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Status is what a kind of refusal is answered with.
func Status(k fault.Kind) int {
	switch k {
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Limited:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.Malformed:
		return http.StatusBadRequest
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// soon is when to come back if the refusal does not know.
const soon = time.Second

// Refusal is err as the refusal to answer with, for any error at all: a body
// that was too long is TooLarge; something that took too long or that the
// client broke off, and a busy or absent database, are Unavailable; whatever
// else is unexpected is Internal.
// Limited and Unavailable say when to come back.
func Refusal(err error) *fault.Error {
	f := fault.As(err)
	if f.Kind == fault.Internal {
		f = unexpected(err)
	}
	if f.Kind == fault.Limited || f.Kind == fault.Unavailable {
		c := *f
		c.RetryAfter = max(c.RetryAfter, soon)
		return &c
	}
	return f
}

func unexpected(err error) *fault.Error {
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return fault.New(fault.TooLarge, fmt.Sprintf("This is too large: at most %s can be sent.", Size(long.Limit))).Because(err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fault.Away("This took too long. Please try again.", soon).Because(err)
	}
	// A read outside a transaction meets a busy or absent database here.
	return fault.As(db.Explain("answer", err))
}

// Size writes a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// refuse notes the refusal for the log and sets the headers that go with it.
func refuse(w http.ResponseWriter, r *http.Request, err error) *fault.Error {
	f := Refusal(err)
	FactsOf(r.Context()).Err = err
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(seconds(f.RetryAfter), 10))
	}
	return f
}

// seconds rounds up: who comes back a moment early is refused again.
func seconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }

// In says when to come back, for people: "in 40 seconds", "in 12 minutes".
// It is empty for no time at all.
func In(d time.Duration) string {
	switch s := seconds(d); {
	case s <= 0:
		return ""
	case s == 1:
		return "in a second"
	case s < 120:
		return fmt.Sprintf("in %d seconds", s)
	case s < 2*3600:
		return fmt.Sprintf("in %d minutes", (s+59)/60)
	default:
		return fmt.Sprintf("in %d hours", (s+3599)/3600)
	}
}
