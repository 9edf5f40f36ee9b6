package market_test

import (
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Renewed within the 48 hours: live from the booking, with the picture that was
// approved, by the former renter only.
func TestRenewalBringsThePictureBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.ended(rect(1, 1, 6, 4), 24*time.Hour)
	_, err := w.m.Renew(w.ctx(), w.buyer().who, r.Key, more(1))
	w.wants(err, "not_found")
	_, err = w.buyer().tryHold(rect(6, 4, 1, 1))
	w.wants(err, "taken")
	o := b.renew(r.Key, 2)
	w.pay(o)
	before := w.now()
	w.must(b.m.Return(w.ctx(), b.who, r.Key))
	r = w.rental(r.Key)
	if r.LiveFrom.Before(before) || r.LiveFrom.After(w.now()) {
		t.Errorf("live from %v, booked after %v", r.LiveFrom, before)
	}
	w.lasts(r.Key, *r.LiveFrom, r.LiveFrom.Add(2*week))
	d, err := w.m.Look(w.ctx(), r.Key, b.who.Viewer)
	w.must(err)
	if d.Approved() == nil || len(d.Creatives) != 1 || !d.Rental.Visible(d.Now) {
		t.Errorf("%+v", d.Creatives)
	}
	if queue, err := w.m.Reviews(w.ctx(), 10); err != nil || len(queue) != 0 {
		t.Errorf("%d wait for a review, %v", len(queue), err)
	}
	w.deliver()
	if n := w.events(r.Key, "rental.renewed"); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	w.kept(720_000)
	w.sound()
	w.upTo(r.Key, ends, 0)
	w.settled()
	w.state(r.Key, rental.Ended)
	w.sound()
	w.upTo(r.Key, reserved, 0)
	w.settled()
	w.state(r.Key, rental.Closed, rental.NotRenewed)
	w.sound()
}

// The 48 hours, to the microsecond.
func TestRenewalEndsAfter48Hours(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true})
	b := w.buyer()
	r := b.ended(rect(1, 1, 6, 4), 47*time.Hour)
	if !r.ReservedUntil.Equal(r.EndsAt.Add(48 * time.Hour)) {
		t.Fatalf("reserved until %v, ended at %v", r.ReservedUntil, r.EndsAt)
	}
	for _, late := range []time.Duration{0, time.Microsecond, time.Second} {
		w.stopAt(r.Key, reserved, -late)
		_, err := b.m.Renew(w.ctx(), b.who, r.Key, more(1))
		w.refused(err, "conflict", "closed", "not renewed")
		b.sees(r.Key, rental.Closed)
		w.run()
		w.exec(`SELECT`) // time went on by itself: the next instant is a little later
	}
}

// Begun in the last second the blocks are kept until the end of its page and
// the grace after it: not a microsecond less, not a microsecond more.
func TestRenewalBegunInTheLastSecondIsProtected(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]time.Duration{"a second": time.Second, "a microsecond": time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{frozen: true})
			a, b := w.buyer(), w.buyer()
			r := a.ended(rect(1, 1, 6, 4), 47*time.Hour)
			w.stopAt(r.Key, reserved, before)
			a.renew(r.Key, 1)
			r = w.rental(r.Key)
			want := r.ReservedUntil.Add(41*time.Minute - before)
			if !r.LeasedUntil.Equal(want) {
				t.Fatalf("leased until %v, want %v", r.LeasedUntil, want)
			}
			w.intact()
			w.stop(*r.ReservedUntil)
			_, err := a.m.Renew(w.ctx(), a.who, r.Key, more(2))
			w.refused(err, "conflict", "is reserved until")
			if o := a.renew(r.Key, 1); w.payment(o).State != payment.Open { // the same page can still be used
				t.Error("the page is gone")
			}
			w.stop(want.Add(-time.Microsecond))
			a.sees(r.Key, rental.Ended)
			_, err = b.tryHold(rect(6, 4, 1, 1))
			w.wants(err, "taken")
			w.stop(want)
			a.sees(r.Key, rental.Closed)
			b.hold(rect(6, 4, 1, 1))
			w.state(r.Key, rental.Closed, rental.NotRenewed)
			w.intact()
			w.run()
			w.deliver()
		})
	}
}

// Ten checkouts in a row do not add up: what counts is the last one that was
// begun in time.
func TestRenewalsInARowDoNotAddUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.ended(rect(1, 1, 6, 4), 48*time.Hour-10*time.Minute)
	var last market.Offer
	for i := range 10 {
		o, err := b.m.Renew(w.ctx(), b.who, r.Key, more(1+i%3))
		w.must(err)
		last = o
		if most := w.rental(r.Key).ReservedUntil.Add(51 * time.Minute); w.rental(r.Key).LeasedUntil.After(most) {
			t.Fatalf("checkout %d: leased until %v, reserved until %v", i, w.rental(r.Key).LeasedUntil, w.rental(r.Key).ReservedUntil)
		}
		w.intact()
		w.age(time.Minute - time.Second)
		w.settled()
	}
	w.age(time.Minute)
	for i := range 10 { // after the 48 hours others are refused, and the page stays
		if _, err := b.m.Renew(w.ctx(), b.who, r.Key, more(4+i)); err == nil {
			t.Fatal("a renewal begins after the 48 hours")
		}
		w.age(time.Minute)
	}
	r = w.rental(r.Key)
	if want := w.payment(last).ExpiresAt.Add(10 * time.Minute); !r.LeasedUntil.Equal(want) || r.LeasedUntil.After(r.ReservedUntil.Add(41*time.Minute)) {
		t.Errorf("leased until %v, want %v, reserved until %v", r.LeasedUntil, want, r.ReservedUntil)
	}
	w.upTo(r.Key, leased, 0)
	w.settled()
	w.state(r.Key, rental.Closed, rental.NotRenewed)
	w.deliver()
	w.sound()
}

