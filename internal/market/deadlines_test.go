package market_test

import (
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// around are a second and a microsecond before a deadline, the deadline, and
// the same after it.
func around() []time.Duration {
	return []time.Duration{-time.Second, -time.Microsecond, 0, time.Microsecond, time.Second}
}

// Every deadline, without any job: reads are exact to the microsecond, and
// settle moves at the same instant.
func TestEveryDeadlineIsExact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin         func(buyer) string
		deadline      func(rental.Rental) time.Time
		before, after rental.State
	}{
		"hold":     {func(b buyer) string { return b.hold(rect(1, 1, 6, 4)).Key }, leased, rental.Held, rental.Closed},
		"checkout": {func(b buyer) string { k := b.hold(rect(1, 1, 6, 4)).Key; b.checkout(k, 1); return k }, leased, rental.Paying, rental.Closed},
		"30 days":  {func(b buyer) string { return b.paid(rect(1, 1, 6, 4), 1).Key }, approval, rental.Paid, rental.Closed},
		"go-live":  {func(b buyer) string { return b.scheduled(rect(1, 1, 6, 4)).Key }, begins, rental.Paid, rental.Live},
		"end":      {func(b buyer) string { return b.live(rect(1, 1, 6, 4), 1).Key }, ends, rental.Live, rental.Ended},
		"48 hours": {func(b buyer) string { return b.ended(rect(1, 1, 6, 4), time.Hour).Key }, reserved, rental.Ended, rental.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{frozen: true})
			b := w.buyer()
			key := c.begin(b)
			w.stopAt(key, c.deadline, time.Second)
			r := w.rental(key)
			at := c.deadline(r)
			for _, late := range around() {
				w.stop(at.Add(late))
				want := c.before
				if late >= 0 {
					want = c.after
				}
				b.sees(key, want)
				d, err := b.m.Look(w.ctx(), key, b.who.Viewer)
				w.must(err)
				if d.Rental.Visible(d.Now) != (want == rental.Live) {
					t.Errorf("%v late it is %s and shows: %v", late, want, d.Rental.Visible(d.Now))
				}
				if got := w.rental(key).State; got != c.before {
					t.Fatalf("a read wrote %s", got)
				}
			}
			for _, late := range around() {
				w.stop(at.Add(late))
				w.must(w.m.Settle(w.ctx(), r.ID))
				want := c.before
				if late >= 0 {
					want = c.after
				}
				w.state(key, want)
			}
			w.intact()
		})
	}
}

// scheduled is an approved rental that goes live within two days.
func (b buyer) scheduled(at grid.Rect) rental.Rental {
	b.t.Helper()
	h := b.hold(at)
	start := h.LeasedUntil.Truncate(time.Hour).Add(48 * time.Hour)
	want := weeks(1)
	want.GoLiveAt = &start
	o, err := b.tryCheckout(h.Key, want)
	b.must(err)
	b.pay(o)
	b.must(b.m.Return(b.ctx(), b.who, h.Key))
	_, err = b.decide(b.submit(h.Key, int(h.ID)), true)
	b.must(err)
	return b.state(h.Key, rental.Paid)
}

func begins(r rental.Rental) time.Time { return *r.LiveFrom }

