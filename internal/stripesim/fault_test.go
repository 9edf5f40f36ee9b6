package stripesim_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"tuval/internal/stripesim"
)

const createEndpoint = "POST /v1/checkout/sessions"

func (s *stage) fault(f stripesim.Fault) {
	s.t.Helper()
	must[int64](s.t)(s.sim.AddFault(s.t.Context(), f))
}

func (s *stage) sessions() (n int) {
	s.t.Helper()
	if err := s.pool.QueryRow(s.t.Context(), `SELECT count(*) FROM stripesim.sessions`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestServerErrorIsKeptUnderTheKey(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultServerError, Endpoint: createEndpoint, Count: 1})
	_, err := s.api.Refunds.Get("re_none", nil)
	refusal(t, err, http.StatusNotFound, "resource_missing", "id") // another endpoint is well
	_, err = s.api.CheckoutSessions.New(keyed("k1"))
	if e := refusal(t, err, http.StatusInternalServerError, "", ""); e.Type != stripe.ErrorTypeAPI {
		t.Errorf("type %s", e.Type)
	}
	_, err = s.api.CheckoutSessions.New(keyed("k1"))
	refusal(t, err, http.StatusInternalServerError, "", "")
	if n := s.sessions(); n != 0 {
		t.Errorf("%d sessions were made", n)
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k2")))
}

func TestUnavailableLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Count: 2})
	s.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Count: 1, Status: 429, Code: "lock_timeout", Message: "Too busy."})
	for _, status := range []int{503, 503, 429} {
		_, err := s.api.CheckoutSessions.New(keyed("k1"))
		var e *stripe.Error
		if !errors.As(err, &e) || e.HTTPStatusCode != status {
			t.Errorf("want %d, got %v", status, err)
		}
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	if left := must[[]stripesim.Fault](t)(s.sim.Faults(t.Context())); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestActThenDropTheConnection(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: createEndpoint, Count: 1})
	_, err := s.api.CheckoutSessions.New(keyed("k1"))
	var e *stripe.Error
	if err == nil || errors.As(err, &e) {
		t.Fatalf("want a broken connection, got %v", err)
	}
	if n := s.sessions(); n != 1 {
		t.Errorf("%d sessions were made", n)
	}
	again := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	if again.LastResponse.Header.Get("Idempotent-Replayed") != "true" || s.sessions() != 1 {
		t.Error("the second try was not the first one's answer")
	}
	calls := must[[]*stripesim.Request](t)(s.sim.Requests(t.Context(), createEndpoint))
	if calls[0].Outcome != "dropped" || *calls[0].Fault != "drop_after" {
		t.Errorf("the journal says %+v", calls[0])
	}
}

func TestDropWithoutActing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultDropBefore, Count: 1})
	if _, err := s.api.CheckoutSessions.New(keyed("k1")); err == nil {
		t.Error("the connection held")
	}
	if n := s.sessions(); n != 0 {
		t.Errorf("%d sessions were made", n)
	}
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
}

func TestActThenAnswer500(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	s.fault(stripesim.Fault{Kind: stripesim.FaultErrorAfter, Endpoint: "POST /v1/refunds", Count: 1})
	p := refundOf(paid, 0)
	p.SetIdempotencyKey("k1")
	for range 2 {
		_, err := s.api.Refunds.New(p)
		refusal(t, err, http.StatusInternalServerError, "", "")
	}
	it := s.api.Refunds.List(&stripe.RefundListParams{PaymentIntent: &paid.PaymentIntent.ID})
	if !it.Next() || it.Refund().Amount != 960000 {
		t.Error("the refund was not made")
	}
}

