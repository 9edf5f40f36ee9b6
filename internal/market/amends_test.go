package market_test

import (
	"testing"
	"time"

	"tuval/internal/ledger"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

func refund(key string, amount int64) market.RefundOrder {
	o := market.RefundOrder{Rental: key, Reason: "Sorry", By: "admin"}
	if amount != 0 {
		o.Amount = &amount
	}
	return o
}

// offerOf is the rental's payment with that place in its history.
func (w *world) offerOf(key string, n int) market.Offer {
	w.t.Helper()
	ps, err := payment.OfRental(w.ctx(), w.pool, w.rental(key).ID)
	w.must(err)
	return market.Offer{PaymentKey: ps[n].Key}
}

// Until the first picture is approved the buyer can have all the money back.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 2)
	b.submit(r.Key, 1)
	part := refund(r.Key, 100_000)
	w.must(w.m.RefundNow(w.ctx(), part)) // only what is left goes back with the withdrawal
	w.wants(w.m.Withdraw(w.ctx(), w.buyer().who, r.Key), "not_found")
	w.must(b.m.Withdraw(w.ctx(), b.who, r.Key))
	w.state(r.Key, rental.Closed, rental.Cancelled)
	w.refused(b.m.Withdraw(w.ctx(), b.who, r.Key), "conflict", "was cancelled")
	w.buyer().hold(rect(6, 4, 2, 2)) // free at once
	w.deliver()
	w.kept(0)
	if n := w.mailsOf("cancelled"); n != 1 {
		t.Errorf("%d mails", n)
	}
	if n := w.count(`SELECT count(*) FROM creatives WHERE state = 'pending'`); n != 0 {
		t.Error("its picture still waits")
	}
	w.sound()
}

func TestWithdrawalIsBeforeTheFirstApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(10, 1, 2, 2))
	w.refused(b.m.Withdraw(w.ctx(), b.who, h.Key), "conflict", "is a hold")
	r := b.paid(rect(1, 1, 6, 4), 1)
	_, err := w.decide(b.submit(r.Key, 1), false)
	w.must(err)
	d, err := w.m.Look(w.ctx(), r.Key, b.who.Viewer)
	w.must(err)
	if !d.MayWithdraw() || d.MayExtend() || d.MayRenew() {
		t.Error("a rejection takes the way out")
	}
	_, err = w.decide(b.submit(r.Key, 2), true)
	w.must(err)
	w.refused(b.m.Withdraw(w.ctx(), b.who, r.Key), "conflict", "is live until")
	s := b.live(rect(20, 1, 2, 2), 1)
	w.upTo(s.Key, ends, 0)
	w.refused(b.m.Withdraw(w.ctx(), b.who, s.Key), "conflict", "ended at")
	u := b.paid(rect(30, 1, 2, 2), 1)
	w.upTo(u.Key, approval, 0)
	w.refused(b.m.Withdraw(w.ctx(), b.who, u.Key), "conflict", "no picture was approved in time")
	w.settled()
	w.deliver()
	w.intact()
}

// The contact address can be mended until somebody has confirmed it.
func TestContactIsCorrected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(10, 1, 2, 2))
	w.refused(b.m.CorrectContact(w.ctx(), b.who, h.Key, "x@example.com"), "conflict", "not paid yet")
	r := b.paid(rect(1, 1, 6, 4), 1)
	w.wants(w.m.CorrectContact(w.ctx(), w.buyer().who, r.Key, "thief@example.com"), "not_found")
	for range 2 { // the second changes nothing
		w.must(b.m.CorrectContact(w.ctx(), b.who, r.Key, "right@example.com"))
	}
	if got := deref(w.rental(r.Key).Email); got != "right@example.com" || w.events(r.Key, string(ledger.ContactCorrected)) != 1 {
		t.Errorf("the address is %s", got)
	}
	_, err := w.decide(b.submit(r.Key, 1), true)
	w.must(err)
	if n := w.count(`SELECT count(*) FROM mails WHERE kind = 'approved' AND recipient = 'right@example.com'`); n != 1 {
		t.Error("the mail goes to the old address")
	}
	w.exec(`UPDATE rentals SET account_id = person_id WHERE key = $1`, r.Key)
	w.refused(b.m.CorrectContact(w.ctx(), b.who, r.Key, "late@example.com"), "conflict", "was confirmed")
	w.must(w.m.Remove(w.ctx(), market.Removal{Rental: r.Key, By: "admin"}))
	w.refused(b.m.CorrectContact(w.ctx(), b.who, r.Key, "late@example.com"), "conflict", "closed")
	w.deliver()
	w.sound()
}

