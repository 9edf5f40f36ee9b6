package stripesim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"
	"github.com/stripe/stripe-mock/embedded"
	mock "github.com/stripe/stripe-mock/server"
	"github.com/stripe/stripe-mock/spec"

	"tuval/internal/stripesim"
)

// stripeMock serves Stripe's own stand-in: it holds every request against
// Stripe's OpenAPI document, and answers with fixtures. It remembers nothing,
// so it cannot be the simulator; but what it refuses, Stripe refuses.
func stripeMock(t *testing.T) *client.API {
	t.Helper()
	document := must[*spec.Spec](t)(mock.LoadSpec(embedded.OpenAPISpec, ""))
	for path := range document.Paths { // making checkers for all of Stripe takes seconds
		if !regexp.MustCompile(`^/v1/(checkout/sessions|refunds|events|payment_intents|charges)(/|$)`).MatchString(string(path)) {
			delete(document.Paths, path)
		}
	}
	fixtures := must[*spec.Fixtures](t)(mock.LoadFixtures(embedded.OpenAPIFixtures, ""))
	stub := must[*mock.StubServer](t)(mock.NewStubServer(fixtures, document, false, false))
	server := httptest.NewServer(http.HandlerFunc(stub.HandleRequest))
	t.Cleanup(server.Close)
	return stripeClient(server.URL)
}

// tuvalRequests are the calls that the marketplace makes, each over the API
// it is given, with the raw answer. sim is set when that is the simulator.
func tuvalRequests(t *testing.T, api *client.API, sim *stripesim.Sim) map[string]json.RawMessage {
	t.Helper()
	answers := map[string]json.RawMessage{}
	keep := func(name string, r *stripe.APIResponse, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s was refused: %v", name, err)
		}
		answers[name] = r.RawJSON
	}
	p := checkout()
	p.SetIdempotencyKey("checkout-1")
	made, err := api.CheckoutSessions.New(p)
	keep("create a session", made.LastResponse, err)
	found, err := api.CheckoutSessions.Get(made.ID, nil)
	keep("read a session", found.LastResponse, err)
	expiring := must[*stripe.CheckoutSession](t)(api.CheckoutSessions.New(checkout()))
	end := &stripe.CheckoutSessionExpireParams{}
	end.SetIdempotencyKey("expire-1")
	ended, err := api.CheckoutSessions.Expire(expiring.ID, end)
	keep("expire a session", ended.LastResponse, err)
	intent := "pi_123"
	if sim != nil {
		intent = must[*stripesim.Session](t)(sim.Pay(t.Context(), made.ID, stripesim.Payment{})).PaymentIntent.ID
	}
	back := &stripe.RefundParams{PaymentIntent: &intent, Amount: stripe.Int64(1000), Reason: stripe.String("requested_by_customer")}
	back.Metadata = map[string]string{"refund_id": "ref_1", "payment_id": "pay_1", "rental_id": "r1"}
	back.SetIdempotencyKey("refund-1")
	refund, err := api.Refunds.New(back)
	keep("refund", refund.LastResponse, err)
	paying, err := api.PaymentIntents.Get(intent, nil)
	keep("read a payment", paying.LastResponse, err)
	charge := "ch_123"
	if sim != nil {
		charge = paying.LatestCharge.ID
	}
	taken, err := api.Charges.Get(charge, nil)
	keep("read a charge", taken.LastResponse, err)
	lists(t, api, intent, keep)
	return answers
}

func lists(t *testing.T, api *client.API, intent string, keep func(string, *stripe.APIResponse, error)) {
	t.Helper()
	rp := &stripe.RefundListParams{PaymentIntent: &intent}
	rp.Limit, rp.Single = stripe.Int64(100), true
	ri := api.Refunds.List(rp)
	keep("list refunds", ri.RefundList().LastResponse, ri.Err())
	ep := &stripe.EventListParams{
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: time.Now().Add(-time.Hour).Unix()},
		Types:        []*string{stripe.String("checkout.session.completed"), stripe.String("charge.refunded")},
	}
	ep.Limit, ep.Single = stripe.Int64(100), true
	ei := api.Events.List(ep)
	keep("list events", ei.EventList().LastResponse, ei.Err())
	sp := &stripe.CheckoutSessionListParams{PaymentIntent: &intent}
	sp.Limit, sp.Single = stripe.Int64(10), true
	si := api.CheckoutSessions.List(sp)
	keep("list sessions", si.CheckoutSessionList().LastResponse, si.Err())
}

func TestAgainstStripesOwnMock(t *testing.T) {
	t.Parallel()
	s, api := newStage(t), stripeMock(t)
	t.Run("shapes", func(t *testing.T) { shapesAgree(t, s, api) })
	t.Run("misspelled", func(t *testing.T) { bothRefuseMisspelled(t, s, api) })
}

// Both take every request of ours, and what the simulator answers has the
// shape of what Stripe answers: no field that Stripe does not have, none of
// another JSON type.
func shapesAgree(t *testing.T, s *stage, api *client.API) {
	ours := tuvalRequests(t, s.api, s.sim)
	theirs := tuvalRequests(t, api, nil)
	for name := range theirs {
		var a, b any
		if err := json.Unmarshal(ours[name], &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(theirs[name], &b); err != nil {
			t.Fatal(err)
		}
		for _, problem := range unlike(name, a, b) {
			t.Error(problem)
		}
	}
}

// freeForm are objects whose fields are anybody's.
func freeForm(field string) bool {
	return field == "metadata" || field == "object" || field == "previous_attributes"
}

// unlike compares the shape of a, the simulator's, to that of b.
func unlike(at string, a, b any) (problems []string) {
	switch {
	case a == nil || b == nil:
		return nil
	case kind(a) != kind(b) && isReference(a) && isReference(b):
		return nil
	case kind(a) != kind(b):
		return []string{fmt.Sprintf("%s is %s, at Stripe %s", at, kind(a), kind(b))}
	}
	switch a := a.(type) {
	case map[string]any:
		for field, inner := range a {
			theirs, there := b.(map[string]any)[field]
			switch {
			case field == "previous_attributes": // only some events have them
			case !there:
				problems = append(problems, fmt.Sprintf("%s.%s is not a field of Stripe's", at, field))
			case !freeForm(field):
				problems = append(problems, unlike(at+"."+field, inner, theirs)...)
			}
		}
	case []any:
		if other := b.([]any); len(a) > 0 && len(other) > 0 {
			problems = append(problems, unlike(at+"[0]", a[0], other[0])...)
		}
	}
	return problems
}

// isReference is an id or the object in its place.
func isReference(v any) bool {
	if m, ok := v.(map[string]any); ok {
		return m["id"] != nil
	}
	_, ok := v.(string)
	return ok
}

func kind(v any) string { return fmt.Sprintf("%T", v) }

func bothRefuseMisspelled(t *testing.T, s *stage, api *client.API) {
	p := checkout()
	p.AddExtra("client_referenceid", "pay_1")
	if _, err := api.CheckoutSessions.New(p); err == nil {
		t.Error("a parameter that does not exist was taken")
	}
	_, err := s.api.CheckoutSessions.New(p)
	refusal(t, err, http.StatusBadRequest, "parameter_unknown", "client_referenceid")
}
