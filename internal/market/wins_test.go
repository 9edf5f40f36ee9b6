package market_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// Who wins: each race in both orders and truly at once, by two processes with
// connections of their own.

// second is another process: a market with its own pool on the same database.
func (w *world) second() *market.Market {
	w.t.Helper()
	pool := openPool(w.t, w.pool.Config().ConnString(), 8, false)
	w.pools = append(w.pools, pool)
	return w.marketOn(pool, options{})
}

// place is where a round has its rental, so that rounds share a database.
func place(round int) grid.Rect { return rect(round%24*4, round/24*4, 3, 3) }

// orders are the rounds: one order, the other, and then at once.
func orders(t testing.TB) int { return long(t, 12, 100) }

// race runs two things in the order of the round: one after the other, the
// other way round, or at once. It returns their errors.
func (w *world) race(round int, one, two func() error) (a, b error) {
	w.t.Helper()
	switch round {
	case 0:
		a = one()
		return a, two()
	case 1:
		b = two()
		return one(), b
	}
	errs := w.rush(2, func(i int) error {
		if i == 0 {
			return one()
		}
		return two()
	})
	return errs[0], errs[1]
}

// one fails the test unless exactly one of the two won, the other was refused
// with a conflict, and the order decides where there was one. It reports
// whether the first did.
func (w *world) one(round int, a, b error) bool {
	w.t.Helper()
	if (a == nil) == (b == nil) {
		w.t.Fatalf("round %d: %v and %v", round, a, b)
	}
	if round < 2 && (a == nil) != (round == 0) {
		w.t.Fatalf("round %d: who came first lost: %v, %v", round, a, b)
	}
	loser := a
	if a == nil {
		loser = b
	}
	if !fault.Is(loser, "conflict") {
		w.t.Fatalf("round %d: the loser is told %v", round, loser)
	}
	return a == nil
}

func TestWithdrawalAgainstApprovalSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	kept := 0
	for round := range orders(t) {
		b := w.buyer()
		r := b.paid(place(round), 1)
		c := b.submit(r.Key, round)
		withdrawn, approved := w.race(round, func() error { return other.Withdraw(w.ctx(), b.who, r.Key) },
			func() error { _, err := w.decide(c, true); return err })
		if w.one(round, withdrawn, approved) {
			w.state(r.Key, rental.Closed, rental.Cancelled)
			if n := w.owned(r.Key); n != 0 {
				t.Fatalf("round %d: withdrawn, with %d blocks", round, n)
			}
			if !strings.Contains(approved.Error(), "closed before") {
				t.Errorf("the moderator is told %v", approved)
			}
		} else {
			w.state(r.Key, rental.Live)
			if !strings.Contains(withdrawn.Error(), "is live until") {
				t.Errorf("the buyer is told %v", withdrawn)
			}
			kept += 90_000
		}
		w.intact()
	}
	w.deliver()
	w.kept(kept)
	w.sound()
	w.noDeadlocks()
}

func TestApprovalAgainstTheEndOf30DaysSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	for round := range orders(t) {
		b := w.buyer()
		r := b.paid(place(round), 1)
		c := b.submit(r.Key, round)
		due := func() { // the 30 days end in this very moment
			w.exec(`UPDATE rentals SET approve_by = now(), leased_until = now() WHERE id = $1 AND state = 'paid' AND live_from IS NULL`, r.ID)
			w.exec(`UPDATE blocks SET claim_id = claim_id, leased_until = (SELECT leased_until FROM rentals WHERE id = $1) WHERE claim_id = $1`, r.ID)
		}
		if round > 1 && round%2 == 0 {
			due()
		}
		closes := func() error {
			if round <= 1 || round%2 == 1 {
				due()
			}
			return other.Settle(w.ctx(), r.ID)
		}
		_, approved := w.race(round, closes, func() error { _, err := w.decide(c, true); return err })
		now := w.rental(r.Key)
		switch {
		case approved == nil && now.State == rental.Live && round != 0:
		case fault.Is(approved, "conflict") && now.State == rental.Closed && *now.ClosedReason == rental.Unapproved && round != 1:
			if !strings.Contains(approved.Error(), "closed before") {
				t.Errorf("the moderator is told %v", approved)
			}
		default:
			t.Fatalf("round %d: %v, the rental is %s (%v)", round, approved, now.State, deref(now.ClosedReason))
		}
		w.intact()
	}
	w.deliver()
	w.sound()
	w.noDeadlocks()
}

