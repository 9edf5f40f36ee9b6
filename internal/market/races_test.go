package market_test

import (
	"testing"

	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// lapse lets a rental's lease end now.
func (w *world) lapse(key string) {
	w.t.Helper()
	w.exec(`WITH r AS (UPDATE rentals SET leased_until = now() WHERE key = $1 RETURNING id)
		UPDATE blocks SET claim_id = claim_id, leased_until = now() FROM r WHERE claim_id = r.id`, key)
}

// apply brings events in at a market and applies them at once.
func (w *world) apply(m *market.Market, events ...event) error {
	for _, e := range events {
		if err := w.receive(m, e); err != nil {
			return err
		}
		if _, _, err := m.ApplyEvent(w.ctx(), e.ID); err != nil {
			return err
		}
	}
	return nil
}

// The money, the end of the hold and somebody else come at one instant: the
// payer has the rect or all the money back. Never both, never neither.
func TestPaymentAgainstExpiryAgainstTakeoverSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 16})
	second := w.market(options{})
	kept := 0
	outcomes := map[string]int{}
	for round := range long(t, 10, 100) {
		a, b, c := w.buyer(), w.buyer(), w.buyer()
		h := a.hold(rect(10, 10, 6, 4))
		o := a.checkout(h.Key, 1)
		w.payHow(o, stripesim.Payment{Late: true})
		news := w.news()
		w.lapse(h.Key)
		errs := w.rush(8, func(i int) (err error) {
			switch i {
			case 0:
				return w.apply(w.m, news...)
			case 1:
				return w.apply(second, news[len(news)-1])
			case 2:
				_, err = b.tryHold(rect(13, 12, 6, 4))
			case 3:
				_, err = c.tryHold(rect(9, 9, 2, 2))
			case 4, 5:
				return w.m.Settle(w.ctx(), h.ID)
			case 6:
				err = second.Return(w.ctx(), a.who, h.Key)
			case 7:
				_, err = a.keep(h.Key)
			}
			return err
		})
		won := winners(t, errs, "taken", "gone", "conflict")
		intruders := 0
		for _, i := range won {
			if i == 2 || i == 3 {
				intruders++
			}
		}
		r, p := w.rental(h.Key), w.payment(o)
		outcomes[string(r.State)]++
		switch {
		case p.State != payment.Paid:
			t.Fatalf("round %d: the payment is %s", round, p.State)
		case r.State == rental.Paid && (intruders > 0 || w.owned(h.Key) != 24 || deref(p.Outcome) != payment.Applied):
			t.Fatalf("round %d: paid, %d others, %d blocks, %v", round, intruders, w.owned(h.Key), deref(p.Outcome))
		case r.State == rental.Closed && (intruders == 0 || w.owned(h.Key) != 0 || deref(p.Outcome) != payment.Returned):
			t.Fatalf("round %d: closed, %d others, %d blocks, %v", round, intruders, w.owned(h.Key), deref(p.Outcome))
		case r.State != rental.Paid && r.State != rental.Closed:
			t.Fatalf("round %d: the rental is %s", round, r.State)
		}
		w.intact()
		w.clear()
		if r.State == rental.Paid {
			kept++
		}
	}
	w.deliver()
	if got := w.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`); got != kept*240_000-w.dashboard() {
		t.Errorf("the ledger keeps %d, %d rentals were paid", got, kept)
	}
	t.Log(outcomes)
	w.sound()
	w.noDeadlocks()
}

// dashboard is what clear gave back.
func (w *world) dashboard() int {
	return w.count(`SELECT COALESCE(sum(amount), 0) FROM refunds WHERE reason = 'dashboard' AND state <> 'failed'`)
}

// clear empties the canvas, by its own rules: what is unpaid lapses, what is
// paid is refunded in the dashboard.
func (w *world) clear() {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx(), `
		SELECT r.key, COALESCE((SELECT max(payment_intent) FROM payments p WHERE p.rental_id = r.id AND p.outcome = 'applied'), '')
		FROM rentals r WHERE r.state <> 'closed'`)
	w.must(err)
	open := map[string]string{}
	for rows.Next() {
		var key, intent string
		w.must(rows.Scan(&key, &intent))
		open[key] = intent
	}
	w.must(rows.Err())
	for key, intent := range open {
		if intent == "" {
			w.lapse(key)
			w.must(w.m.Settle(w.ctx(), w.rental(key).ID))
			continue
		}
		_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: intent})
		w.must(err)
		w.must(w.m.SyncRefunds(w.ctx(), intent))
	}
	w.news()
}

// The buyer cancels in the instant of paying, and somebody wants the blocks:
// either Stripe took the money, and it buys the rect or goes back in full, or
// nothing was paid and the blocks are free.
func TestCancelAgainstPaymentSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 16})
	outcomes := map[string]int{}
	for round := range long(t, 10, 100) {
		a, b := w.buyer(), w.buyer()
		h := a.hold(rect(10, 10, 6, 4))
		o := a.checkout(h.Key, 1)
		session := w.session(o)
		var payErr, holdErr error
		errs := w.rush(5, func(i int) (err error) {
			switch i {
			case 0, 1:
				return a.cancel(h.Key)
			case 2:
				if err := w.m.Return(w.ctx(), a.who, h.Key); err != nil { // meets the gate
					return err
				}
				_, payErr = w.sim.Pay(w.ctx(), session, stripesim.Payment{})
				if payErr == nil {
					return w.apply(w.m, w.news()...)
				}
			case 3:
				if round%2 == 0 {
					_, holdErr = b.tryHold(rect(13, 12, 6, 4))
					return holdErr
				}
			case 4:
				return w.m.Settle(w.ctx(), h.ID)
			}
			return nil
		})
		winners(t, errs, "conflict", "taken")
		r, p := w.rental(h.Key), w.payment(o)
		paid := payErr == nil
		other := round%2 == 0 && holdErr == nil
		outcomes[string(r.State)+"/"+string(p.State)]++
		switch {
		case paid && p.State != payment.Paid:
			t.Fatalf("round %d: Stripe has the money, the payment is %s", round, p.State)
		case paid && (r.State == rental.Paid) == other:
			t.Fatalf("round %d: paid, the rental is %s, somebody else has blocks: %v", round, r.State, other)
		case paid && (r.State == rental.Paid) != (deref(p.Outcome) == payment.Applied):
			t.Fatalf("round %d: the rental is %s, the payment %v", round, r.State, deref(p.Outcome))
		case !paid && (r.State != rental.Closed || *r.ClosedReason != rental.Cancelled):
			t.Fatalf("round %d: not paid, the rental is %s (%v)", round, r.State, deref(r.ClosedReason))
		}
		w.intact()
		w.clear()
	}
	w.deliver()
	t.Log(outcomes)
	w.sound()
	w.noDeadlocks()
}

// A buyer replaces the hold, keeps it, changes the weeks and lets it go, in
// many tabs at once: one hold of theirs is left or none, one page can be paid.
func TestManyTabsOfOneBuyerSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 16})
	ms := w.processes(3, options{})
	for round := range long(t, 4, 50) {
		a := w.buyer()
		h := a.hold(rect(10, 10, 6, 4))
		a.checkout(h.Key, 1)
		errs := w.rush(9, func(i int) (err error) {
			switch i {
			case 0, 1, 2:
				_, err = ms[i].Hold(w.ctx(), a.who, rect(9+i, 10, 6, 4), market.Request{})
			case 3, 4:
				_, err = a.tryCheckout(h.Key, weeks(2+i%2))
			case 5:
				_, err = a.tryCheckout(h.Key, weeks(1))
			case 6:
				_, err = a.keep(h.Key)
			case 7:
				err = a.cancel(h.Key)
			case 8:
				err = w.m.Settle(w.ctx(), h.ID)
			}
			return err
		})
		winners(t, errs, "conflict", "gone", "taken")
		if n := w.count(`SELECT count(*) FROM rentals WHERE state <> 'closed'`); n > 1 {
			t.Fatalf("round %d: %d holds of one person on the same blocks", round, n)
		}
		w.intact()
		w.deliver()
		if n := w.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open'`); n > 1 {
			t.Fatalf("round %d: %d pages can be paid", round, n)
		}
		w.clear()
	}
	w.settled()
	w.sound()
	w.noDeadlocks()
}

