package workers_test

import (
	"testing"

	"github.com/riverqueue/river"

	"tuval/internal/fault"
	"tuval/internal/jobs"
	"tuval/internal/market"
	"tuval/internal/stripesim"
)

// A refund that Stripe never answers: each attempt of the job is one call, all
// under one key; a hundred other jobs of its queue are done meanwhile; given
// up, it is told once, with a button that works once.
func TestAPoisonedJobAmongGoodOnes(t *testing.T) {
	t.Parallel()
	const attempts, good = 3, 100
	h := newHouse(t)
	intent := h.withdrawn()
	const call = "POST /v1/refunds"
	_, err := h.sim.AddFault(t.Context(), stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: call})
	must(t, err)
	h.exec(`UPDATE river_job SET max_attempts = 3 WHERE kind = 'make_refund'`)
	for range good {
		h.put(jobs.SyncRefunds{PaymentIntent: intent})
	}
	h.start()
	for n := range attempts {
		if end := h.await("make_refund"); end.Kind != river.EventKindJobFailed || end.Job.Attempt != n+1 {
			t.Fatalf("attempt %d: %+v", n+1, end)
		}
		if n == 0 {
			h.until(`SELECT count(*) FROM river_job WHERE kind = 'sync_refunds' AND state = 'completed'`, good)
		}
		h.exec(`UPDATE river_job SET scheduled_at = now() WHERE kind = 'make_refund' AND state = 'retryable'`)
	}
	h.until(`SELECT count(*) FROM river_job WHERE kind = 'make_refund' AND state = 'discarded'`, 1)
	h.until(`SELECT count(*) FROM anomalies WHERE kind = 'job dead' AND resolved_at IS NULL`, 1)
	calls, err := h.sim.Requests(t.Context(), call)
	must(t, err)
	for _, c := range calls {
		if len(calls) != attempts || *c.IdempotencyKey != *calls[0].IdempotencyKey {
			t.Fatalf("%d calls for %d attempts, with %s and %s", len(calls), attempts, *calls[0].IdempotencyKey, *c.IdempotencyKey)
		}
	}
	must(t, h.sim.ClearFaults(t.Context()))
	as, err := h.m.Anomalies(t.Context(), 10)
	must(t, err)
	if len(as) != 1 || as[0].Remedy != market.RetryJob {
		t.Fatalf("%+v", as)
	}
	_, err = h.m.Remedy(t.Context(), as[0].Key, "admin")
	must(t, err)
	if _, err := h.m.Remedy(t.Context(), as[0].Key, "another"); fault.As(err).Kind != fault.Conflict {
		t.Errorf("pressed twice: %v", err)
	}
	h.until(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`, 1)
	if n := h.count(`SELECT count(*) FROM stripesim.refunds`); n != 1 {
		t.Errorf("%d refunds at Stripe", n)
	}
}

// withdrawn is a rental that was paid and given back, whose refund is still to
// be made. It returns the payment's intent.
func (h *house) withdrawn() string {
	h.t.Helper()
	ctx := h.t.Context()
	held, who := h.hold(1)
	_, err := h.m.Checkout(ctx, who, held.Key, market.Purchase{Weeks: 1, Email: "buyer@example.com"})
	must(h.t, err)
	var session, intent string
	must(h.t, h.pool.QueryRow(ctx, `SELECT session_id FROM payments`).Scan(&session))
	_, err = h.sim.Pay(ctx, session, stripesim.Payment{})
	must(h.t, err)
	must(h.t, h.m.Return(ctx, who, held.Key))
	must(h.t, h.m.Withdraw(ctx, who, held.Key))
	must(h.t, h.pool.QueryRow(ctx, `SELECT payment_intent FROM payments`).Scan(&intent))
	return intent
}
