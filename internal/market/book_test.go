package market_test

import (
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// P02: twenty copies of "completed" at one instant, at two processes, then
// again after an hour, after three days, and after all of it was refunded.
func TestCopiesOfAnEventBookOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 24})
	markets := []*market.Market{w.m, w.market(options{})}
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 4)
	w.pay(o)
	completed := w.event("completed_paid", w.factsOf(o))
	errs := w.rush(20, func(i int) error {
		m := markets[i%2]
		if err := w.receive(m, completed); err != nil {
			return err
		}
		_, _, err := m.ApplyEvent(w.ctx(), completed.ID) // whoever got a job of it
		return err
	})
	winners(t, errs)
	once := func(when string) {
		t.Helper()
		w.settled()
		if n := w.count(`SELECT count(*) FROM ledger WHERE kind = 'payment.booked' AND amount = 960000`); n != 1 {
			t.Errorf("%s: booked %d times", when, n)
		}
		if n := w.mailsOf("paid"); n != 1 {
			t.Errorf("%s: %d confirmations", when, n)
		}
	}
	once("at once")
	w.state(h.Key, rental.Paid)
	w.kept(960_000)
	for _, after := range []time.Duration{time.Hour, 72 * time.Hour} {
		w.age(after)
		w.bring(completed, w.event("completed_paid", w.factsOf(o)), w.event("pi_succeeded", w.factsOf(o)))
		once(after.String())
	}
	w.state(h.Key, rental.Paid)

	_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: w.factsOf(o).intent})
	w.must(err)
	w.deliver()
	w.state(h.Key, rental.Closed, rental.Refunded)
	w.bring(w.event("completed_paid", w.factsOf(o)))
	w.state(h.Key, rental.Closed, rental.Refunded)
	if n := w.owned(h.Key); n != 0 {
		t.Errorf("a repeated event took %d blocks", n)
	}
	once("after the refund")
	w.kept(0)
	w.sound()
	w.noDeadlocks()
}

