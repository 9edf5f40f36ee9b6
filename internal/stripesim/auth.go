package stripesim

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// authorize accepts the secret key as a bearer token or as the user name of
// basic authentication, the two ways that Stripe takes it.
func (s *Sim) authorize(r *http.Request) *Error {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		key, _, ok = r.BasicAuth()
	}
	switch {
	case !ok || key == "":
		return unauthorized("You did not provide an API key. Send your secret key in the Authorization header, as a bearer token.")
	case subtle.ConstantTimeCompare([]byte(key), []byte(s.o.SecretKey)) != 1:
		return unauthorized("Invalid API Key provided.")
	}
	return nil
}

func unauthorized(message string) *Error {
	return &Error{Status: http.StatusUnauthorized, Type: invalidRequest, Message: message, early: true}
}
