package gateway

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// oneTry sends a change to Stripe once. Go's transport would send one with an
// idempotency key again by itself when a kept connection breaks; but retries
// have one owner, and that is not the transport.
type oneTry struct{ next http.RoundTripper }

// idleFor is how long a connection is kept: less than Stripe keeps it, since a
// change that meets a closed one is not sent again.
const idleFor = 20 * time.Second

func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = idleFor
	return oneTry{t}
}

// RoundTrip takes the means to repeat a body away from a POST.
func (o oneTry) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return o.next.RoundTrip(r)
	}
	once := r.Clone(r.Context())
	once.GetBody = nil
	if once.Body == nil || once.Body == http.NoBody {
		once.Body = io.NopCloser(strings.NewReader(""))
	}
	return o.next.RoundTrip(once)
}
