package market_test

import (
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

const refundCall = "POST /v1/refunds"

// unapproved is a rental whose refund is to be made by its job now.
func (w *world) unapproved() (key, intent string) {
	w.t.Helper()
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	w.must(w.pool.QueryRow(w.ctx(), `SELECT payment_intent FROM payments WHERE rental_id = $1`, r.ID).Scan(&intent))
	w.news() // the payment's own events are of no interest here
	w.age(721 * time.Hour)
	w.must(w.m.Settle(w.ctx(), r.ID))
	w.state(r.Key, rental.Closed, rental.Unapproved)
	return r.Key, intent
}

// A refund whose answer is lost is the same refund when it is tried again.
func TestRefundWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind       stripesim.FaultKind
		calls, ids int
	}{
		"refused at the door": {stripesim.FaultUnavailable, 2, 1},
		"dropped before":      {stripesim.FaultDropBefore, 2, 1},
		"dropped after":       {stripesim.FaultDropAfter, 2, 1},
		"failed":              {stripesim.FaultServerError, 3, 2}, // the failure is kept under the key
		"failed after acting": {stripesim.FaultErrorAfter, 2, 1},  // found in Stripe's list
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			w.unapproved()
			w.fault(stripesim.Fault{Kind: c.kind, Endpoint: refundCall, Count: 1})
			if failed := w.work(); len(failed) == 0 {
				t.Fatal("the first try did not fail")
			}
			for range 3 {
				w.age(2 * time.Second)
				w.work()
			}
			w.deliver()
			calls := w.calls(refundCall)
			if len(calls) != c.calls || len(keys(calls)) != c.ids {
				t.Errorf("%d calls with %d keys, want %d and %d", len(calls), len(keys(calls)), c.calls, c.ids)
			}
			if n := w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`); n != 1 {
				t.Errorf("%d refunds", n)
			}
			w.kept(0)
			w.sound()
		})
	}
}

// A repeat that may be older than Stripe's memory of keys looks first. What
// counts is the first call, however often it was repeated since.
func TestOldRefundIsLookedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.unapproved()
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: refundCall, Count: 1})
	w.work()
	w.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: refundCall, Count: 1})
	w.age(22 * time.Hour)
	w.work()
	w.age(2 * time.Hour)
	w.settled()
	if n := len(w.calls(refundCall)); n != 2 {
		t.Errorf("%d calls, want 2: the third try looks and finds it", n)
	}
	w.deliver()
	w.kept(0)
	w.sound()
}

// Ten workers at one refund make one.
func TestTenWorkersAtOneRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.unapproved()
	var id int64
	w.must(w.pool.QueryRow(w.ctx(), `SELECT (args ->> 'refund')::bigint FROM river_job WHERE kind = 'make_refund'`).Scan(&id))
	errs := make(chan error, 10)
	for range 10 {
		go func() {
			errs <- do(w.ctx(), w.m, job{Kind: "make_refund", Args: []byte(`{"refund":1}`), Attempt: 1})
		}()
	}
	for range 10 {
		if err := <-errs; err != nil && fault.As(err).Kind != fault.Unavailable {
			t.Error(err)
		}
	}
	w.settled()
	w.deliver()
	if n := w.count(`SELECT count(*) FROM stripesim.refunds`); n != 1 || id != 1 {
		t.Errorf("%d refunds at Stripe", n)
	}
	w.kept(0)
	w.sound()
}

// The dashboard was faster, in full or in part: what is left goes back, and
// never more than was paid.
func TestRefundAfterTheDashboards(t *testing.T) {
	t.Parallel()
	for name, amount := range map[string]int64{"in full": 240_000, "in part": 100_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for order, listedFirst := range map[string]bool{"job first": false, "event first": true} {
				w := newWorld(t, options{})
				_, intent := w.unapproved()
				_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: intent, Amount: &amount})
				w.must(err)
				if listedFirst {
					w.must(w.m.SyncRefunds(w.ctx(), intent))
					w.intact()
				}
				w.settled()
				w.deliver()
				w.intact()
				if n := w.count(`SELECT COALESCE(sum(amount), 0) FROM refunds WHERE state = 'succeeded'`); n != 240_000 {
					t.Errorf("%s: %d went back", order, n)
				}
				w.kept(0)
				if n := w.anomalies("refund failed"); n != 0 {
					t.Errorf("%s: an admin is told of money that went back", order)
				}
				w.sound()
			}
		})
	}
}

// The events of a refund: pending, then failed, or only cumulative ones; each
// refund is booked once, whatever repeats.
func TestRefundThatFailsLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	key, intent := w.unapproved()
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: stripesim.OutcomePending, Count: 1})
	w.settled()
	w.deliver()
	var id string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT stripe_id FROM refunds WHERE state = 'pending'`).Scan(&id))
	_, err := w.sim.FailRefund(w.ctx(), id, "")
	w.must(err)
	w.deliver()
	f := facts{intent: intent, charge: "ch_1", refund: id, currency: "usd", amount: 240_000}
	w.bring(w.event("refund_failed", f), w.event("refund_updated_failed", f))
	w.state(key, rental.Closed, rental.Unapproved)
	w.kept(240_000)
	if n := w.count(`SELECT count(*) FROM ledger WHERE kind = 'refund.failed'`); n != 1 {
		t.Errorf("%d corrections", n)
	}
	if n := w.anomalies("refund failed"); n != 1 {
		t.Errorf("%d anomalies", n)
	}
	w.sound()
}