// What is approved is exactly what was on the screen.
func TestApprovalAgainstANewPictureSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	for round := range orders(t) {
		b := w.buyer()
		r := b.paid(place(round), 1)
		for n := range 2 {
			b.submit(r.Key, 10*round+n)
		}
		third := b.submit(r.Key, 10*round+3)
		approved, sent := w.race(round, func() error { _, err := w.decide(third, true); return err },
			func() error {
				_, err := other.Submit(w.ctx(), b.who, r.Key, submission(10*round+4), market.Request{})
				return err
			})
		w.must(sent)
		var shown, waits string
		w.must(w.pool.QueryRow(w.ctx(), `SELECT COALESCE(string_agg(revision::text, ',') FILTER (WHERE state = 'approved'), ''),
			COALESCE(string_agg(revision::text, ',') FILTER (WHERE state = 'pending'), '') FROM creatives WHERE rental_id = $1`, r.ID).Scan(&shown, &waits))
		switch {
		case approved == nil && shown == "3" && waits == "4" && w.rental(r.Key).State == rental.Live && round != 1:
		case fault.Is(approved, "conflict") && shown == "" && waits == "4" && w.rental(r.Key).State == rental.Paid && round != 0:
			if !strings.Contains(approved.Error(), "changed since you looked") {
				t.Errorf("the moderator is told %v", approved)
			}
		default:
			t.Fatalf("round %d: %v, revision %q shows, %q waits, the rental is %s", round, approved, shown, waits, w.rental(r.Key).State)
		}
		w.intact()
	}
	w.noDeadlocks()
}

// Two admins refund in one instant, with a word from the dashboard and the job
// of a refund: one refund.
func TestTwoAdminsRefundAtOnceSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	for round := range orders(t) {
		b := w.buyer()
		r := b.live(place(round), 1)
		errs := make([]error, 2)
		if round < 2 {
			errs[round] = w.m.RefundNow(w.ctx(), refund(r.Key, 0))
			errs[1-round] = other.RefundNow(w.ctx(), refund(r.Key, 0))
		} else {
			all := w.rush(5, func(i int) error {
				switch i {
				case 0, 1:
					return []*market.Market{w.m, other}[i].RefundNow(w.ctx(), refund(r.Key, 0))
				case 2:
					return other.SyncRefunds(w.ctx(), *w.payment(w.offerOf(r.Key, 0)).PaymentIntent)
				}
				_, err := w.workOne(w.ctx(), []*market.Market{w.m, other}[i-3])
				return err
			})
			winners(t, all[2:])
			errs = all[:2]
		}
		w.one(2, errs[0], errs[1])
		w.settled()
		w.state(r.Key, rental.Closed, rental.Refunded)
		const made = `SELECT count(*) FROM refunds f JOIN payments p ON p.id = f.payment_id WHERE p.rental_id = $1 AND f.state = 'succeeded'`
		if n := w.count(made, r.ID); n != 1 || w.events(r.Key, "refund.made") != 1 {
			t.Fatalf("round %d: %d refunds", round, n)
		}
		w.intact()
	}
	w.deliver()
	w.kept(0)
	w.sound()
	w.noDeadlocks()
}

// A part and the rest, by two at once: never more than was paid.
func TestPartsRefundedAtOnceSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	for round := range orders(t) {
		b := w.buyer()
		r := b.live(place(round), 1)
		errs := w.rush(4, func(i int) error {
			if i == 3 {
				return other.Remove(w.ctx(), market.Removal{Rental: r.Key, By: "admin", Refund: true})
			}
			return []*market.Market{w.m, other}[i%2].RefundNow(w.ctx(), refund(r.Key, 40_000))
		})
		winners(t, errs, "conflict", "invalid")
		w.state(r.Key, rental.Closed, rental.Removed)
		if n := w.netOf(w.offerOf(r.Key, 0)); n != 0 {
			t.Fatalf("round %d: %d are kept", round, n)
		}
		w.intact()
	}
	w.deliver()
	w.kept(0)
	w.sound()
	w.noDeadlocks()
}

