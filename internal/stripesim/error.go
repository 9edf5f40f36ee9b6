package stripesim

import (
	"errors"
	"fmt"
	"net/http"
)

// Error is a refusal as Stripe words it. The Go API and the test controls
// give the same ones.
type Error struct {
	Status  int    `json:"-"` // of the answer
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	Param   string `json:"param,omitempty"`
	Message string `json:"message"`

	// early means that nothing had begun: the answer is not kept under the
	// idempotency key, which can be used again.
	early bool
}

// Error writes the message and what kind it is.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("stripesim: %d %s: %s", e.Status, e.Type, e.Message)
	}
	return fmt.Sprintf("stripesim: %d %s %s: %s", e.Status, e.Type, e.Code, e.Message)
}

const (
	invalidRequest   = "invalid_request_error"
	idempotencyError = "idempotency_error"
	apiTrouble       = "api_error"
)

// invalid refuses a parameter before anything begins.
func invalid(param, code, format string, args ...any) *Error {
	return &Error{
		Status: http.StatusBadRequest, Type: invalidRequest, Code: code, Param: param,
		Message: fmt.Sprintf(format, args...), early: true,
	}
}

// refused is a refusal by the state of things, found out while acting.
func refused(param, code, format string, args ...any) *Error {
	e := invalid(param, code, format, args...)
	e.early = false
	return e
}

// missing is an object that does not exist: 404 when it was addressed, 400
// when a parameter named it.
func missing(what, id, param string) *Error {
	e := refused(param, "resource_missing", "No such %s: '%s'", what, id)
	if param == "id" {
		e.Status = http.StatusNotFound
	}
	return e
}

// wrongState answers a test control that the object is past that.
func wrongState(format string, args ...any) *Error {
	e := refused("", "", format, args...)
	e.Status = http.StatusConflict
	return e
}

// trouble is Stripe's word for "our fault".
func trouble(status int) *Error {
	return &Error{Status: status, Type: apiTrouble, Message: "Something is not right on our side. Please try again.", early: true}
}

// asError returns the refusal in err; anything else is trouble of ours.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return trouble(http.StatusInternalServerError)
}
