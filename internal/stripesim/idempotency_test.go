package stripesim_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
)

func keyed(key string) *stripe.CheckoutSessionParams {
	p := checkout()
	p.ExpiresAt = stripe.Int64(time.Now().Truncate(6 * time.Hour).Add(8 * time.Hour).Unix()) // the same for all calls of a test
	p.SetIdempotencyKey(key)
	return p
}

func TestOneKeyIsOneSession(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	again := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	if string(first.LastResponse.RawJSON) != string(again.LastResponse.RawJSON) {
		t.Error("the replayed answer is another one")
	}
	h := again.LastResponse.Header
	if h.Get("Idempotent-Replayed") != "true" || h.Get("Original-Request") != first.LastResponse.RequestID ||
		h.Get("Request-Id") == first.LastResponse.RequestID || first.LastResponse.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the headers of the replay are %v", h)
	}
	_, other := s.start()
	elsewhere := must[*stripe.CheckoutSession](t)(stripeClient(other).CheckoutSessions.New(keyed("k1")))
	if elsewhere.ID != first.ID {
		t.Error("another process made another session")
	}
	calls := must[[]*stripesim.Request](t)(s.sim.Requests(t.Context(), "POST /v1/checkout/sessions"))
	if len(calls) != 3 || *calls[1].IdempotencyKey != "k1" || calls[0].Outcome != "answered" || calls[1].Outcome != "replayed" {
		t.Errorf("the journal has %+v", calls)
	}
}

func TestTwentyAtOnceWithOneKey(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ids := crowd(20, func(int) string {
		made, err := s.api.CheckoutSessions.New(keyed("k1"))
		var e *stripe.Error
		switch {
		case err == nil:
			return made.ID
		case errors.As(err, &e) && e.HTTPStatusCode == http.StatusConflict && e.Code == "idempotency_key_in_use":
			return ""
		}
		t.Errorf("a loser was told %v", err)
		return ""
	})
	seen := map[string]bool{}
	for _, id := range ids {
		if id != "" {
			seen[id] = true
		}
	}
	var rows int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM stripesim.sessions`).Scan(&rows); err != nil || rows != 1 || len(seen) != 1 {
		t.Errorf("%d sessions were made, %d shown, %v", rows, len(seen), err)
	}
}

func TestAKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	made := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	other := keyed("k1")
	other.LineItems[0].PriceData.UnitAmount = stripe.Int64(960001)
	_, err := s.api.CheckoutSessions.New(other)
	if e := refusal(t, err, http.StatusBadRequest, "", ""); e.Type != stripe.ErrorTypeIdempotency {
		t.Errorf("type %s", e.Type)
	}
	p := &stripe.CheckoutSessionExpireParams{}
	p.SetIdempotencyKey("k1")
	_, err = s.api.CheckoutSessions.Expire(made.ID, p)
	if e := refusal(t, err, http.StatusBadRequest, "", ""); !strings.Contains(e.Msg, "POST /v1/checkout/sessions") {
		t.Errorf("the refusal does not say what the key was for: %s", e.Msg)
	}
}

func TestARefusedParameterLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, change := range []func(p *stripe.CheckoutSessionParams){
		func(p *stripe.CheckoutSessionParams) { p.Mode = nil },
		func(p *stripe.CheckoutSessionParams) { p.ExpiresAt = stripe.Int64(time.Now().Unix()) },
	} {
		wrong := keyed("k1")
		change(wrong)
		if _, err := s.api.CheckoutSessions.New(wrong); err == nil {
			t.Fatal("a wrong parameter was accepted")
		}
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
}

// What was refused by the state of things stays refused under its key.
func TestARefusalOfTheStateIsKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	p := refundOf(paid, 960000)
	p.SetIdempotencyKey("k1")
	opened := must[*stripesim.Dispute](t)(s.sim.OpenDispute(t.Context(), stripesim.DisputeRequest{PaymentIntent: paid.PaymentIntent.ID}))
	_, err := s.api.Refunds.New(p)
	refusal(t, err, http.StatusBadRequest, "charge_disputed", "charge")
	must[*stripesim.Dispute](t)(s.sim.CloseDispute(t.Context(), opened.ID, true))
	_, err = s.api.Refunds.New(p)
	refusal(t, err, http.StatusBadRequest, "charge_disputed", "charge")
	p.SetIdempotencyKey("k2")
	must[*stripe.Refund](t)(s.api.Refunds.New(p))
}

func TestKeysLiveForADay(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	shift := func(by string) {
		if _, err := s.pool.Exec(t.Context(), `UPDATE stripesim.idempotency_keys SET created = created - $1::interval`, by); err != nil {
			t.Fatal(err)
		}
	}
	shift("23 hours 59 minutes")
	if again := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1"))); again.ID != first.ID {
		t.Error("the key was forgotten too early")
	}
	shift("1 minute")
	if again := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1"))); again.ID == first.ID {
		t.Error("the key was kept for longer than a day")
	}
}

func TestAKeyInFlightAndOneLeftByACrash(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if err := s.sim.Claim(t.Context(), "k1"); err != nil {
		t.Fatal(err)
	}
	_, err := s.api.CheckoutSessions.New(keyed("k1"))
	if e := refusal(t, err, http.StatusBadRequest, "", ""); e.Type != stripe.ErrorTypeIdempotency {
		t.Errorf("another request under a busy key: %v", e)
	}
	if _, err := s.pool.Exec(t.Context(), `UPDATE stripesim.idempotency_keys SET busy_until = now()`); err != nil {
		t.Fatal(err)
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
}

func TestAnEndlessKey(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/refunds", strings.NewReader("charge=ch_1")))
	req.Header.Set("Authorization", "Bearer "+secretKey)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Idempotency-Key", strings.Repeat("k", 256))
	res := must[*http.Response](t)(http.DefaultClient.Do(req))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("answered %d", res.StatusCode)
	}
}
