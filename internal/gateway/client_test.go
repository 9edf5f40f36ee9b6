package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/gateway"
)

// stripe is a stand-in that answers as it is told; what a real one does is
// held by package stripesim.
type stripe struct {
	*httptest.Server
	calls  atomic.Int32
	answer atomic.Pointer[http.HandlerFunc]
}

func newStripe(t *testing.T) (*stripe, *gateway.Client) {
	t.Helper()
	s := &stripe{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s, gateway.New(gateway.Settings{SecretKey: "sk_test_1", URL: s.URL, Timeout: time.Second}, false)
}

func (s *stripe) says(h http.HandlerFunc) {
	s.calls.Store(0)
	s.answer.Store(&h)
}

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

const page = `{"id":"cs_1","object":"checkout.session","url":"https://pay.example/1","status":"open","payment_status":"unpaid",
	"client_reference_id":"p1","metadata":{"payment_id":"p1","rental_id":"r1"},"amount_total":500,"currency":"usd","payment_intent":"pi_1"}`

// Every call says what it means: away, refused, in use or spent.
func TestAnswersAreSorted(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	refusal := `{"error":{"type":"invalid_request_error","message":"no"}}`
	trouble := `{"error":{"type":"api_error","message":"oh"}}`
	calls := map[string]func() error{
		"get":     func() error { _, err := c.Get(t.Context(), "cs_1"); return err },
		"expire":  func() error { _, err := c.Expire(t.Context(), "cs_1", "key"); return err },
		"refund":  func() error { _, err := c.Refund(t.Context(), "key", "r", "pi_1", 5); return err },
		"refunds": func() error { _, err := c.Refunds(t.Context(), "pi_1"); return err },
		"begin": func() error {
			_, err := c.Begin(t.Context(), gateway.Purchase{IdempotencyKey: "key", Amount: 5})
			return err
		},
	}
	for name, a := range map[string]struct {
		answer        http.HandlerFunc
		refused, gone bool
	}{
		"400":                {status(400, refusal), true, false},
		"402":                {status(402, refusal), true, false},
		"403":                {status(403, refusal), true, false},
		"404":                {status(404, refusal), true, false},
		"401, a wrong key":   {status(401, refusal), false, false},
		"409":                {status(409, refusal), false, false},
		"429":                {status(429, refusal), false, false},
		"500":                {status(500, trouble), false, false},
		"503, no JSON":       {status(503, "busy"), false, false},
		"200, no JSON":       {status(200, "<html>"), false, false},
		"500, from memory":   {status(500, trouble, "Idempotent-Replayed", "true"), false, true},
		"connection dropped": {drop, false, false},
	} {
		for verb, call := range calls {
			s.says(a.answer)
			err := call()
			if errors.Is(err, gateway.ErrRefused) != a.refused || errors.Is(err, gateway.ErrSpent) != a.gone {
				t.Errorf("%s, %s: %v", verb, name, err)
			}
			if f := fault.As(err); !a.refused && f.Kind != fault.Unavailable {
				t.Errorf("%s, %s: %s", verb, name, f.Code)
			}
			if n := s.calls.Load(); n != 1 && (verb != "get" && verb != "refunds" || name != "connection dropped") {
				t.Errorf("%s, %s: %d calls", verb, name, n)
			}
		}
	}
}

// A change is sent once, also over a kept connection that breaks; it has our
// key, and the page our words.
func TestChangesAreSentOnce(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	s.says(status(200, page))
	if _, err := c.Get(t.Context(), "cs_1"); err != nil { // keeps the connection
		t.Fatal(err)
	}
	var key atomic.Value
	s.says(func(_ http.ResponseWriter, r *http.Request) {
		key.Store(r.Header.Get("Idempotency-Key"))
		panic(http.ErrAbortHandler)
	})
	if _, err := c.Expire(t.Context(), "cs_1", "our-key"); fault.As(err).Kind != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if n := s.calls.Load(); n != 1 || key.Load() != "our-key" {
		t.Errorf("%d calls with the key %v", n, key.Load())
	}
}

func TestSilenceHasALimit(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	s.says(func(http.ResponseWriter, *http.Request) { <-silent })
	if _, err := c.Get(t.Context(), "cs_1"); fault.As(err).Kind != fault.Unavailable {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := c.Expire(ctx, "cs_1", "key"); fault.As(err).Kind != fault.Unavailable {
		t.Errorf("%v", err)
	}
}

// A page that is just being made by another copy of the call is waited for.
func TestBeginWaitsForItsKey(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	busy := `{"error":{"type":"invalid_request_error","code":"idempotency_key_in_use","message":"in use"}}`
	s.says(func(w http.ResponseWriter, r *http.Request) {
		if s.calls.Load() < 3 {
			status(409, busy)(w, r)
			return
		}
		status(200, page)(w, r)
	})
	got, err := c.Begin(t.Context(), gateway.Purchase{IdempotencyKey: "key", Amount: 500, Currency: "usd"})
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.Session{
		ID: "cs_1", URL: "https://pay.example/1", Status: gateway.SessionOpen, PaymentStatus: "unpaid", Reference: "p1", PaymentKey: "p1", RentalKey: "r1",
		Amount: 500, Currency: "usd", PaymentIntent: "pi_1",
	}
	if got != want || got.Paid() || got.Processing() {
		t.Errorf("%+v", got)
	}
	s.says(status(409, busy))
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if _, err := c.Begin(ctx, gateway.Purchase{IdempotencyKey: "key"}); fault.As(err).Kind != fault.Unavailable {
		t.Errorf("%v", err)
	}
}

func TestRefundsAreListedToTheLast(t *testing.T) {
	t.Parallel()
	s, c := newStripe(t)
	s.says(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("starting_after") == "" {
			status(200, `{"object":"list","url":"/v1/refunds","has_more":true,"data":[{"id":"re_1","amount":3,"status":"succeeded","metadata":{"refund_id":"ours"},"payment_intent":"pi_1"}]}`)(w, r)
			return
		}
		status(200, `{"object":"list","url":"/v1/refunds","has_more":false,"data":[{"id":"re_2","amount":4,"status":"failed","failure_reason":"lost_or_stolen_card","payment_intent":"pi_1"}]}`)(w, r)
	})
	got, err := c.Refunds(t.Context(), "pi_1")
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got[0].RefundKey != "ours" || got[1].Status != gateway.RefundFailed || got[1].Failure == "" || got[1].Amount != 4 {
		t.Errorf("%+v", got)
	}
}