// A renewal is paid when its lease ends and somebody wants the blocks: live
// again, or all the money back. Never both, never neither.
func TestRenewalAgainstTheEndAndATakeoverSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 12})
	other := w.second()
	outcomes := map[string]int{}
	for round := range orders(t) {
		a, c := w.buyer(), w.buyer()
		at := place(round)
		r := a.live(at, 1)
		w.upTo(r.Key, ends, -47*time.Hour)
		w.must(w.m.Settle(w.ctx(), r.ID))
		o := a.renew(r.Key, 1)
		w.payLate(o)
		news := w.news()
		w.lapse(r.Key)
		take := func() error {
			_, err := other.Hold(w.ctx(), c.who, rect(at.X+1, at.Y+1, 1, 1), market.Request{})
			return err
		}
		tell := func() error { return w.apply(w.m, news...) }
		var taken, told error
		if round < 2 {
			taken, told = w.race(round, take, tell)
		} else {
			errs := w.rush(5, func(i int) error {
				switch i {
				case 0:
					return take()
				case 1:
					return tell()
				case 2:
					return other.Settle(w.ctx(), r.ID)
				case 3:
					return other.Return(w.ctx(), a.who, r.Key)
				}
				return w.m.CheckoutOver(w.ctx(), w.payment(o).ID)
			})
			winners(t, errs, "taken")
			taken, told = errs[0], errs[1]
		}
		w.must(told)
		p, now := w.payment(o), w.rental(r.Key)
		outcomes[string(now.State)]++
		switch {
		case p.State != payment.Paid:
			t.Fatalf("round %d: the payment is %s", round, p.State)
		case taken == nil && now.State == rental.Closed && *p.Outcome == payment.Returned && round != 1:
		case fault.Is(taken, "taken") && now.State == rental.Live && *p.Outcome == payment.Applied && w.owned(r.Key) == 9 && round != 0:
		default:
			t.Fatalf("round %d: %v, the rental is %s, the payment %s", round, taken, now.State, *p.Outcome)
		}
		w.intact()
	}
	w.deliver()
	t.Log(outcomes)
	w.sound()
	w.noDeadlocks()
}

// The renewal begins when the 48 hours end and somebody else takes the blocks.
func TestRenewalBeginsAgainstATakeoverSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 12})
	other := w.second()
	outcomes := map[string]int{}
	for round := range orders(t) {
		a, c := w.buyer(), w.buyer()
		at := place(round)
		r := a.live(at, 1)
		w.upTo(r.Key, ends, -48*time.Hour+time.Minute)
		w.must(w.m.Settle(w.ctx(), r.ID))
		late := round%2 == 0
		if late {
			w.exec(`UPDATE rentals SET ends_at = now() - interval '48 hours', reserved_until = now(), leased_until = now() WHERE id = $1`, r.ID)
			w.exec(`UPDATE blocks SET claim_id = claim_id, leased_until = (SELECT leased_until FROM rentals WHERE id = $1) WHERE claim_id = $1`, r.ID)
			w.exec(`UPDATE rentals SET live_from = ends_at - interval '168 hours' WHERE id = $1`, r.ID)
		}
		began, taken := w.race(2, func() error { _, err := w.m.Renew(w.ctx(), a.who, r.Key, more(1)); return err },
			func() error {
				_, err := other.Hold(w.ctx(), c.who, rect(at.X+1, at.Y+1, 1, 1), market.Request{})
				return err
			})
		now := w.rental(r.Key)
		outcomes[fmt.Sprint(late, " ", now.State)]++
		switch {
		case late && fault.Is(began, "conflict") && taken == nil && now.State == rental.Closed:
		case !late && began == nil && fault.Is(taken, "taken") && now.State == rental.Ended:
		default:
			t.Fatalf("round %d: late %v: %v, %v, the rental is %s", round, late, began, taken, now.State)
		}
		w.intact()
	}
	t.Log(outcomes)
	w.deliver()
	w.noDeadlocks()
}

// Two extensions and the refund of one of them in one instant.
func TestExtensionAgainstRefundOfAnotherSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	for round := range orders(t) {
		b := w.buyer()
		r := b.live(place(round), 1)
		first := b.extend(r.Key, 1)
		w.pay(first)
		w.deliver()
		next := b.extend(r.Key, 2)
		w.pay(next)
		news := w.news()
		order := market.RefundOrder{Rental: r.Key, Payment: first.PaymentKey, By: "admin"}
		told, back := w.race(round, func() error { return w.apply(w.m, news...) }, func() error { return other.RefundNow(w.ctx(), order) })
		w.must(told)
		w.must(back)
		w.lasts(r.Key, *r.LiveFrom, r.LiveFrom.Add(3*week))
		w.intact()
	}
	w.deliver()
	w.sound()
	w.noDeadlocks()
}

