package market_test

import (
	"strings"
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

const jobGap = time.Hour

// anomaly is the unresolved one of a kind.
func (w *world) anomaly(kind string) market.Anomaly {
	w.t.Helper()
	all, err := w.m.Anomalies(w.ctx(), 100)
	w.must(err)
	for _, a := range all {
		if a.Kind == kind {
			return a
		}
	}
	w.t.Fatalf("no anomaly %s", kind)
	return market.Anomaly{}
}

// failedRefund is a rental whose refund was made and failed later.
func (w *world) failedRefund() (key string) {
	w.t.Helper()
	key, _ = w.unapproved()
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: stripesim.OutcomePending, Count: 1})
	w.settled()
	w.deliver()
	var id string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT stripe_id FROM refunds WHERE state = 'pending'`).Scan(&id))
	_, err := w.sim.FailRefund(w.ctx(), id, "")
	w.must(err)
	w.deliver()
	return key
}

// P13 (a): a refund that failed is asked for again by a button, once, though
// two admins press it in one instant.
func TestRefundAgainIsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	other := w.market(options{})
	key := w.failedRefund()
	a := w.anomaly("refund failed")
	if a.Remedy != market.RefundAgain || a.RentalKey != key || a.RefundKey == "" || a.PaymentKey == "" {
		t.Errorf("%+v", a)
	}
	w.kept(240_000)
	w.sound()
	said := make([]string, 4)
	errs := w.rush(4, func(i int) (err error) {
		said[i], err = []*market.Market{w.m, other}[i%2].Remedy(w.ctx(), a.Key, "admin")
		return err
	})
	won := winners(t, errs, "conflict")
	if len(won) != 1 || !strings.Contains(said[won[0]], "asked for again") {
		t.Fatalf("%d won: %v", len(won), said)
	}
	w.deliver()
	w.kept(0)
	if n := w.count(`SELECT count(*) FROM refunds`); n != 2 {
		t.Errorf("%d refunds", n)
	}
	_, err := w.m.Remedy(w.ctx(), a.Key, "admin")
	w.wants(err, "conflict")
	w.refused(w.m.Resolve(w.ctx(), a.Key, "admin"), "conflict", "asked for again")
	settled, err := w.m.SettledAnomalies(w.ctx(), 10)
	w.must(err)
	if len(settled) != 1 || settled[0].Resolved == nil || w.anomalies("refund failed") != 0 {
		t.Errorf("%+v", settled)
	}
	w.state(key, rental.Closed, rental.Unapproved)
	w.sound()
}

// A refund that fails again is another anomaly with a button.
func TestRefundThatFailsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.failedRefund()
	first := w.anomaly("refund failed")
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: stripesim.OutcomeFailed, Count: 1})
	_, err := w.m.Remedy(w.ctx(), first.Key, "admin")
	w.must(err)
	w.deliver()
	again := w.anomaly("refund failed")
	if again.Key == first.Key {
		t.Error("nobody is told that it failed again")
	}
	w.kept(240_000)
	w.sound()
	_, err = w.m.Remedy(w.ctx(), again.Key, "admin")
	w.must(err)
	w.deliver()
	w.kept(0)
	w.sound()
}

// The money went back by hand meanwhile: the button does not send it twice.
func TestRefundAgainAfterTheDashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	key := w.failedRefund()
	a := w.anomaly("refund failed")
	w.refundOf(w.offerOf(key, 0), true)
	_, err := w.m.Remedy(w.ctx(), a.Key, "admin")
	w.refused(err, "conflict", "in another way")
	w.must(w.m.Resolve(w.ctx(), a.Key, "admin"))
	w.kept(0)
	w.sound()
}

// What was dealt with stays so, but for a job that was given up again.
func TestJobGivenUpAgainIsToldAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.unapproved()
	var id int64
	w.must(w.pool.QueryRow(w.ctx(), `UPDATE river_job SET state = 'discarded', finalized_at = now(), attempt = max_attempts
		WHERE kind = 'make_refund' RETURNING id`).Scan(&id))
	report := func() {
		w.must(w.m.Report(w.ctx(), market.Anomaly{Kind: "job dead", Fact: "job:1", Remedy: market.RetryJob, Job: id}))
	}
	report()
	a := w.anomaly("job dead")
	errs := together(2, func(int) error { _, err := w.m.Remedy(w.ctx(), a.Key, "admin"); return err })
	if won := winners(t, errs, "conflict"); len(won) != 1 {
		t.Errorf("%d tried it again", len(won))
	}
	report()
	if again := w.anomaly("job dead"); again.Key != a.Key || again.Remedy != market.RetryJob {
		t.Errorf("%+v", again)
	}
	w.must(w.m.Report(w.ctx(), market.Anomaly{Kind: "x", Fact: "fact"}))
	w.must(w.m.Resolve(w.ctx(), w.anomaly("x").Key, "admin"))
	w.must(w.m.Report(w.ctx(), market.Anomaly{Kind: "x", Fact: "fact"}))
	if n := w.anomalies("x"); n != 0 {
		t.Error("what was dealt with comes again")
	}
	w.wants(w.m.Resolve(w.ctx(), "nothing", "admin"), "not_found")
	w.settled()
	w.deliver()
	w.kept(0)
	w.sound()
}

// A part that failed is asked for again when the rest has gone back: together
// they are the whole, which takes back what was bought.
func TestRefundAgainMakesItWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: stripesim.OutcomeFailed, Count: 1})
	w.must(w.m.RefundNow(w.ctx(), refund(r.Key, 100_000)))
	w.settled()
	w.deliver()
	a := w.anomaly("refund failed")
	w.must(w.m.RefundNow(w.ctx(), refund(r.Key, 140_000)))
	w.deliver()
	w.lasts(r.Key, *r.LiveFrom, *r.EndsAt)
	_, err := w.m.Remedy(w.ctx(), a.Key, "admin")
	w.must(err)
	w.deliver()
	w.state(r.Key, rental.Closed, rental.Refunded)
	w.kept(0)
	w.sound()
}
