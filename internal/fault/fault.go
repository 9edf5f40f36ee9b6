package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of refusal it is; the web maps it to a status.
type Kind int

// The kinds, with the status each is answered with.
const (
	Internal         Kind = iota // 500
	Invalid                      // 422
	NotFound                     // 404
	Conflict                     // 409
	Gone                         // 410
	Forbidden                    // 403
	Unauthenticated              // 401
	Limited                      // 429, with RetryAfter
	Unavailable                  // 503, with RetryAfter
	TooLarge                     // 413
	Unsupported                  // 415
	MethodNotAllowed             // 405
	Malformed                    // 400, only for forged or broken webhooks
)

// Error is a refusal. Msg is for people; Err, if any, only for the log.
type Error struct {
	Kind       Kind
	Code       string         // stable word for programs, see the API document
	Msg        string         // safe and useful for a person
	Field      string         // the input at fault, if one is
	Details    map[string]any // further facts for programs
	RetryAfter time.Duration  // for Limited and Unavailable
	Err        error
}

// Error writes the message and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Msg, e.Err)
	}
	return e.Msg
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Because returns a copy that carries the cause, for the log.
func (e *Error) Because(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// With returns a copy with one more detail.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Details = map[string]any{name: value}
	for k, v := range e.Details {
		if k != name {
			c.Details[k] = v
		}
	}
	return &c
}

// New makes a refusal of a kind with the kind's usual code.
func New(kind Kind, msg string) *Error { return &Error{Kind: kind, Code: kind.code(), Msg: msg} }

// Field refuses one input; the message names its limit.
func Field(name, msg string) *Error {
	return &Error{Kind: Invalid, Code: "invalid", Field: name, Msg: msg}
}

// Taken says that somebody else has some of the blocks.
func Taken(msg string) *Error { return &Error{Kind: Conflict, Code: "taken", Msg: msg} }

// Limit says that a limit was reached and when to come back.
func Limit(msg string, retryAfter time.Duration) *Error {
	return &Error{Kind: Limited, Code: "limit", Msg: msg, RetryAfter: retryAfter}
}

// Away says that something we need does not answer at the moment.
func Away(msg string, retryAfter time.Duration) *Error {
	return &Error{Kind: Unavailable, Code: "unavailable", Msg: msg, RetryAfter: retryAfter}
}

// As returns the refusal in err, or an Internal one that carries it. It
// returns an empty refusal for nil, so that its fields can be read at once.
func As(err error) *Error {
	if err == nil {
		return &Error{}
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Code: Internal.code(), Msg: "Something went wrong on our side.", Err: err}
}

// Is reports whether err is a refusal with this code.
func Is(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

func (k Kind) code() string {
	return [...]string{
		"internal", "invalid", "not_found", "conflict", "gone", "forbidden", "unauthorized",
		"limit", "unavailable", "too_large", "unsupported", "method_not_allowed", "invalid",
	}[k]
}
