package stripesim_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"tuval/internal/stripesim"
)

// Every webhook of every test is verified by the ear, with both secrets. Here
// the header itself is held against the official maker of it.
func TestTheSignatureIsStripes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	payload := []byte(`{"id":"evt_1","object":"event","api_version":"` + stripe.APIVersion + `"}`)
	official := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: payload, Secret: newSecret, Timestamp: now})
	if got := stripesim.Sign(payload, now, newSecret); got != official.Header {
		t.Errorf("signed %q, want %q", got, official.Header)
	}
	for _, secret := range []string{newSecret, oldSecret} {
		if _, err := webhook.ConstructEvent(payload, stripesim.Sign(payload, now, newSecret, oldSecret), secret); err != nil {
			t.Errorf("with %s: %v", secret, err)
		}
	}
	if _, err := webhook.ConstructEvent(payload, stripesim.Sign(payload, now, newSecret), oldSecret); err == nil {
		t.Error("a signature of the other secret passed")
	}
}

func TestWebhooksAreRetriedWithGrowingGaps(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var gaps []int
	s := newStage(t, func(o *stripesim.Options) {
		o.RetryGap = func(attempt int) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			gaps = append(gaps, attempt)
			return time.Millisecond
		}
	})
	s.ear.answer = func(n int, _ stripe.Event) int {
		return []int{500, 302, 404, 200}[min(n, 4)-1]
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Expire(s.newSession().ID, nil))
	s.ear.until("four tries", func(types []string) bool { return len(types) == 4 })
	if err := s.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := must[[]*stripesim.Webhook](t)(s.sim.Webhooks(t.Context()))
	if len(sent) != 1 || sent[0].Attempts != 4 || sent[0].DeliveredAt == nil || *sent[0].LastStatus != 200 || sent[0].LastError != nil {
		t.Errorf("the webhook is %+v", sent[0])
	}
	if fmt.Sprint(gaps) != "[1 2 3 4]" {
		t.Errorf("gaps were asked for after attempts %v", gaps)
	}
}

func TestTheUsualGapsGrow(t *testing.T) {
	t.Parallel()
	last := time.Duration(0)
	for attempt := 1; attempt <= 100; attempt++ {
		gap := stripesim.Doubling(attempt)
		if gap < last || gap > time.Minute || gap <= 0 {
			t.Fatalf("after attempt %d: %s, before it %s", attempt, gap, last)
		}
		last = gap
	}
	if stripesim.Doubling(1) != 500*time.Millisecond || last != time.Minute {
		t.Errorf("from %s to %s", stripesim.Doubling(1), last)
	}
}

func TestAnEndpointThatIsAwayHearsLater(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	away := true
	s := newStage(t, func(o *stripesim.Options) {
		o.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if away {
				return nil, fmt.Errorf("nobody is there")
			}
			return http.DefaultTransport.RoundTrip(r)
		})}
	})
	s.paid()
	waitFor(t, func() bool {
		sent := must[[]*stripesim.Webhook](t)(s.sim.Webhooks(t.Context()))
		return sent[0].Attempts > 2 && sent[0].LastError != nil && sent[0].LastStatus == nil
	})
	mu.Lock()
	away = false
	mu.Unlock()
	s.ear.wants("payment_intent.succeeded", "checkout.session.completed")
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// waitFor asks until it holds; for what has no signal.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultDuplicate, Event: "checkout.session.completed", Copies: 19, Count: 1})
	s.paid()
	s.ear.until("20 copies and one other", func(types []string) bool { return len(types) == 21 })
	s.paid()
	if err := s.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for _, e := range s.ear.heard {
		ids[e.ID]++
	}
	if len(ids) != 4 || len(s.ear.heard) != 23 {
		t.Errorf("heard %d webhooks of %d events", len(s.ear.heard), len(ids))
	}
}

func TestHoldAndReleaseInReverse(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultHold})
	paid := s.paid()
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(paid, 0)))
	if err := s.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if heard := s.ear.types(); len(heard) != 0 {
		t.Errorf("held back, but heard %q", heard)
	}
	var list struct{ Held, Waiting int }
	s.send(http.MethodGet, "/sim/webhooks", "", http.StatusOK, &list)
	if list.Held != 4 || list.Waiting != 0 {
		t.Errorf("%+v", list)
	}
	s.post("/sim/webhooks/release", `{"order":"sideways"}`, http.StatusBadRequest, nil)
	s.post("/sim/webhooks/release", `{"order":"reverse"}`, http.StatusOK, nil)
	s.ear.until("all", func(types []string) bool { return len(types) == 4 })
	want := []string{"charge.refunded", "refund.created", "checkout.session.completed", "payment_intent.succeeded"}
	if heard := s.ear.types(); !slices.Equal(heard, want) {
		t.Errorf("heard %q", heard)
	}
	s.paid() // the hold is over
	s.ear.until("two more", func(types []string) bool { return len(types) == 6 })
}

func TestReleaseInOrderWaitsForOneAttemptEach(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultHold})
	s.ear.answer = func(n int, _ stripe.Event) int {
		if n == 1 {
			return 500 // a failure does not stop the others
		}
		return 200
	}
	must[*stripe.Refund](t)(s.api.Refunds.New(refundOf(s.paid(), 0)))
	if err := s.sim.ReleaseWebhooks(t.Context(), stripesim.OrderCreated); err != nil {
		t.Fatal(err)
	}
	s.ear.until("all, one twice", func(types []string) bool { return len(types) == 5 })
	want := []string{"payment_intent.succeeded", "checkout.session.completed", "refund.created", "charge.refunded"}
	heard := s.ear.types()
	again := slices.Index(heard[1:], "payment_intent.succeeded") + 1
	if firsts := slices.Delete(slices.Clone(heard), again, again+1); !slices.Equal(firsts, want) {
		t.Errorf("heard %q", heard)
	}
}

func TestReorder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultReorder, Count: 5})
	for range 5 {
		paid := s.paid()
		if err := s.sim.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		heard := s.ear.types()
		if last := heard[len(heard)-2:]; !slices.Equal(last, []string{"checkout.session.completed", "payment_intent.succeeded"}) {
			t.Errorf("%s: heard %q", paid.ID, last)
		}
	}
}

func TestMuteAndResend(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultMute, Event: "checkout.session.completed", Count: 1})
	s.paid()
	if err := s.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if heard := s.ear.types(); !slices.Equal(heard, []string{"payment_intent.succeeded"}) {
		t.Errorf("heard %q", heard)
	}
	lost := events(s, func(p *stripe.EventListParams) { p.Type = stripe.String("checkout.session.completed") })[0]
	s.post("/sim/events/"+lost.ID+"/resend", `{"copies":20}`, http.StatusOK, nil)
	s.post("/sim/events/evt_none/resend", ``, http.StatusNotFound, nil)
	s.ear.until("20 copies", func(types []string) bool { return len(types) == 21 })
}

func TestWebhooksHeldThroughARestart(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(o *stripesim.Options) { o.WebhookURL = "http://127.0.0.1:1/nobody" })
	s.paid()
	_, _ = s.start() // with the right address
	s.ear.wants("payment_intent.succeeded", "checkout.session.completed")
}