// Small refunds in the dashboard are money only; together with the last one
// they are the whole, and close the rental.
func TestDashboardRefundsInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	_, err := w.decide(b.submit(r.Key, 1), true)
	w.must(err)
	w.deliver()
	var intent string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT payment_intent FROM payments`).Scan(&intent))
	refund := func(amount int64) {
		_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: intent, Amount: &amount})
		w.must(err)
	}
	refund(20_000)
	refund(30_000)
	news := w.news()
	for i := len(news) - 1; i >= 0; i-- { // the last first, each twice
		w.bring(news[i], news[i])
	}
	f := facts{intent: intent, charge: "ch_1", currency: "usd", amount: 240_000, part: 50_000}
	w.bring(w.event("charge_refunded_partial", f))
	w.state(r.Key, rental.Live)
	w.kept(190_000)
	if n := w.mailsOf("cancelled"); n != 0 {
		t.Error("a small refund cancelled the rental")
	}
	refund(190_000)
	w.deliver()
	w.state(r.Key, rental.Closed, rental.Refunded)
	w.kept(0)
	if n := w.count(`SELECT count(*) FROM ledger WHERE kind = 'refund.made'`); n != 3 {
		t.Errorf("%d refunds are booked", n)
	}
	w.sound()
}

func TestDisputeIsFlagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	var intent string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT payment_intent FROM payments`).Scan(&intent))
	f := facts{intent: intent, charge: "ch_1", currency: "usd", amount: 240_000}
	e := w.event("dispute_created", f)
	w.bring(e, e, w.event("dispute_created", f))
	if n := w.anomalies("dispute"); n != 1 {
		t.Errorf("%d anomalies", n)
	}
	w.state(r.Key, rental.Paid)
	list, err := w.m.Anomalies(w.ctx(), 10)
	w.must(err)
	if len(list) != 1 || list[0].RentalKey != r.Key || list[0].Key == "" || list[0].Action == "" {
		t.Errorf("%+v", list)
	}
	w.deliver()
	w.sound()
}

// A refund that Stripe refuses for good stops, and an admin is told.
func TestRefundThatStripeRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	_, intent := w.unapproved()
	_, err := w.sim.OpenDispute(w.ctx(), stripesim.DisputeRequest{PaymentIntent: intent})
	w.must(err)
	w.settled()
	w.deliver()
	if n := w.anomalies("refund failed"); n != 1 {
		t.Errorf("%d anomalies", n)
	}
	if n := w.count(`SELECT count(*) FROM refunds WHERE state = 'failed'`); n != 1 {
		t.Errorf("%d refunds failed", n)
	}
	w.intact()
}

// A refund's event that comes before anybody knows of its payment waits.
func TestRefundOfAnUnknownPaymentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	err := w.m.SyncRefunds(w.ctx(), "pi_of_nobody")
	if _, early := err.(market.NotYet); !early {
		t.Errorf("%v", err)
	}
}

// A part of ours waits while the dashboard returns more than the rest: all has
// gone back, and what it bought with it.
func TestDashboardOvertakesAPartOfOurs(t *testing.T) {
	t.Parallel()
	for name, jobFirst := range map[string]bool{"job first": true, "event first": false} {
		w := newWorld(t, options{})
		b := w.buyer()
		r := b.live(rect(1, 1, 6, 4), 1)
		w.must(w.m.RefundNow(w.ctx(), refund(r.Key, 100_000)))
		by := int64(200_000)
		p := w.payment(w.offerOf(r.Key, 0))
		w.dashboardRefund(p, &by)
		if !jobFirst {
			w.must(w.m.SyncRefunds(w.ctx(), *p.PaymentIntent))
			w.intact()
		}
		w.deliver()
		if got := w.rental(r.Key); got.State != rental.Closed || deref(got.ClosedReason) != rental.Refunded {
			t.Errorf("%s: the rental is %s", name, got.State)
		}
		w.kept(0)
		w.sound()
	}
}