// The event is there before Stripe's answer, and with it the session's id.
func TestEventBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: beginCall, Count: 1})
	_, err := b.tryCheckout(h.Key, weeks(2))
	w.wants(err, "unavailable")
	var session string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT id FROM stripesim.sessions`).Scan(&session))
	_, err = w.sim.Pay(w.ctx(), session, stripesim.Payment{})
	w.must(err)
	w.deliver()
	r := w.state(h.Key, rental.Paid)
	if r.PaidAt == nil || w.count(`SELECT count(*) FROM payments WHERE session_id = $1 AND payment_intent IS NOT NULL`, session) != 1 {
		t.Error("the payment did not learn what the event knew")
	}
	_, err = b.tryCheckout(h.Key, weeks(2)) // the retry of the answer that was lost
	w.wants(err, "conflict")
	w.sound()
}

// The money is faster than our own answer from Stripe: the buyer is led to
// the page, which says that it is paid.
func TestPaidWhileTheAnswerIsOnItsWay(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]stripesim.Payment{"paid": {}, "processing": {Pending: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			h := b.hold(rect(1, 1, 6, 4))
			// The first call makes the session and loses its answer; the second
			// gets that answer when the money is there already.
			w.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: beginCall, Count: 1})
			_, err := b.tryCheckout(h.Key, weeks(2))
			w.wants(err, "unavailable")
			w.fault(stripesim.Fault{Kind: stripesim.FaultSlow, Endpoint: beginCall, Count: 1, Delay: stripesim.Delay(500 * time.Millisecond)})
			offered := make(chan error)
			go func() {
				o, err := b.tryCheckout(h.Key, weeks(2))
				if err == nil && o.URL == "" {
					t.Error("no page")
				}
				offered <- err
			}()
			w.await(`SELECT count(*) FROM stripesim.requests WHERE endpoint = '`+beginCall+`'`, 2)
			var session string
			w.must(w.pool.QueryRow(w.ctx(), `SELECT id FROM stripesim.sessions`).Scan(&session))
			_, err = w.sim.Pay(w.ctx(), session, how)
			w.must(err)
			w.deliver()
			if err := <-offered; err != nil {
				t.Errorf("the buyer reads %v", err)
			}
			w.settled()
			want := rental.Paid
			if how.Pending {
				want = rental.Paying
			}
			w.state(h.Key, want)
			w.sound()
		})
	}
}

// P01 (a): paid in time, the webhook an hour late: the job asks Stripe.
func TestPaidInTimeWithoutAWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.pay(b.checkout(h.Key, 2))
	w.age(32*time.Minute + time.Second)
	w.settled()
	w.state(h.Key, rental.Paid)
	w.age(28 * time.Minute)
	w.deliver()
	w.kept(480_000)
	if n := w.mailsOf("paid"); n != 1 {
		t.Errorf("%d confirmations", n)
	}
	w.sound()
}

// P01 (b): paid after the hold, nobody took a block, the webhook an hour late.
func TestPaidLateBlocksFree(t *testing.T) {
	t.Parallel()
	for name, settled := range map[string]bool{"closed by its job": true, "lapsed only": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			h := b.hold(rect(1, 1, 6, 4))
			o := b.checkout(h.Key, 2)
			w.age(42 * time.Minute)
			if settled {
				w.settled()
				w.state(h.Key, rental.Closed, rental.Expired)
			}
			w.payHow(o, stripesim.Payment{Late: true})
			w.exec(`UPDATE river_job SET state = 'cancelled', finalized_at = now() WHERE kind IN ('end_checkout', 'settle') AND state <> 'completed'`)
			w.age(time.Hour)
			w.deliver()
			r := w.state(h.Key, rental.Paid)
			if n := w.owned(h.Key); n != 24 || r.ClosedReason != nil {
				t.Errorf("%d blocks, %+v", n, r)
			}
			w.kept(480_000)
			if n := w.count(`SELECT count(*) FROM mails`); n != 1 {
				t.Errorf("%d mails", n)
			}
			w.sound()
		})
	}
}

// P01 (c): paid after the hold, and somebody has one of the blocks.
func TestPaidLateBlocksGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	w.age(42 * time.Minute)
	other := b.hold(rect(6, 4, 3, 3))
	before := w.rental(other.Key)
	w.payHow(o, stripesim.Payment{Late: true})
	w.age(time.Minute)
	w.deliver()
	w.state(h.Key, rental.Closed, rental.Expired)
	if p := w.payment(o); p.State != payment.Paid || deref(p.Outcome) != payment.Returned {
		t.Errorf("the payment is %s, %v", p.State, deref(p.Outcome))
	}
	w.deliver() // the refund's own events
	w.kept(0)
	if n := w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded' AND amount = 480000`); n != 1 {
		t.Errorf("%d refunds", n)
	}
	if n := w.mailsOf("refunded"); n != 1 || w.count(`SELECT count(*) FROM mails`) != 1 {
		t.Errorf("%d mails of the refund", n)
	}
	if after := w.rental(other.Key); after.State != rental.Held || after.Rect != before.Rect {
		t.Errorf("the other's hold changed: %+v", after)
	}
	// And all of it again.
	w.bring(w.event("completed_paid", w.factsOf(o)))
	w.must(b.cancel(other.Key))
	w.bring(w.event("completed_paid", w.factsOf(o)), w.event("pi_succeeded", w.factsOf(o)))
	w.state(h.Key, rental.Closed, rental.Expired)
	w.kept(0)
	w.sound()
}

// A repeated word about money that went back meets a lapsed hold on the
// blocks: it must stay as it is, whole, until somebody takes it over.
func TestRepeatedEventDisplacesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	w.age(42 * time.Minute)
	other := b.hold(rect(6, 4, 3, 3))
	w.payHow(o, stripesim.Payment{Late: true})
	w.deliver()
	w.age(11 * time.Minute) // the other's hold has lapsed, its job is late
	completed := w.event("completed_paid", w.factsOf(o))
	w.must(w.receive(w.m, completed))
	_, outcome, err := w.m.ApplyEvent(w.ctx(), completed.ID)
	w.must(err)
	if outcome != string(market.Known) {
		t.Errorf("outcome %s", outcome)
	}
	w.state(other.Key, rental.Held)
	w.intact()
	w.deliver()
	w.state(other.Key, rental.Closed, rental.Expired)
	w.sound()
}

// A late payment takes blocks whose lease has run out, and ends it.
func TestPaidLateTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	w.age(42 * time.Minute)
	other := b.hold(rect(6, 4, 3, 3))
	w.age(11 * time.Minute)
	w.payHow(o, stripesim.Payment{Late: true})
	for _, e := range w.news() {
		w.must(w.receive(w.m, e))
		_, _, err := w.m.ApplyEvent(w.ctx(), e.ID)
		w.must(err)
	}
	w.state(other.Key, rental.Closed, rental.Expired)
	w.state(h.Key, rental.Paid)
	w.settled()
	w.kept(480_000)
	w.sound()
}