// Each reminder: not before its time, once whatever repeats, and never when it
// is stale.
func TestReminders(t *testing.T) {
	t.Parallel()
	type word struct {
		why, mail     string
		before, stale time.Duration
	}
	for name, c := range map[string]struct {
		begin    func(buyer) string
		deadline func(rental.Rental) time.Time
		words    []word
	}{
		"approval": {func(b buyer) string { return b.paid(rect(1, 1, 6, 4), 1).Key }, approval, []word{
			{"7 days to the approval deadline", "upload reminder", 168 * time.Hour, 48 * time.Hour},
			{"2 days to the approval deadline", "upload reminder", 48 * time.Hour, 0},
		}},
		"end": {func(b buyer) string { return b.live(rect(1, 1, 6, 4), 2).Key }, ends, []word{
			{"7 days to the end", "ends soon", 168 * time.Hour, 24 * time.Hour},
			{"24 hours to the end", "ends soon", 24 * time.Hour, 0},
		}},
		"closing": {func(b buyer) string { return b.ended(rect(1, 1, 6, 4), time.Hour).Key }, reserved, []word{
			{"12 hours to renew", "renewal closes", 12 * time.Hour, 0},
		}},
	} {
		for _, word := range c.words {
			t.Run(word.why, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, options{frozen: true})
				b := w.buyer()
				key := c.begin(b)
				r := w.rental(key)
				at := c.deadline(r)
				const job = `SELECT count(*) FROM river_job WHERE kind = 'remind' AND args ->> 'why' = $1 AND scheduled_at >= $2 AND scheduled_at < $3`
				due := at.Add(-word.before)
				if n := w.count(job, word.why, due, due.Add(10*time.Minute)); n != 1 {
					t.Errorf("%s: %d jobs", name, n)
				}
				told := func() int { return w.mailsOf(word.mail) }
				for _, stale := range []time.Duration{word.stale, word.stale - time.Microsecond, 0, -time.Hour} {
					w.stop(at.Add(-stale))
					w.must(w.m.Remind(w.ctx(), r.ID, word.why))
					if n := told(); n != 0 {
						t.Errorf("a stale word, %v before", stale)
					}
				}
				w.stop(due.Add(-time.Microsecond))
				w.must(w.m.Remind(w.ctx(), r.ID, word.why))
				if n := told(); n != 0 {
					t.Error("told too early")
				}
				for _, late := range []time.Duration{0, time.Second, word.before - word.stale - time.Microsecond} {
					w.stop(due.Add(late))
					w.must(w.m.Remind(w.ctx(), r.ID, word.why))
					if n := told(); n != 1 {
						t.Errorf("%v late: %d mails", late, n)
					}
				}
				w.must(w.m.Remind(w.ctx(), r.ID, "nothing"))
				w.run()
			})
		}
	}
}

// A word about an end that moved is not said; that about the new end is.
func TestRemindersFollowTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	w.upTo(r.Key, ends, 25*time.Hour)
	w.pay(b.extend(r.Key, 1))
	w.deliver()
	w.upTo(r.Key, ends, week+23*time.Hour) // the old word's time
	w.settled()
	if n := w.mailsOf("ends soon"); n != 0 {
		t.Errorf("%d mails about the old end", n)
	}
	w.upTo(r.Key, ends, week-11*time.Minute)
	w.settled()
	w.upTo(r.Key, ends, 23*time.Hour)
	w.settled()
	w.settled()
	if n := w.mailsOf("ends soon"); n != 2 {
		t.Errorf("%d mails about the new end", n)
	}
	w.sound()
}

// Four days without a worker: no stale reminder, and one mail says how it came
// out.
func TestOneMailAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	live, paid := w.buyer(), w.buyer()
	a, p := live.live(rect(1, 1, 6, 4), 1), paid.paid(rect(10, 1, 2, 2), 1)
	w.upTo(a.Key, ends, 25*time.Hour)
	w.exec(`DELETE FROM mails`)
	w.age(96 * time.Hour)
	w.settled()
	w.state(a.Key, rental.Closed, rental.NotRenewed)
	if n := w.count(`SELECT count(*) FROM mails WHERE rental_id = $1`, int64(a.ID)); n != 1 {
		t.Errorf("%d mails about the rental that is over", n)
	}
	w.upTo(p.Key, approval, 3*24*time.Hour)
	w.settled()
	w.exec(`DELETE FROM mails`)
	w.age(96 * time.Hour)
	w.settled()
	w.state(p.Key, rental.Closed, rental.Unapproved)
	if n := w.count(`SELECT count(*) FROM mails WHERE rental_id = $1`, int64(p.ID)); n != 1 {
		t.Errorf("%d mails about the rental that nobody approved", n)
	}
	w.deliver()
	w.intact()
}

// T03: the time paid for is whole, from the approval; the 30 days run from the
// payment, whatever is sent and rejected.
func TestPaidTimeBeginsWithTheApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 2)
	days := func(n int) {
		w.upTo(r.Key, func(r rental.Rental) time.Time { return r.PaidAt.Add(time.Duration(n) * 24 * time.Hour) }, 0)
		w.settled()
		if now := w.state(r.Key, rental.Paid); !now.ApproveBy.Equal(now.PaidAt.Add(720*time.Hour)) || !now.LeasedUntil.Equal(*now.ApproveBy) || now.EndsAt != nil {
			t.Errorf("day %d: approve by %v, leased until %v, ends %v", n, now.ApproveBy, now.LeasedUntil, now.EndsAt)
		}
		if _, err := w.buyer().tryHold(rect(6, 4, 1, 1)); err == nil {
			t.Errorf("day %d: the blocks are not the buyer's", n)
		}
	}
	days(3)
	first := b.submit(r.Key, 1)
	days(5)
	_, err := w.decide(first, false)
	w.must(err)
	days(8)
	again := b.submit(r.Key, 2)
	days(12)
	_, err = w.decide(again, true)
	w.must(err)
	r = w.state(r.Key, rental.Live)
	if late := r.LiveFrom.Sub(*r.PaidAt); late < 288*time.Hour || late > 289*time.Hour || !r.EndsAt.Equal(r.LiveFrom.Add(336*time.Hour)) {
		t.Errorf("live %v after the payment, from %v to %v", late, r.LiveFrom, r.EndsAt)
	}
	w.deliver()
	w.sound()
}