// What is left of an old rental, its events, jobs and tabs, does nothing to
// whoever has the blocks now.
func TestLeftoversOfAnOldRentalSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 12})
	other := w.second()
	rounds := long(t, 4, 60)
	for round := range rounds {
		a, c := w.buyer(), w.buyer()
		at := place(round)
		old := a.live(at, 1)
		ext := a.extend(old.Key, 1)
		w.upTo(old.Key, ends, -time.Hour)
		w.settled()
		again := a.renew(old.Key, 1)
		w.upTo(old.Key, reserved, -time.Hour)
		w.settled()
		w.state(old.Key, rental.Closed, rental.NotRenewed)
		now := c.live(at, 2)
		w.payLate(ext)
		w.payLate(again)
		all := append(w.inbox.all, w.news()...)
		events := all[max(0, len(all)-30):]
		w.exec(`UPDATE river_job SET state = 'available', scheduled_at = now(), finalized_at = NULL
			WHERE kind <> 'send_mail' AND (args ->> 'rental' = $1 OR args ->> 'payment' IN (SELECT id::text FROM payments WHERE rental_id::text = $1))`, fmt.Sprint(old.ID))
		errs := w.rush(8, func(i int) error {
			m := []*market.Market{w.m, other}[i%2]
			switch i {
			case 0, 1:
				return w.apply(m, events[i*len(events)/2:(i+1)*len(events)/2]...)
			case 2, 3:
				for range 12 {
					if _, err := w.workOne(w.ctx(), m); err != nil {
						return err
					}
				}
				return nil
			case 4:
				return m.Cancel(w.ctx(), a.who, old.Key)
			case 5:
				_, err := m.Renew(w.ctx(), a.who, old.Key, more(1))
				return err
			case 6:
				_, err := m.Submit(w.ctx(), a.who, old.Key, submission(9000+round), market.Request{})
				return err
			}
			return m.Return(w.ctx(), a.who, old.Key)
		})
		winners(t, errs, "conflict")
		w.settled()
		w.lasts(now.Key, *now.LiveFrom, *now.EndsAt)
		if n := w.owned(now.Key); n != 9 || w.owned(old.Key) != 0 {
			t.Fatalf("round %d: the new one has %d blocks, the old one %d", round, n, w.owned(old.Key))
		}
		w.returned(ext, backFor(w, ext))
		w.returned(again, backFor(w, again))
		w.intact()
	}
	w.deliver()
	w.noDeadlocks()
}

// backFor is why a payment of what is over and taken went back: too late, if
// its weeks were over as well.
func backFor(w *world, o market.Offer) string {
	for _, f := range w.refundsOf(o) {
		if f.Reason == payment.ReasonTooLate {
			return f.Reason
		}
	}
	return payment.ReasonBlocksGone
}

func (w *world) refundsOf(o market.Offer) []payment.Refund {
	w.t.Helper()
	fs, err := payment.RefundsOf(w.ctx(), w.pool, w.payment(o).ID)
	w.must(err)
	return fs
}

// The buyer cancels, the money is there, by two processes in both orders: paid
// if Stripe took the money.
func TestCancelByAnotherProcessAgainstPaymentSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 8})
	other := w.second()
	for round := range orders(t) {
		b := w.buyer()
		h := b.hold(place(round))
		o := b.checkout(h.Key, 1)
		session := w.session(o)
		var paid error
		cancelled, told := w.race(round, func() error { return other.Cancel(w.ctx(), b.who, h.Key) }, func() error {
			if round > 1 {
				_ = w.m.Settle(w.ctx(), h.ID) // meets the gate
			}
			if _, paid = w.sim.Pay(w.ctx(), session, stripesim.Payment{}); paid != nil {
				return nil
			}
			return w.apply(w.m, w.news()...)
		})
		w.must(told)
		r, p := w.rental(h.Key), w.payment(o)
		switch {
		case paid == nil && p.State == payment.Paid && r.State == rental.Paid && *p.Outcome == payment.Applied:
		case paid != nil && cancelled == nil && p.State == payment.Expired && r.State == rental.Closed && *r.ClosedReason == rental.Cancelled && round != 1:
		default:
			t.Fatalf("round %d: cancelled %v, paid %v: the payment is %s, the rental %s", round, cancelled, paid, p.State, r.State)
		}
		w.intact()
	}
	w.deliver()
	w.sound()
	w.noDeadlocks()
}