// P05 O1: refunded in full before anybody told of the payment.
func TestRefundBeforeThePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	w.pay(o)
	_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: w.factsOf(o).intent})
	w.must(err)
	var paid, back []event
	for _, e := range w.news() {
		if e.Type == "checkout.session.completed" || e.Type == "payment_intent.succeeded" {
			paid = append(paid, e)
		} else {
			back = append(back, e)
		}
	}
	w.bring(append(back, w.event("charge_refunded_full", w.factsOf(o)))...)
	w.state(h.Key, rental.Paying)
	w.bring(paid...)
	w.state(h.Key, rental.Closed, rental.Refunded)
	if n := w.owned(h.Key); n != 0 {
		t.Errorf("%d blocks", n)
	}
	w.kept(0)
	w.age(31 * time.Second) // the refund's early events look again and find nothing
	w.settled()
	w.sound()
}

// P05 O2: "expired" of the very session that was paid comes after it.
func TestExpiredAfterPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	w.pay(o)
	w.bring(w.event("completed_paid", w.factsOf(o)), w.event("expired", w.factsOf(o)), w.event("async_failed", w.factsOf(o)))
	w.state(h.Key, rental.Paid)
	if n := w.count(`SELECT count(*) FROM mails`); n != 1 || w.mailsOf("paid") != 1 {
		t.Errorf("%d mails", n)
	}
	w.kept(480_000)
	w.sound()
}

// P05 O3: two sessions, the new one paid, then the old one's late words.
func TestOldSessionsWordsAfterTheNewOneIsPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	old := b.checkout(h.Key, 2)
	fresh := b.checkout(h.Key, 4)
	w.pay(fresh)
	w.bring(w.event("completed_paid", w.factsOf(fresh)), w.event("expired", w.factsOf(old)), w.event("async_failed", w.factsOf(old)))
	w.state(h.Key, rental.Paid)
	if w.owned(h.Key) != 24 || w.count(`SELECT count(*) FROM mails`) != 1 {
		t.Error("the old session's words moved something")
	}
	w.deliver()
	w.kept(960_000)
	w.sound()
}

// P07: both pages of one order are paid, in either order.
func TestBothPagesPaid(t *testing.T) {
	t.Parallel()
	for name, newFirst := range map[string]bool{"old first": false, "new first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			h := b.hold(rect(1, 1, 6, 4))
			old := b.checkout(h.Key, 2)
			fresh := b.checkout(h.Key, 4)
			w.payHow(old, stripesim.Payment{Late: true})
			w.pay(fresh)
			first, second := old, fresh
			if newFirst {
				first, second = fresh, old
			}
			w.bring(w.event("completed_paid", w.factsOf(first)), w.event("completed_paid", w.factsOf(second)))
			w.deliver()
			w.state(h.Key, rental.Paid)
			if p := w.payment(first); deref(p.Outcome) != payment.Applied {
				t.Errorf("the first payment is %v", deref(p.Outcome))
			}
			w.kept(int(first.Amount.Amount))
			if n := w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`); n != 1 {
				t.Errorf("%d refunds", n)
			}
			if w.mailsOf("paid") != 1 || w.mailsOf("refunded") != 1 {
				t.Error("the buyer is not told once of each")
			}
			w.sound()
		})
	}
}

// P10 and P09: what does not match is not booked, and an admin is told.
func TestMismatchBooksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b, c := w.buyer(), w.buyer()
	h, dear := b.hold(rect(1, 1, 1, 1)), c.hold(rect(20, 20, 30, 30))
	o, dearOffer := b.checkout(h.Key, 1), c.checkout(dear.Key, 1)
	w.pay(o)
	honest := w.factsOf(o)
	forged := map[string]func(f *facts){
		"a unit less":                 func(f *facts) { f.amount-- },
		"a unit more":                 func(f *facts) { f.amount++ },
		"another currency":            func(f *facts) { f.currency = "jpy" },
		"another payment's reference": func(f *facts) { f.ref = dearOffer.PaymentKey },
		"another payment's metadata":  func(f *facts) { f.metadata = map[string]string{"payment_id": dearOffer.PaymentKey} },
		"another session": func(f *facts) {
			f.session = w.session(dearOffer)
		},
	}
	n := 0
	for name, forge := range forged {
		f := honest
		forge(&f)
		e := w.event("completed_paid", f)
		w.bring(e, e)
		if got := w.outcome(e); got != string(market.Mismatched) {
			t.Errorf("%s: %s", name, got)
		}
		n++
		if w.count(`SELECT count(*) FROM payments WHERE state = 'paid'`) != 0 {
			t.Fatalf("%s: booked", name)
		}
	}
	// The cheap session with all of the dear payment's words on it.
	f := w.factsOf(dearOffer)
	f.session, f.amount = honest.session, honest.amount
	w.bring(w.event("completed_paid", f))
	live := w.market(options{live: true})
	real := w.event("completed_paid", honest)
	w.must(w.receive(live, real))
	if _, outcome, err := live.ApplyEvent(w.ctx(), real.ID); err != nil || outcome != "other livemode" {
		t.Errorf("livemode: %s, %v", outcome, err)
	}
	w.state(h.Key, rental.Paying)
	w.state(dear.Key, rental.Paying)
	if w.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`) != 0 || w.count(`SELECT count(*) FROM mails`) != 0 {
		t.Error("something was booked or mailed")
	}
	if w.anomalies("payment mismatch") == 0 || w.anomalies("livemode mismatch") != 1 {
		t.Error("no admin was told")
	}
	// The honest word still buys.
	w.bring(w.event("completed_paid", honest))
	w.state(h.Key, rental.Paid)
	w.sound()
}

