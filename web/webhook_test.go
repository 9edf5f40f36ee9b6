package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

const eventBody = `{"id": "evt_%s", "object": "event", "type": "%s", "livemode": false, "api_version": "2099-01-01",
  "data": {"object": {"id": "cs_1", "object": "checkout.session", "customer_details": {"name": "Ärger ☃"}}}}
`

// deliver posts a payload as Stripe does: no cookie, no origin.
func (s *stack) deliver(payload, signature string, headers ...string) *answer {
	b := s.browser()
	if signature != "" {
		headers = append(headers, "Stripe-Signature", signature)
	}
	return b.postRaw("/webhooks/stripe", "application/json; charset=utf-8", payload, headers...)
}

func sign(payload string, at time.Time, secrets ...string) string {
	return stripesim.Sign([]byte(payload), at, secrets...)
}

func TestGenuineEventsAreStoredOnce(t *testing.T) {
	s := newStack(t)
	now := time.Now()
	for id, signature := range map[string]func(string) string{
		"one":    func(p string) string { return sign(p, now, webhookSecret) },
		"old":    func(p string) string { return sign(p, now, "whsec_old") },
		"both":   func(p string) string { return sign(p, now, "whsec_other", webhookSecret) },
		"before": func(p string) string { return strings.Replace(sign(p, now, webhookSecret), ",v1=", ",v1=00,v1=", 1) },
	} {
		payload := fmt.Sprintf(eventBody, id, "checkout.session.completed")
		var copies sync.WaitGroup
		for range 5 {
			copies.Go(func() {
				if a := s.deliver(payload, signature(payload)); a.status != http.StatusOK || a.header.Get("Set-Cookie") != "" {
					t.Errorf("%s: %d %s", id, a.status, a.body)
				}
			})
		}
		copies.Wait()
	}
	if n := s.count(`SELECT count(*) FROM stripe_events`); n != 4 {
		t.Errorf("%d events are stored", n)
	}
	// One that nobody knows is fine, too, and so are cross-site headers.
	payload := fmt.Sprintf(eventBody, "odd", "invoice.paid")
	s.deliver(payload, sign(payload, now, webhookSecret), "Sec-Fetch-Site", "cross-site", "Origin", "https://stripe.example").wants(http.StatusOK)
}

func TestForgedEventsChangeNothing(t *testing.T) {
	s := newStack(t)
	payload := fmt.Sprintf(eventBody, "x", "checkout.session.completed")
	now := time.Now()
	for why, a := range map[string]*answer{
		"no header":      s.deliver(payload, ""),
		"nonsense":       s.deliver(payload, "t=1,v1=zz"),
		"another secret": s.deliver(payload, sign(payload, now, "whsec_wrong")),
		"one byte else":  s.deliver(strings.Replace(payload, "evt_x", "evt_y", 1), sign(payload, now, webhookSecret)),
		"ten minutes":    s.deliver(payload, sign(payload, now.Add(-10*time.Minute), webhookSecret)),
		"not JSON":       s.deliver("hello", sign("hello", now, webhookSecret)),
		"empty":          s.deliver("", ""),
	} {
		if a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", why, a.status)
		}
	}
	long := strings.Repeat("x", 1<<20+1)
	s.deliver(long, sign(long, now, webhookSecret)).wants(http.StatusRequestEntityTooLarge)
	s.browser().get("/webhooks/stripe").wants(http.StatusMethodNotAllowed)
	if n := s.count(`SELECT count(*) FROM stripe_events`); n != 0 {
		t.Errorf("%d events are stored", n)
	}
}

func TestALargeEventIsFine(t *testing.T) {
	s := newStack(t)
	payload := strings.Replace(fmt.Sprintf(eventBody, "large", "invoice.paid"), "Ärger", strings.Repeat("Ä", 100_000), 1)
	s.deliver(payload, sign(payload, time.Now(), webhookSecret)).wants(http.StatusOK)
}
