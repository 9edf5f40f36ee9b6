package stripesim_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
)

func serve(t *testing.T, sim *stripesim.Sim) string {
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func events(s *stage, change func(p *stripe.EventListParams)) (found []*stripe.Event) {
	s.t.Helper()
	p := &stripe.EventListParams{}
	change(p)
	it := s.api.Events.List(p)
	for it.Next() {
		found = append(found, it.Event())
	}
	if err := it.Err(); err != nil {
		s.t.Fatal(err)
	}
	return found
}

func firstEvent(t *testing.T, s *stage) *stripe.Event {
	t.Helper()
	found := events(s, func(*stripe.EventListParams) {})
	if len(found) == 0 {
		t.Fatal("no events")
	}
	return found[len(found)-1]
}

func TestEventsAreListed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	start := time.Now().Unix() - 1
	for range 3 {
		s.paid()
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Expire(s.newSession().ID, nil))
	all := events(s, func(p *stripe.EventListParams) {
		p.Limit = stripe.Int64(2)
		p.CreatedRange = &stripe.RangeQueryParams{GreaterThanOrEqual: start}
	})
	if len(all) != 7 || all[0].Type != "checkout.session.expired" || all[6].Type != "payment_intent.succeeded" {
		t.Fatalf("listed %d events, newest first: %v", len(all), all)
	}
	if all[0].Request.ID == "" || all[1].Request.ID != "" {
		t.Error("the events do not say which call caused them")
	}
	for name, c := range map[string]struct {
		change func(p *stripe.EventListParams)
		want   int
	}{
		"two types": {func(p *stripe.EventListParams) {
			p.Types = []*string{stripe.String("checkout.session.completed"), stripe.String("checkout.session.expired")}
		}, 4},
		"one type":        {func(p *stripe.EventListParams) { p.Type = stripe.String("payment_intent.succeeded") }, 3},
		"a family":        {func(p *stripe.EventListParams) { p.Type = stripe.String("checkout.session.*") }, 4},
		"no wild card":    {func(p *stripe.EventListParams) { p.Type = stripe.String("checkout_session%") }, 0},
		"since tomorrow":  {func(p *stripe.EventListParams) { p.CreatedRange = &stripe.RangeQueryParams{GreaterThan: start + 86400} }, 0},
		"until yesterday": {func(p *stripe.EventListParams) { p.CreatedRange = &stripe.RangeQueryParams{LesserThan: start - 86400} }, 0},
		"until now": {func(p *stripe.EventListParams) {
			p.CreatedRange = &stripe.RangeQueryParams{LesserThanOrEqual: start + 600}
		}, 7},
		"until the last": {func(p *stripe.EventListParams) {
			p.CreatedRange = &stripe.RangeQueryParams{LesserThanOrEqual: all[0].Created}
		}, 7},
		"before the first": {func(p *stripe.EventListParams) { p.CreatedRange = &stripe.RangeQueryParams{LesserThan: all[6].Created} }, 0},
		"after the last": {func(p *stripe.EventListParams) {
			p.CreatedRange = &stripe.RangeQueryParams{GreaterThan: all[0].Created}
		}, 0},
		"older than first": {func(p *stripe.EventListParams) { p.StartingAfter = &all[6].ID }, 0},
		"older than third": {func(p *stripe.EventListParams) { p.StartingAfter = &all[2].ID }, 4},
	} {
		if got := events(s, c.change); len(got) != c.want {
			t.Errorf("%s: %d events, want %d", name, len(got), c.want)
		}
	}
}

func TestPagesGoBothWays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range 4 {
		s.paid()
	}
	all := events(s, func(*stripe.EventListParams) {})
	page := func(change func(p *stripe.EventListParams)) ([]string, bool) {
		p := &stripe.EventListParams{}
		p.Limit, p.Single = stripe.Int64(3), true
		change(p)
		it := s.api.Events.List(p)
		var ids []string
		for it.Next() {
			ids = append(ids, it.Event().ID)
		}
		return ids, it.Meta().HasMore
	}
	ids := func(from, to int) (ids []string) {
		for _, e := range all[from:to] {
			ids = append(ids, e.ID)
		}
		return ids
	}
	for name, c := range map[string]struct {
		change func(p *stripe.EventListParams)
		want   []string
		more   bool
	}{
		"the newest":         {func(*stripe.EventListParams) {}, ids(0, 3), true},
		"the next":           {func(p *stripe.EventListParams) { p.StartingAfter = &all[2].ID }, ids(3, 6), true},
		"the last":           {func(p *stripe.EventListParams) { p.StartingAfter = &all[5].ID }, ids(6, 8), false},
		"newer, further":     {func(p *stripe.EventListParams) { p.EndingBefore = &all[6].ID }, ids(3, 6), true},
		"newer, to the edge": {func(p *stripe.EventListParams) { p.EndingBefore = &all[3].ID }, ids(0, 3), false},
	} {
		got, more := page(c.change)
		if strings.HasPrefix(name, "newer") {
			slices.Reverse(got) // the client turns them round: away from the cursor
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || more != c.more {
			t.Errorf("%s: %v, more %v; want %v, %v", name, got, more, c.want, c.more)
		}
	}
	p := &stripe.EventListParams{}
	p.StartingAfter = stripe.String("evt_none")
	it := s.api.Events.List(p)
	it.Next()
	refusal(t, it.Err(), 400, "resource_missing", "starting_after")
	p = &stripe.EventListParams{}
	p.Limit = stripe.Int64(101)
	it = s.api.Events.List(p)
	it.Next()
	refusal(t, it.Err(), 400, "parameter_invalid_integer", "limit")
}

// What the list shows later is what the webhook said then.
func TestEventsAreSnapshots(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 100)))
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 200)))
	s.ear.wants("charge.refunded", "charge.refunded")
	var amounts []any
	for _, e := range events(s, func(p *stripe.EventListParams) { p.Type = stripe.String("charge.refunded") }) {
		amounts = append(amounts, e.Data.Object["amount_refunded"])
	}
	if fmt.Sprint(amounts) != "[300 100]" {
		t.Errorf("the cumulative amounts were %v", amounts)
	}
}

func TestUndeliveredEventsCanBeAskedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	must[int64](t)(s.sim.AddFault(t.Context(), stripesim.Fault{Kind: stripesim.FaultHold, Event: "checkout.session.completed", Count: 1}))
	s.paid()
	if err := s.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for delivered, want := range map[bool]stripe.EventType{true: "payment_intent.succeeded", false: "checkout.session.completed"} {
		found := events(s, func(p *stripe.EventListParams) { p.DeliverySuccess = &delivered })
		if len(found) != 1 || found[0].Type != want {
			t.Errorf("delivered %v: %v", delivered, found)
		}
	}
}