// A wrong charge at Stripe itself: the job that asks at the end does not book
// it either, and the blocks come free.
func TestWrongChargeIsNotBookedByAsking(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	w.payHow(o, stripesim.Payment{Amount: 1})
	w.must(w.m.Return(w.ctx(), b.who, h.Key))
	w.state(h.Key, rental.Paying)
	w.age(32*time.Minute + time.Second)
	w.settled()
	w.state(h.Key, rental.Closed, rental.Expired)
	if w.anomalies("payment mismatch") != 1 {
		t.Error("no admin was told")
	}
	w.sound()
}

// P09: unknown and foreign events are taken, and change nothing.
func TestForeignAndUnknownEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	f := w.factsOf(o)
	foreign, unknown := w.event("foreign_session", f), w.event("unknown_type", f)
	w.bring(foreign, unknown, foreign)
	if w.outcome(foreign) != string(market.Foreign) || w.outcome(unknown) != "not handled" {
		t.Errorf("outcomes %s and %s", w.outcome(foreign), w.outcome(unknown))
	}
	f.intent = "pi_somebody_elses"
	w.must(w.receive(w.m, w.event("charge_refunded_full", f)))
	w.work()
	w.state(h.Key, rental.Paying)
	w.intact()
}

// P06: done at the page, the money under way.
func TestProcessing(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]bool{"arrives": true, "fails": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			a, b := w.buyer(), w.buyer()
			h := a.hold(rect(1, 1, 6, 4))
			o := a.checkout(h.Key, 2)
			w.payHow(o, stripesim.Payment{Pending: true})
			w.deliver()
			w.age(72 * time.Hour) // also the time of the page and of the hold
			w.settled()
			w.state(h.Key, rental.Paying)
			if w.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`) != 0 || w.count(`SELECT count(*) FROM mails`) != 0 {
				t.Error("booked or mailed too early")
			}
			_, err := b.tryHold(rect(6, 4, 3, 3))
			w.wants(err, "taken")
			_, err = a.tryCheckout(h.Key, weeks(2))
			w.wants(err, "conflict")
			if arrives {
				_, err = w.sim.AsyncSucceed(w.ctx(), w.session(o))
				w.must(err)
				w.deliver()
				w.bring(w.event("async_succeeded", w.factsOf(o)), w.event("async_failed", w.factsOf(o)), w.event("completed_unpaid", w.factsOf(o)))
				w.state(h.Key, rental.Paid)
				w.kept(480_000)
				if w.mailsOf("paid") != 1 {
					t.Error("not told once")
				}
				w.sound()
				return
			}
			_, err = w.sim.AsyncFail(w.ctx(), w.session(o))
			w.must(err)
			w.deliver()
			w.bring(w.event("async_failed", w.factsOf(o)))
			w.state(h.Key, rental.Closed, rental.PaymentFailed)
			b.hold(rect(6, 4, 3, 3))
			w.kept(0)
			if n := w.count(`SELECT count(*) FROM mails`); n != 1 || w.mailsOf("payment failed") != 1 {
				t.Errorf("%d mails", n)
			}
			w.sound()
		})
	}
}

// The bank takes longer than a week: the lease ends, later money is late.
// What a bank has under way cannot be called back: neither before we know nor
// after. When it fails all the same, the blocks are free at once.
func TestCancelWhileMoneyIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"told": true, "found out": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			a, b := w.buyer(), w.buyer()
			h := a.hold(rect(1, 1, 6, 4))
			o := a.checkout(h.Key, 2)
			w.payHow(o, stripesim.Payment{Pending: true})
			if told {
				w.deliver()
			}
			for range 2 {
				w.refused(w.m.Cancel(w.ctx(), a.who, h.Key), "conflict", "processed")
			}
			w.state(h.Key, rental.Paying)
			_, err := b.tryHold(rect(6, 4, 3, 3))
			w.wants(err, "taken")
			_, err = w.sim.AsyncFail(w.ctx(), w.session(o))
			w.must(err)
			w.deliver()
			w.state(h.Key, rental.Closed, rental.PaymentFailed)
			b.hold(rect(6, 4, 3, 3))
			w.sound()
		})
	}
}

func TestProcessingForMoreThanAWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	w.payHow(o, stripesim.Payment{Pending: true})
	w.deliver()
	w.age(7*24*time.Hour + time.Second)
	w.settled()
	w.state(h.Key, rental.Closed, rental.Expired)
	b.hold(rect(6, 4, 3, 3))
	_, err := w.sim.AsyncSucceed(w.ctx(), w.session(o))
	w.must(err)
	w.deliver()
	w.state(h.Key, rental.Closed, rental.Expired)
	w.deliver()
	w.kept(0)
	w.sound()
}

// W05: back from the payment page before the webhook.
func TestReturnAsksStripe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	w.must(w.m.Return(w.ctx(), a.who, h.Key)) // by hand, nothing was paid
	w.state(h.Key, rental.Paying)
	w.pay(o)
	w.wants(w.m.Return(w.ctx(), b.who, h.Key), "not_found")
	w.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: readCall, Count: 1})
	w.must(w.m.Return(w.ctx(), a.who, h.Key)) // silence changes nothing
	w.state(h.Key, rental.Paying)
	errs := w.rush(5, func(int) error { return w.m.Return(w.ctx(), a.who, h.Key) })
	winners(t, errs)
	w.state(h.Key, rental.Paid)
	w.deliver()
	w.kept(480_000)
	w.sound()
}

// While Stripe does not answer at the end, the blocks wait, but not for ever.
func TestEndWhileStripeIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	_, err := a.keep(h.Key)
	w.must(err)
	w.age(19 * time.Minute)
	a.checkout(h.Key, 2)
	w.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: readCall})
	w.age(32*time.Minute + time.Second) // minute 51
	for w.state(h.Key, rental.Paying).LeasedUntil.Before(w.rental(h.Key).CountedFrom.Add(90 * time.Minute)) {
		if failed := w.work(); len(failed) == 0 {
			t.Fatal("the job did not fail")
		}
		r := w.state(h.Key, rental.Paying)
		if left := w.left(r); left <= 0 || left > 10*time.Minute {
			t.Fatalf("leased for another %v", left)
		}
		w.sound() // there is a job for the new end
		_, err := b.tryHold(rect(6, 4, 3, 3))
		w.wants(err, "taken")
		w.age(6 * time.Minute)
	}
	w.age(w.left(w.rental(h.Key)) + time.Second)
	w.work() // the lease is over: it stays over though Stripe is still asked
	r := w.state(h.Key, rental.Closed, rental.Expired)
	if most := r.CountedFrom.Add(90*time.Minute + time.Millisecond); r.ClosedAt.After(most) {
		t.Errorf("possessed until %v, at most %v", r.ClosedAt, most)
	}
	b.hold(rect(6, 4, 3, 3))
	w.must(w.sim.ClearFaults(w.ctx()))
	w.age(2 * time.Second)
	w.settled()
	w.sound()
}

// A lease that is over is not brought back by a job that asks too late.
func TestLateEndDoesNotReviveALease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	w.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: readCall, Count: 1})
	w.age(42 * time.Minute)
	if err := w.m.EndCheckout(w.ctx(), w.payment(o).ID, 1); err == nil {
		t.Fatal("Stripe answered")
	}
	if left := w.left(w.rental(h.Key)); left > 0 {
		t.Errorf("leased for another %v", left)
	}
	w.settled()
	w.state(h.Key, rental.Closed, rental.Expired)
	w.sound()
}

// Our deadline is before Stripe's: at it we end the page ourselves.
func TestShortCheckoutIsEndedByUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{rules: func(r *market.Rules) { r.CheckoutTTL = 2 * time.Minute }})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	o := a.checkout(h.Key, 2)
	if err := w.m.EndCheckout(w.ctx(), w.payment(o).ID, 1); err == nil {
		t.Error("a job before its time did not wait")
	}
	w.age(2*time.Minute + time.Second)
	w.settled()
	w.state(h.Key, rental.Closed, rental.Expired)
	if _, err := w.sim.Pay(w.ctx(), w.session(o), stripesim.Payment{}); err == nil {
		t.Error("the page could be paid")
	}
	b.hold(rect(1, 1, 6, 4))
	w.deliver()
	w.sound()
}

// Stripe knows nothing of the session: keys of another account, perhaps.
func TestSessionThatStripeDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	a.checkout(h.Key, 2)
	w.exec(`UPDATE payments SET session_id = 'cs_of_another_account'`)
	w.age(32*time.Minute + time.Second)
	w.settled()
	w.state(h.Key, rental.Closed, rental.Expired)
	if w.anomalies("session unknown") != 1 {
		t.Error("no admin was told")
	}
	w.sound()
}

// Copies of a late payment's events at once, while a lapsed hold stands on
// the blocks: it is displaced once, whole, and the payment booked once.
func TestCopiesOfALatePaymentTakeOverOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 12})
	for round := range 6 {
		a, b := w.buyer(), w.buyer()
		h := a.hold(rect(1, 10*round, 6, 4))
		o := a.checkout(h.Key, 2)
		w.age(42 * time.Minute)
		other := b.hold(rect(6, 10*round+3, 3, 3))
		w.age(11 * time.Minute)
		w.payHow(o, stripesim.Payment{Late: true})
		news := w.news()
		errs := w.rush(10, func(i int) error {
			e := news[i%len(news)]
			if err := w.receive(w.m, e); err != nil {
				return err
			}
			_, _, err := w.m.ApplyEvent(w.ctx(), e.ID)
			return err
		})
		winners(t, errs)
		w.state(other.Key, rental.Closed, rental.Expired)
		w.state(h.Key, rental.Paid)
		w.intact()
	}
	w.settled()
	w.kept(6 * 480_000)
	w.sound()
	w.noDeadlocks()
}

// A page of the rental is open while another one of it, thought to be over, is
// paid: it is taken away at once.
func TestOpenPageOfAPaidRentalIsTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	old := b.checkout(h.Key, 2)
	fresh := b.checkout(h.Key, 4)
	w.payHow(old, stripesim.Payment{Late: true})
	completed := w.event("completed_paid", w.factsOf(old))
	w.must(w.receive(w.m, completed))
	_, _, err := w.m.ApplyEvent(w.ctx(), completed.ID)
	w.must(err)
	w.state(h.Key, rental.Paid)
	w.intact()
	w.settled()
	if _, err := w.sim.Pay(w.ctx(), w.session(fresh), stripesim.Payment{}); err == nil {
		t.Error("the other page could be paid")
	}
	w.deliver()
	w.kept(480_000)
	w.sound()
}

// Stripe neither expires a page nor says that it is paid: nothing is booked.
func TestPageThatDoesNotExpireIsNotBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	b.checkout(h.Key, 2)
	w.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Status: 400, Endpoint: expireCall})
	_, err := b.tryCheckout(h.Key, weeks(4))
	w.wants(err, "unavailable")
	w.state(h.Key, rental.Paying)
	w.must(b.cancel(h.Key))
	w.state(h.Key, rental.Closed, rental.Cancelled)
	w.kept(0)
	w.must(w.sim.ClearFaults(w.ctx()))
	w.work()
	w.age(2 * time.Second)
	w.settled()
	w.sound()
}

// Money under way is not ended by a deadline that somebody else saw.
func TestDeadlineDoesNotEndMoneyUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	w.payHow(o, stripesim.Payment{Pending: true})
	w.deliver()
	w.must(w.m.CheckoutOver(w.ctx(), w.payment(o).ID))
	w.bring(w.event("expired", w.factsOf(o)))
	w.state(h.Key, rental.Paying)
	if p := w.payment(o); p.State != payment.Processing {
		t.Errorf("the payment is %s", p.State)
	}
}