// An admin gives money back in parts: money only, until the last part is the
// whole, which closes the rental and frees its blocks.
func TestAdminRefunds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	for _, bad := range []int64{-1, 240_001} {
		if f := w.wants(w.m.RefundNow(w.ctx(), refund(r.Key, bad)), "invalid"); f.Field != "amount" {
			t.Errorf("field %q", f.Field)
		}
	}
	w.must(w.m.RefundNow(w.ctx(), refund(r.Key, 100_000)))
	w.lasts(r.Key, *r.LiveFrom, *r.EndsAt)
	w.refused(w.m.RefundNow(w.ctx(), refund(r.Key, 140_001)), "invalid", "what is left")
	w.deliver()
	w.kept(140_000)
	w.sound()
	w.must(w.m.RefundNow(w.ctx(), refund(r.Key, 140_000)))
	w.state(r.Key, rental.Closed, rental.Refunded)
	w.buyer().hold(rect(6, 4, 2, 2))
	w.refused(w.m.RefundNow(w.ctx(), refund(r.Key, 0)), "conflict", "gone back in full")
	w.refused(w.m.RefundNow(w.ctx(), market.RefundOrder{Rental: r.Key, Payment: "nothing", By: "admin"}), "not_found")
	w.deliver()
	w.kept(0)
	if n := w.mailsOf("cancelled"); n != 1 {
		t.Errorf("%d mails", n)
	}
	w.sound()
}

// The first payment goes back: what is left of every other goes with it.
func TestRefundOfTheFirstPaymentTakesAll(t *testing.T) {
	t.Parallel()
	for name, byHand := range map[string]bool{"by an admin": false, "in the dashboard": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.live(rect(1, 1, 6, 4), 1)
			w.pay(b.extend(r.Key, 2))
			w.deliver()
			part := market.RefundOrder{Rental: r.Key, Payment: w.offerOf(r.Key, 1).PaymentKey, Amount: new(int64), By: "admin"}
			*part.Amount = 80_000
			w.must(w.m.RefundNow(w.ctx(), part))
			open := b.extend(r.Key, 3)
			w.refundOf(w.offerOf(r.Key, 0), byHand)
			w.state(r.Key, rental.Closed, rental.Refunded)
			w.kept(0)
			if s := w.payment(open).State; s != payment.Expired {
				t.Errorf("its open page is %s", s)
			}
			w.payLate(open)
			w.deliver()
			w.returned(open, payment.ReasonClosed)
			w.sound()
		})
	}
}

// A renewal goes back: its weeks end, not the reservation after them.
func TestRefundOfARenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.ended(rect(1, 1, 6, 4), time.Hour)
	o := b.renew(r.Key, 1)
	w.pay(o)
	w.deliver()
	before := w.now()
	w.refundOf(o, false)
	r = w.state(r.Key, rental.Ended)
	if r.EndsAt.Before(before) || !r.ReservedUntil.Equal(r.EndsAt.Add(48*time.Hour)) {
		t.Errorf("ended at %v, reserved until %v", r.EndsAt, r.ReservedUntil)
	}
	w.kept(240_000)
	w.sound()
	w.pay(b.renew(r.Key, 1)) // and it can be renewed again
	w.deliver()
	w.state(r.Key, rental.Live)
	w.sound()
}

// What was refunded of a rental that had ended, or is closed, is money only.
func TestRefundAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	o := b.extend(r.Key, 1)
	w.pay(o)
	w.deliver()
	w.upTo(r.Key, ends, -time.Hour)
	w.settled()
	w.refundOf(o, true)
	if got := w.state(r.Key, rental.Ended); !got.EndsAt.Equal(w.rental(r.Key).EndsAt.Add(0)) {
		t.Error("the end moved")
	}
	w.upTo(r.Key, reserved, 0)
	w.settled()
	w.refundOf(w.offerOf(r.Key, 0), false)
	w.state(r.Key, rental.Closed, rental.NotRenewed) // the reason stays
	w.kept(0)
	w.sound()
}

func TestRefundOfWhatWasNotPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.refused(w.m.RefundNow(w.ctx(), refund(h.Key, 0)), "conflict", "Nothing was paid")
	o := b.checkout(h.Key, 1)
	w.refused(w.m.RefundNow(w.ctx(), market.RefundOrder{Rental: h.Key, Payment: o.PaymentKey, By: "admin"}), "conflict", "is open")
	w.wants(w.m.RefundNow(w.ctx(), refund("nothing", 0)), "not_found")
}