// Admins block and unblock where people hold and leases lapse.
func TestBlockingUnderRushSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 16})
	for round := range long(t, 4, 50) {
		old := w.buyer().hold(rect(12, 12, 4, 4))
		w.lapse(old.Key)
		people := w.buyers(6)
		areas := make([]market.Blocked, 3)
		errs := w.rush(9, func(i int) (err error) {
			if i < 3 {
				areas[i], err = w.m.Block(w.ctx(), "admin", rect(10+i, 10, 8, 8), "", nil)
				return err
			}
			_, err = people[i-3].tryHold([]grid.Rect{rect(10, 10, 3, 3), rect(15, 15, 4, 4), rect(11, 14, 6, 1)}[i%3])
			return err
		})
		won := winners(t, errs, "taken")
		if len(won) == 0 {
			t.Fatalf("round %d: nobody won", round)
		}
		w.intact()
		for i, a := range areas {
			if errs[i] != nil {
				continue
			}
			ends := together(4, func(int) error { return w.m.Unblock(w.ctx(), "admin", a.Key) })
			if n := len(winners(t, ends, "not_found")); n != 1 {
				t.Fatalf("round %d: unblocked %d times", round, n)
			}
		}
		w.clear()
	}
	w.settled()
	w.sound()
	w.noDeadlocks()
}
