package stripesim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// call is one request to the API while it is being answered.
type call struct {
	r         *http.Request
	requestID string
	endpoint  string // the route: "POST /v1/refunds"
	base      string // where a browser finds the pay pages
	key       string // idempotency key, POST only
	form      *node
	fault     Fault
	events    []string // caused by it
}

func (c *call) origin() origin { return origin{requestID: c.requestID, key: c.key, base: c.base} }

// action does what a POST asks for, inside the transaction of its work. It
// decides on a refusal before it changes anything: a refusal is committed
// with the key.
type action = func(ctx context.Context, w *work) (any, error)

// reply is an answer that can be stored and replayed byte for byte.
type reply struct {
	status   int
	body     []byte
	outcome  string // for the journal
	original string // the request id that is replayed
	drop     bool   // close the connection instead
}

// The outcomes in the journal.
const (
	outcomeRunning  = "running"  // not answered yet
	outcomeAnswered = "answered" // 2xx
	outcomeRefused  = "refused"  // an error, also a stored one
	outcomeReplayed = "replayed" // the stored answer of an earlier call
	outcomeDropped  = "dropped"  // the connection was closed
)

func replyWith(status int, v any) reply {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return replyError(trouble(http.StatusInternalServerError))
	}
	outcome := outcomeAnswered
	if status >= 400 {
		outcome = outcomeRefused
	}
	return reply{status: status, body: append(body, '\n'), outcome: outcome}
}

func replyError(e *Error) reply { return replyWith(e.Status, map[string]any{"error": e}) }

// patience is how long a call may work once it has begun. It goes on when its
// caller has gone: what has reached Stripe happens.
const patience = 20 * time.Second

// reads serves a GET.
func (s *Sim) reads(endpoint func(ctx context.Context, c *call) (any, error)) http.Handler {
	return s.api(func(ctx context.Context, c *call) reply {
		c.pause()
		if c.fault.Kind == FaultServerError || c.fault.Kind == FaultErrorAfter {
			return replyError(trouble(http.StatusInternalServerError))
		}
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		v, err := endpoint(ctx, c)
		if err != nil {
			return s.replyTo(c, err)
		}
		return replyWith(http.StatusOK, v)
	})
}

// writes serves a POST: parameters first, then the key, then the action.
func (s *Sim) writes(endpoint func(c *call) (action, *Error)) http.Handler {
	return s.api(func(ctx context.Context, c *call) reply {
		do, err := endpoint(c)
		if err != nil {
			return replyError(err)
		}
		if c.fault.Kind == FaultServerError {
			do = func(context.Context, *work) (any, error) {
				e := trouble(http.StatusInternalServerError)
				e.early = false
				return nil, e
			}
		}
		return s.perform(ctx, c, do)
	})
}

// replyTo answers an error; one that is not a refusal is logged.
func (s *Sim) replyTo(c *call, err error) reply {
	var e *Error
	if !errors.As(err, &e) {
		s.o.Logger.Error("stripesim: a call failed", "endpoint", c.endpoint, "request", c.requestID, "error", err)
	}
	return replyError(asError(err))
}

// api is what every call goes through: the journal around it, the key that
// lets it in, the fault that spoils it, the form it brings.
func (s *Sim) api(answer func(ctx context.Context, c *call) reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{r: r, requestID: newID("req_"), endpoint: r.Pattern, base: s.base(r)}
		ctx := context.WithoutCancel(r.Context())
		formErr := c.read(w)
		rep := reply{}
		if err := s.journal(ctx, c); err != nil {
			rep = s.replyTo(c, err)
		} else {
			rep = s.let(ctx, c, formErr, answer)
			s.journalEnd(ctx, c, rep)
		}
		if rep.drop {
			panic(http.ErrAbortHandler) // closes the connection without a word
		}
		c.send(w, rep, s.o.APIVersion)
	})
}

func (s *Sim) let(ctx context.Context, c *call, formErr *Error, answer func(ctx context.Context, c *call) reply) reply {
	if err := s.authorize(c.r); err != nil {
		return replyError(err)
	}
	f, err := takeFaultOf(ctx, s.o.Pool, c.endpoint, "", callFaults()...)
	if err != nil {
		return s.replyTo(c, err)
	}
	c.fault = f
	switch {
	case f.Kind == FaultUnavailable:
		c.pause()
		return replyError(f.refusal())
	case f.Kind == FaultDropBefore:
		c.pause()
		return reply{drop: true, outcome: outcomeDropped}
	case formErr != nil:
		return replyError(formErr)
	}
	rep := answer(ctx, c)
	if f.Kind == FaultDropAfter {
		rep.drop, rep.outcome = true, outcomeDropped
	}
	if f.Kind == FaultWebhookFirst {
		s.awaitFirstAttempts(ctx, c.events)
	}
	return rep
}

// pause waits as long as the fault says, whether or not the caller does.
func (c *call) pause() {
	if d := time.Duration(c.fault.Delay); d > 0 {
		<-time.After(d)
	}
}

// maxBody bounds a form.
const maxBody = 1 << 20

// read takes the parameters from the body of a POST or the query of a GET.
func (c *call) read(w http.ResponseWriter) *Error {
	c.form = &node{}
	raw := c.r.URL.RawQuery
	if c.r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, c.r.Body, maxBody))
		if err != nil {
			return invalid("", "", "Invalid request body.")
		}
		if kind := c.r.Header.Get("Content-Type"); len(body) > 0 && !strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
			return invalid("", "", "Invalid request body: the API takes application/x-www-form-urlencoded, not %s.", kind)
		}
		raw = string(body)
		c.key = strings.TrimSpace(c.r.Header.Get("Idempotency-Key"))
	}
	form, err := parseForm(raw)
	if err != nil {
		return err
	}
	c.form = form
	if len(c.key) > 255 || !utf8.ValidString(c.key) {
		c.key = ""
		return invalid("", "", "Idempotency keys are up to 255 characters long.")
	}
	return nil
}

// base is where a browser finds the pay pages.
func (s *Sim) base(r *http.Request) string {
	if s.o.BaseURL != "" {
		return s.o.BaseURL
	}
	return "http://" + r.Host
}

func (c *call) send(w http.ResponseWriter, rep reply, version string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache, no-store")
	h.Set("Request-Id", c.requestID)
	h.Set("Stripe-Version", version)
	if c.key != "" {
		h.Set("Idempotency-Key", c.key)
	}
	if rep.original != "" {
		h.Set("Idempotent-Replayed", "true")
		h.Set("Original-Request", rep.original)
	}
	w.WriteHeader(rep.status)
	_, _ = w.Write(rep.body) // the caller may be gone
}