// Stripe is silent when the page is over: the blocks are kept 10 minutes at a
// time, at most until 51 minutes after the reservation.
func TestRenewalWhileStripeIsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.ended(rect(1, 1, 6, 4), 48*time.Hour-time.Second)
	o := b.renew(r.Key, 1)
	w.fault(unavailable(""))
	w.pay(o) // nobody hears of it
	most := w.rental(r.Key).ReservedUntil.Add(51 * time.Minute)
	passed := time.Duration(0)
	for ; w.rental(r.Key).State == rental.Ended && passed < 3*time.Hour; passed += 2 * time.Minute {
		w.age(2 * time.Minute)
		most = most.Add(-2 * time.Minute)
		w.work()
		if r = w.rental(r.Key); r.State == rental.Ended && r.LeasedUntil.After(most) {
			t.Fatalf("leased until %v, at most until %v", r.LeasedUntil, most)
		}
		w.intact()
	}
	if passed < 50*time.Minute || passed > 54*time.Minute {
		t.Errorf("kept for %v", passed)
	}
	w.state(r.Key, rental.Closed, rental.NotRenewed)
	w.buyer().hold(rect(6, 4, 1, 1))
	w.must(w.sim.ClearFaults(w.ctx()))
	w.age(2 * time.Second)
	w.settled()
	w.deliver()
	w.returned(o, payment.ReasonBlocksGone)
	w.sound()
}

// A renewal that is paid very late: live at once if the blocks can be had, else
// all of it goes back.
func TestVeryLateRenewal(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"free": false, "taken": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.ended(rect(1, 1, 6, 4), time.Hour)
			w.must(w.m.Hide(w.ctx(), r.Key, "", "admin"))
			o := b.renew(r.Key, 1)
			w.age(60 * 24 * time.Hour)
			w.settled()
			w.state(r.Key, rental.Closed, rental.NotRenewed)
			if taken {
				w.buyer().hold(rect(6, 4, 1, 1))
			}
			w.payLate(o)
			w.deliver()
			if taken {
				w.state(r.Key, rental.Closed, rental.NotRenewed)
				w.returned(o, payment.ReasonBlocksGone)
			} else {
				r = w.state(r.Key, rental.Live)
				w.lasts(r.Key, *r.LiveFrom, r.LiveFrom.Add(week))
				if !r.Hidden || r.Visible(w.now()) {
					t.Error("a hidden picture shows again")
				}
			}
			w.sound()
		})
	}
}

// A second renewal of the same end goes back; an extension of it adds.
func TestSecondRenewalGoesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.ended(rect(1, 1, 6, 4), time.Hour)
	first := b.renew(r.Key, 1)
	other := b.renew(r.Key, 2)
	w.payLate(first)
	w.deliver()
	r = w.state(r.Key, rental.Live)
	w.payLate(other)
	w.deliver()
	w.lasts(r.Key, *r.LiveFrom, r.LiveFrom.Add(week))
	w.returned(other, payment.ReasonSecond)
	w.kept(480_000)
	w.sound()
}

// A page that is not paid gives the blocks back to the reservation at its end:
// before the 48 hours they stay reserved, after them they are free at once.
func TestRenewalThatIsNotPaid(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"early": true, "late": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.ended(rect(1, 1, 6, 4), time.Hour)
			before := map[bool]time.Duration{true: 40 * time.Minute, false: 20 * time.Minute}[early]
			w.upTo(r.Key, reserved, before)
			b.renew(r.Key, 1)
			w.age(32*time.Minute + time.Second) // Stripe is asked a minute after the page's end
			w.settled()
			if r = w.rental(r.Key); early && (r.State != rental.Ended || !r.LeasedUntil.Equal(*r.ReservedUntil)) {
				t.Errorf("%s, leased until %v, reserved until %v", r.State, r.LeasedUntil, r.ReservedUntil)
			}
			w.intact()
			if early {
				w.upTo(r.Key, reserved, 0)
				w.settled()
			}
			w.state(r.Key, rental.Closed, rental.NotRenewed)
			w.deliver()
			w.sound()
		})
	}
}

// Renewal is of what has ended.
func TestRenewalIsOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	try := func(key string) error {
		_, err := b.m.Renew(w.ctx(), b.who, key, more(1))
		return err
	}
	h := b.hold(rect(10, 1, 2, 2))
	w.refused(try(h.Key), "conflict", "is a hold")
	w.refused(try(b.paid(rect(20, 1, 2, 2), 1).Key), "conflict", "waits for its first picture")
	w.refused(try(b.live(rect(30, 1, 2, 2), 1).Key), "conflict", "is live until", "UTC")
	r := b.ended(rect(1, 1, 6, 4), time.Hour)
	for _, n := range []int{-1, 0, 53} {
		_, err := b.m.Renew(w.ctx(), b.who, r.Key, more(n))
		w.wants(err, "invalid")
	}
	w.must(w.m.Remove(w.ctx(), market.Removal{Rental: r.Key, By: "admin"}))
	w.refused(try(r.Key), "conflict", "was removed")
}