// P11, in its own figures.
func TestSmallRefundsInTheDashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 1, 1), 1)
	o := w.offerOf(r.Key, 0)
	p := w.payment(o)
	if p.Amount.Amount != 10_000 {
		t.Fatalf("paid %s", p.Amount)
	}
	for _, part := range []int64{2000, 3000} {
		w.dashboardRefund(p, &part)
	}
	news := w.news()
	for i := len(news) - 1; i >= 0; i-- {
		w.bring(news[i], news[i])
	}
	w.lasts(r.Key, *r.LiveFrom, *r.EndsAt)
	if n := w.count(`SELECT count(*) FROM ledger WHERE kind = 'refund.made' AND amount IN (-2000, -3000)`); n != 2 || w.netOf(o) != 5000 {
		t.Errorf("%d refunds, %d are kept", n, w.netOf(o))
	}
	if n := w.mailsOf("cancelled"); n != 0 {
		t.Error("told that it is cancelled")
	}
	w.dashboardRefund(p, nil)
	news = w.news()
	for i := len(news) - 1; i >= 0; i-- {
		w.bring(news[i], news[i])
	}
	w.state(r.Key, rental.Closed, rental.Refunded)
	w.age(time.Hour)
	w.settled()
	if n := len(w.calls(refundCall)); n != 0 || w.events(r.Key, "rental.closed") != 1 {
		t.Errorf("%d refunds of our own", n)
	}
	w.kept(0)
	w.sound()
}

// P13 (b): our refund was pending, and all that comes is the charge's event.
func TestOnlyTheChargeTellsOfTheRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	key, intent := w.unapproved()
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: stripesim.OutcomePending, Count: 1})
	w.settled()
	var id string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT stripe_id FROM refunds WHERE state = 'pending'`).Scan(&id))
	_, err := w.sim.SucceedRefund(w.ctx(), id)
	w.must(err)
	e := w.event("charge_refunded_full", facts{intent: intent, charge: "ch_1", currency: "usd", amount: 240_000})
	w.bring(e, e)
	if n := w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`); n != 1 || len(w.calls(refundCall)) != 1 {
		t.Errorf("%d refunds", n)
	}
	w.state(key, rental.Closed, rental.Unapproved)
	w.kept(0)
	w.sound()
}

// P06 for more weeks: money that takes days keeps the blocks; it buys what was
// begun when it arrives, and leaves the reservation as it was when it does not.
func TestMoreWeeksByDebit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ renewal, arrives bool }{
		"renewal arrives": {true, true}, "renewal fails": {true, false},
		"extension arrives": {false, true}, "extension fails": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			var r rental.Rental
			var o market.Offer
			if c.renewal {
				r = b.ended(rect(1, 1, 6, 4), 47*time.Hour)
				o = b.renew(r.Key, 1)
			} else {
				r = b.live(rect(1, 1, 6, 4), 1)
				w.upTo(r.Key, ends, time.Minute)
				o = b.extend(r.Key, 1)
			}
			w.payHow(o, stripesim.Payment{Pending: true})
			w.deliver()
			w.age(72 * time.Hour)
			w.settled()
			w.state(r.Key, rental.Ended)
			_, err := w.buyer().tryHold(rect(6, 4, 1, 1))
			w.wants(err, "taken")
			w.intact()
			r = w.rental(r.Key)
			if c.arrives {
				_, err = w.sim.AsyncSucceed(w.ctx(), w.session(o))
			} else {
				_, err = w.sim.AsyncFail(w.ctx(), w.session(o))
			}
			w.must(err)
			w.deliver()
			w.bring(w.event("async_failed", w.factsOf(o)))
			switch {
			case !c.arrives:
				w.state(r.Key, rental.Closed, rental.NotRenewed)
				w.kept(240_000)
			case c.renewal:
				r = w.state(r.Key, rental.Live)
				w.lasts(r.Key, *r.LiveFrom, r.LiveFrom.Add(week))
				w.kept(480_000)
			default:
				w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(week))
				w.kept(480_000)
			}
			w.sound()
		})
	}
}
