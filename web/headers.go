package web

import (
	"net/http"
	"strings"
)

// policy is the Content-Security-Policy of our pages. A form that ends at a
// payment page is sent on by a redirect, which form-action has to allow.
func policy(checkout []string) string {
	action := strings.Join(append([]string{"'self'"}, checkout...), " ")
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
		"worker-src 'self'; manifest-src 'self'; form-action " + action + "; base-uri 'none'; frame-ancestors 'none'"
}

// protected sets the headers by which browsers protect people.
func (s *site) protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
		if s.secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

func isHTTPS(address string) bool { return strings.HasPrefix(address, "https://") }