// Hidden: off the canvas at once, the time runs on; it stays hidden through
// extensions, and shows again when an admin says so.
func TestHiding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(10, 1, 2, 2))
	w.refused(w.m.Hide(w.ctx(), h.Key, "", "admin"), "conflict", "Only the picture of a paid rental", "is a hold")
	r := b.live(rect(1, 1, 6, 4), 1)
	w.refused(w.m.Unhide(w.ctx(), r.Key, "", "admin"), "conflict", "not hidden")
	w.must(w.m.Hide(w.ctx(), r.Key, "Rude", "admin"))
	w.refused(w.m.Hide(w.ctx(), r.Key, "Rude", "admin"), "conflict", "hidden already")
	hidden := w.lasts(r.Key, *r.LiveFrom, *r.EndsAt)
	if !hidden.Hidden || hidden.Visible(w.now()) {
		t.Error("it shows")
	}
	if d := b.look(r.Key); d.Reason() != "Rude" {
		t.Errorf("the reason is %q", d.Reason())
	}
	w.pay(b.extend(r.Key, 1))
	w.deliver()
	if !w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(week)).Hidden {
		t.Error("the extension shows it again")
	}
	w.must(w.m.Unhide(w.ctx(), r.Key, "", "admin"))
	if again := w.rental(r.Key); again.Hidden || !again.Visible(w.now()) {
		t.Error("it does not show again")
	}
	for _, kind := range []ledger.Kind{ledger.RentalHidden, ledger.RentalUnhidden} {
		if n := w.events(r.Key, string(kind)); n != 1 {
			t.Errorf("%d events %s", n, kind)
		}
	}
	w.must(w.m.Remove(w.ctx(), market.Removal{Rental: r.Key, By: "admin"}))
	w.refused(w.m.Hide(w.ctx(), r.Key, "", "admin"), "conflict", "was removed")
	w.sound()
}

// Removed from any state: closed for good, the blocks free at once, the money
// back or kept as the admin says.
func TestRemoval(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(buyer) string{
		"a hold":     func(b buyer) string { return b.hold(rect(1, 1, 6, 4)).Key },
		"a checkout": func(b buyer) string { k := b.hold(rect(1, 1, 6, 4)).Key; b.checkout(k, 1); return k },
		"paid":       func(b buyer) string { return b.paid(rect(1, 1, 6, 4), 1).Key },
		"live":       func(b buyer) string { return b.live(rect(1, 1, 6, 4), 1).Key },
		"ended":      func(b buyer) string { return b.ended(rect(1, 1, 6, 4), time.Hour).Key },
	} {
		for _, back := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, options{})
				b := w.buyer()
				key := begin(b)
				paid := w.rental(key).PaidAt != nil
				o := market.Removal{Rental: key, Reason: "Against the rules", By: "admin", Refund: back}
				w.must(w.m.Remove(w.ctx(), o))
				w.state(key, rental.Closed, rental.Removed)
				if d := b.look(key); d.Reason() != "Against the rules" {
					t.Errorf("the reason is %q", d.Reason())
				}
				w.buyer().hold(rect(6, 4, 2, 2))
				w.refused(w.m.Remove(w.ctx(), o), "conflict", "closed", "was removed")
				w.deliver()
				kept := map[bool]int{true: 240_000}[paid && !back]
				w.kept(kept)
				if n := w.mailsOf("cancelled") + w.mailsOf("removed"); n != map[bool]int{true: 1}[paid] {
					t.Errorf("%d mails", n)
				}
				if n := w.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open'`); n != 0 {
					t.Error("its page can still be paid")
				}
				w.sound()
			})
		}
	}
}

// A decision on a rental that is closed is refused with the reason.
func TestDecisionOnAClosedRental(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	c := b.submit(r.Key, 1)
	w.must(b.m.Withdraw(w.ctx(), b.who, r.Key))
	_, err := w.decide(c, true)
	w.refused(err, "conflict", "closed", "cancelled")
	old := b.paid(rect(10, 1, 2, 2), 1)
	first := b.submit(old.Key, 2)
	b.submit(old.Key, 3)
	_, err = w.decide(first, true)
	w.refused(err, "conflict", "changed since you looked")
	w.deliver()
	w.sound()
}

// look is what the buyer sees of a rental.
func (b buyer) look(key string) market.Detail {
	b.t.Helper()
	d, err := b.m.Look(b.ctx(), key, b.who.Viewer)
	b.must(err)
	return d
}
