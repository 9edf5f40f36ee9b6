package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stripe/stripe-mock/embedded"
	mock "github.com/stripe/stripe-mock/server"

	"tuval/internal/fault"
	"tuval/internal/gateway"
)

func completed(n int) string {
	return fmt.Sprintf(`{ "id":"evt_%d","object":"event","type":"checkout.session.completed","created":%d,"livemode":false,
		"data":{"object":{"id":"cs_%d","object":"checkout.session","payment_status":"paid","amount_total":500}}}`, n, 1700000000+n, n)
}

// All pages are read, the oldest first, with the bytes as they came; an event
// that cannot be read hides no other.
func TestEventsAreListedToTheFirst(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	var asked []url.Values
	s.says(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query())
		if r.URL.Query().Get("starting_after") == "" {
			status(200, `{"object":"list","has_more":true,"data":[`+completed(4)+`,{"id":"evt_3","type":"charge.refunded","created":1700000003,"data":{"object":[]}}]}`)(w, r)
			return
		}
		status(200, `{"object":"list","has_more":false,"data":[`+completed(2)+`,`+completed(1)+`]}`)(w, r)
	})
	from, to := time.Unix(1700000000, 0), time.Unix(1700009999, 0)
	got, err := c.Events(t.Context(), from, to)
	if err != nil || len(got) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, e := range got {
		if e.ID != fmt.Sprintf("evt_%d", i+1) || e.Created.Unix() != int64(1700000001+i) || (e.Err != nil) != (i == 2) {
			t.Errorf("%d: %+v", i, e)
		}
	}
	if string(got[0].Payload) != completed(1) || got[0].Object.ID != "cs_1" || got[3].Object.AmountTotal != 500 {
		t.Errorf("%s", got[0].Payload)
	}
	q := asked[0]
	if len(asked) != 2 || asked[1].Get("starting_after") != "evt_3" || q.Get("created[gte]") != "1700000000" || q.Get("created[lt]") != "1700009999" ||
		q.Get("limit") != "100" || !slices.Contains(q["types[11]"], "charge.dispute.closed") {
		t.Errorf("asked %v", asked)
	}
}

func TestEventsSayWhenStripeIsAway(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	for name, answer := range map[string]http.HandlerFunc{
		"trouble": status(500, `{"error":{"type":"api_error","message":"oh"}}`), "not JSON": status(200, "<html>"),
		"no ids": status(200, `{"object":"list","has_more":true,"data":[{}]}`),
	} {
		s.says(answer)
		if _, err := c.Events(t.Context(), time.Unix(0, 0), time.Time{}); fault.As(err).Kind != fault.Unavailable || s.calls.Load() != 1 {
			t.Errorf("%s: %v, %d calls", name, err, s.calls.Load())
		}
	}
}

// Stripe's own stand-in holds what we ask against Stripe's document.
func TestEventsAreAskedForAsStripeWants(t *testing.T) {
	t.Parallel()
	document, err := mock.LoadSpec(embedded.OpenAPISpec, "")
	if err != nil {
		t.Fatal(err)
	}
	for path := range document.Paths { // checkers for all of Stripe take seconds to make
		if !regexp.MustCompile(`^/v1/events$`).MatchString(string(path)) {
			delete(document.Paths, path)
		}
	}
	fixtures, err := mock.LoadFixtures(embedded.OpenAPIFixtures, "")
	if err != nil {
		t.Fatal(err)
	}
	stub, err := mock.NewStubServer(fixtures, document, false, false)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(stub.HandleRequest))
	t.Cleanup(server.Close)
	c := gateway.New(gateway.Settings{SecretKey: "sk_test_123", URL: server.URL, Timeout: 10 * time.Second}, false)
	for _, to := range []time.Time{{}, time.Unix(1800000000, 0)} {
		if got, err := c.Events(t.Context(), time.Unix(1700000000, 0), to); err != nil || len(got) == 0 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