// A caller who gives up changes nothing: the call goes on, its key is in use
// until it is over, and then its answer is there.
func TestSlow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fault(stripesim.Fault{Kind: stripesim.FaultSlow, Endpoint: createEndpoint, Count: 1, Delay: stripesim.Delay(2 * time.Second)})
	p := keyed("k1")
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	p.Context = ctx
	if _, err := s.api.CheckoutSessions.New(p); err == nil {
		t.Fatal("it was not slow")
	}
	again := func() *stripe.CheckoutSessionParams { // the very same, also in the next second
		q := keyed("k1")
		q.ExpiresAt = p.ExpiresAt
		return q
	}
	_, err := s.api.CheckoutSessions.New(again())
	refusal(t, err, http.StatusConflict, "idempotency_key_in_use", "")
	deadline := time.Now().Add(10 * time.Second)
	for {
		made, err := s.api.CheckoutSessions.New(again())
		if err == nil {
			if made.LastResponse.Header.Get("Idempotent-Replayed") != "true" {
				t.Error("the slow call did not act")
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if n := s.sessions(); n != 1 {
		t.Errorf("%d sessions were made", n)
	}
}

func TestTheWebhookBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paid := s.paid()
	s.ear.wants("payment_intent.succeeded", "checkout.session.completed")
	heard, goOn := make(chan struct{}, 10), make(chan struct{})
	s.ear.answer = func(int, stripe.Event) int {
		heard <- struct{}{}
		<-goOn
		return http.StatusOK
	}
	s.fault(stripesim.Fault{Kind: stripesim.FaultWebhookFirst, Endpoint: "POST /v1/refunds", Count: 1})
	answered := make(chan error, 1)
	go func() {
		_, err := s.api.Refunds.New(refundOf(paid, 0))
		answered <- err
	}()
	<-heard
	select {
	case <-answered:
		t.Error("the answer came before the webhook had been taken")
	case <-time.After(200 * time.Millisecond): // long enough for an answer that does not wait
	}
	close(goOn)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestFaultsFromAnotherProcess(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var set stripesim.Fault
	s.post("/sim/faults", `{"kind":"slow","endpoint":"GET /v1/refunds","delay":"1ms","count":2}`, http.StatusOK, &set)
	if set.ID == 0 || set.Delay != stripesim.Delay(time.Millisecond) {
		t.Errorf("set: %+v", set)
	}
	for _, wrong := range []string{
		`{"kind":"odd"}`, `{"kind":"slow"}`, `{"kind":"slow","delay":"1h"}`, `{"kind":"unavailable","status":200}`, `{"knd":"slow"}`,
		`{"kind":"hold","count":-1}`, `{"kind":"duplicate","copies":1001}`, `{"kind":"refund_outcome","outcome":"lost"}`, `[]`,
	} {
		s.post("/sim/faults", wrong, http.StatusBadRequest, nil)
	}
	var list struct{ Faults []stripesim.Fault }
	s.send(http.MethodGet, "/sim/faults", "", http.StatusOK, &list)
	if len(list.Faults) != 1 || list.Faults[0].Count != 2 {
		t.Errorf("listed: %+v", list)
	}
	s.send(http.MethodDelete, "/sim/faults", "", http.StatusOK, nil)
	if left := must[[]stripesim.Fault](t)(s.sim.Faults(t.Context())); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestTheJournal(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(keyed("k1")))
	for range 3 {
		_, _ = s.api.Refunds.Get("re_none", nil)
	}
	var journal struct {
		Counts   map[string]int
		Requests []stripesim.Request
	}
	s.send(http.MethodGet, "/sim/requests?endpoint=POST+/v1/checkout/sessions", "", http.StatusOK, &journal)
	if journal.Counts["GET /v1/refunds/{id}"] != 3 || len(journal.Requests) != 1 || *journal.Requests[0].IdempotencyKey != "k1" ||
		journal.Requests[0].Params["line_items[0][price_data][unit_amount]"] != "960000" || *journal.Requests[0].Status != 200 {
		t.Errorf("the journal is %+v", journal)
	}
	s.send(http.MethodDelete, "/sim/requests", "", http.StatusOK, nil)
	if counts := must[map[string]int](t)(s.sim.Counts(t.Context())); len(counts) != 0 {
		t.Errorf("after forgetting: %v", counts)
	}
}

func TestControlsOfSessions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	do := func(id, action string, status int) stripesim.Session {
		var c stripesim.Session
		s.post("/sim/sessions/"+id+"/"+action, "", status, &c)
		return c
	}
	id := s.newSession().ID
	if c := do(id, "decline", 200); c.Status != "open" || c.URL == nil || *c.URL != s.url+"/c/pay/"+id {
		t.Errorf("declined: %+v", c)
	}
	if c := do(id, "expire", 200); c.Status != "expired" {
		t.Errorf("expired: %s", c.Status)
	}
	do(id, "pay", 409)
	if c := do(id, "pay_late", 200); c.PaymentStatus != "paid" {
		t.Errorf("late: %s", c.PaymentStatus)
	}
	for action, status := range map[string]string{"async_succeed": "paid", "async_fail": "unpaid"} {
		id := s.newSession().ID
		if c := do(id, "complete_unpaid", 200); c.Status != "complete" || c.PaymentStatus != "unpaid" {
			t.Errorf("pending: %+v", c)
		}
		if c := do(id, action, 200); c.PaymentStatus != status {
			t.Errorf("%s: %s", action, c.PaymentStatus)
		}
	}
	do("cs_test_none", "pay", 404)
	do(id, "explode", 404)
	paid := s.paid()
	var r stripesim.Refund
	s.post("/sim/refunds", `{"payment_intent":"`+paid.PaymentIntent.ID+`","amount":2000}`, 200, &r)
	if r.Amount != 2000 {
		t.Errorf("refunded %d", r.Amount)
	}
}

func TestOtherSitesPressNoButtons(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/sim/sessions/"+id+"/pay", strings.NewReader("")))
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	res := must[*http.Response](t)(http.DefaultClient.Do(req))
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("another site's button was answered %d", res.StatusCode)
	}
}
