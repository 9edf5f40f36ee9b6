package market_test

import (
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// T02: weeks are added to the end; whoever extends early loses nothing, and
// the end that was planned before does not come.
func TestExtensionAddsToTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 2)
	w.upTo(r.Key, ends, 240*time.Hour)
	r = w.rental(r.Key)
	o := b.extend(r.Key, 2)
	if o.Amount.Amount != 480_000 {
		t.Errorf("it costs %s", o.Amount)
	}
	w.pay(o)
	w.deliver()
	w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(2*week))
	w.sound()
	w.upTo(r.Key, ends, 336*time.Hour-time.Second) // a second after the old end
	w.settled()
	b.sees(r.Key, rental.Live)
	w.state(r.Key, rental.Live)
	if n := w.count(`SELECT count(*) FROM creatives WHERE state = 'approved'`) + w.events(r.Key, "rental.extended"); n != 2 {
		t.Error("the picture or the event is not there")
	}
	w.upTo(r.Key, ends, -time.Second)
	b.sees(r.Key, rental.Ended)
	w.settled()
	w.state(r.Key, rental.Ended)
	if n := w.events(r.Key, "rental.ended"); n != 1 {
		t.Errorf("it ended %d times", n)
	}
	w.deliver()
	w.kept(960_000)
	w.sound()
}

// T02: two tabs. The same is one page; two pages that are both paid, which
// only a bank can do, add both.
func TestTwoExtensionsAtOnceAddBothSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	other := w.market(options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	end, kept := *r.EndsAt, 240_000
	for round := range long(t, 12, 100) {
		offers := make([]market.Offer, 2)
		errs := w.rush(2, func(i int) (err error) {
			offers[i], err = []*market.Market{w.m, other}[i].Extend(w.ctx(), b.who, r.Key, more(1))
			return err
		})
		winners(t, errs)
		if offers[0].PaymentKey != offers[1].PaymentKey {
			t.Fatal("the same extension has two pages")
		}
		longer, err := other.Extend(w.ctx(), b.who, r.Key, more(2)) // its first page cannot be paid any more
		w.must(err)
		w.payLate(offers[0])
		w.pay(longer)
		news := w.news()
		errs = w.rush(4, func(i int) error {
			switch i {
			case 0:
				return w.apply(w.m, news...)
			case 1:
				return w.apply(other, news[len(news)-1], news[0])
			case 2:
				return other.Return(w.ctx(), b.who, r.Key)
			}
			return w.m.Settle(w.ctx(), r.ID)
		})
		winners(t, errs)
		end, kept = end.Add(3*week), kept+720_000
		w.lasts(r.Key, *r.LiveFrom, end)
		w.intact()
		if n := w.events(r.Key, "rental.extended"); n != 2*(round+1) {
			t.Fatalf("round %d: %d extensions", round, n)
		}
	}
	w.deliver()
	w.kept(kept)
	w.sound()
	w.noDeadlocks()
}

// T02: paid a second before the end, the webhook a minute after it while the
// end is being written: live again from the old end, with the same picture.
func TestExtensionPaidInTheLastSecondSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	other := w.market(options{})
	rounds := long(t, 10, 100)
	for round := range rounds {
		b := w.buyer()
		r := b.live(rect(round%16*6, round/16*6, 6, 4), 1)
		w.upTo(r.Key, ends, time.Second)
		o := b.extend(r.Key, 2)
		w.pay(o)
		w.age(61 * time.Second)
		r = w.rental(r.Key)
		news := w.news()
		if round%3 == 0 { // the end comes first
			w.settled()
			w.state(r.Key, rental.Ended)
		}
		errs := w.rush(4, func(i int) error {
			if i < 2 {
				return []*market.Market{w.m, other}[i].Settle(w.ctx(), r.ID)
			}
			return w.apply([]*market.Market{other, w.m}[i-2], news...)
		})
		winners(t, errs)
		w.must(other.Settle(w.ctx(), r.ID))
		w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(2*week))
		b.sees(r.Key, rental.Live)
		if n := w.count(`SELECT count(*) FROM creatives WHERE rental_id = $1 AND state = 'approved'`, r.ID); n != 1 {
			t.Fatal("its picture is gone")
		}
		w.intact()
	}
	w.deliver()
	w.noDeadlocks()
}

// T02: one extension goes back: its weeks go, not those of the other and never
// into the past, and its money only.
func TestRefundOfAnExtension(t *testing.T) {
	t.Parallel()
	for name, byHand := range map[string]bool{"by an admin": false, "in the dashboard": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.live(rect(1, 1, 6, 4), 1)
			first := b.extend(r.Key, 2)
			w.pay(first)
			w.deliver()
			second := b.extend(r.Key, 3)
			w.pay(second)
			w.deliver()
			w.refundOf(first, byHand)
			w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(3*week))
			if w.netOf(first) != 0 || w.netOf(second) != 720_000 {
				t.Errorf("kept %d and %d", w.netOf(first), w.netOf(second))
			}
			w.sound()
			w.upTo(r.Key, ends, 2*week) // the third of the weeks of the second
			now := w.now()
			w.refundOf(second, byHand)
			r = w.state(r.Key, rental.Ended)
			if r.EndsAt.Before(now) || r.EndsAt.After(w.now()) || !r.LeasedUntil.Equal(r.EndsAt.Add(48*time.Hour)) || !r.ReservedUntil.Equal(*r.LeasedUntil) {
				t.Errorf("it ended at %v, leased until %v, reserved until %v", r.EndsAt, r.LeasedUntil, r.ReservedUntil)
			}
			if n := w.events(r.Key, "rental.shortened"); n != 2 {
				t.Errorf("%d times shortened", n)
			}
			w.kept(240_000)
			w.sound()
		})
	}
}

// refundOf gives a payment back in full, by an admin here or in the dashboard.
func (w *world) refundOf(o market.Offer, byHand bool) {
	w.t.Helper()
	p := w.payment(o)
	if byHand {
		w.dashboardRefund(p, nil)
		w.deliver()
		return
	}
	w.must(w.m.RefundNow(w.ctx(), market.RefundOrder{Rental: w.keyOf(p), Payment: p.Key, By: "admin"}))
	w.settled()
	w.deliver()
}

func (w *world) keyOf(p payment.Payment) string {
	w.t.Helper()
	r, err := rental.ByID(w.ctx(), w.pool, p.Rental)
	w.must(err)
	return r.Key
}

// An extension is of what is live; weeks and price are judged as at first.
func TestExtensionIsOfWhatIsLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	try := func(key string) error {
		_, err := b.m.Extend(w.ctx(), b.who, key, more(1))
		return err
	}
	h := b.hold(rect(10, 1, 2, 2))
	w.refused(try(h.Key), "conflict", "is live", "is a hold")
	b.checkout(h.Key, 1)
	w.refused(try(h.Key), "conflict", "being paid")
	paid := b.paid(rect(20, 1, 2, 2), 1)
	w.refused(try(paid.Key), "conflict", "waits for its first picture")
	r := b.live(rect(1, 1, 6, 4), 1)
	for _, n := range []int{-1, 0, 53} {
		_, err := b.m.Extend(w.ctx(), b.who, r.Key, more(n))
		if f := w.wants(err, "invalid"); f.Field != "weeks" {
			t.Errorf("%d weeks: field %q", n, f.Field)
		}
	}
	cheap := int64(1)
	_, err := b.m.Extend(w.ctx(), b.who, r.Key, market.More{Weeks: 1, ExpectedAmount: &cheap})
	w.refused(err, "conflict", "The price is")
	_, err = w.m.Extend(w.ctx(), w.buyer().who, r.Key, more(1))
	w.wants(err, "not_found")
	w.upTo(r.Key, ends, 0)
	w.refused(try(r.Key), "conflict", "ended at", "UTC")
	w.upTo(r.Key, ends, -48*time.Hour)
	w.refused(try(r.Key), "conflict", "closed", "not renewed")
	if n := w.count(`SELECT count(*) FROM payments WHERE purpose <> 'new'`); n != 0 {
		t.Errorf("%d payments of what was refused", n)
	}
}

// The price of more weeks is today's, the rental's own stays.
func TestExtensionHasTodaysPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	dear := w.market(options{rules: func(r *market.Rules) { r.PricePerPixel = 150 }})
	o, err := dear.Extend(w.ctx(), b.who, r.Key, more(2))
	w.must(err)
	if o.Amount.Amount != 720_000 || w.rental(r.Key).PricePerWeek.Amount != 240_000 {
		t.Errorf("it costs %s", o.Amount)
	}
	d, err := dear.Look(w.ctx(), r.Key, b.who.Viewer)
	w.must(err)
	if d.ExtraPrice.Amount != 360_000 || !d.MayExtend() || d.MayRenew() || d.MayWithdraw() {
		t.Errorf("%s a week more, %v, %v, %v", d.ExtraPrice, d.MayExtend(), d.MayRenew(), d.MayWithdraw())
	}
}

// An extension that was begun while live and is paid very late: if its blocks
// are free and its weeks are not over it opens the rental again.
func TestVeryLateExtension(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after time.Duration // the old end
		taken bool
		why   string
	}{
		"free":                      {50 * time.Hour, false, ""},
		"in its last minute":        {week - time.Minute, false, ""},
		"after its weeks":           {week + time.Second, false, payment.ReasonTooLate},
		"taken":                     {50 * time.Hour, true, payment.ReasonBlocksGone},
		"nobody wrote down its end": {49 * time.Hour, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.live(rect(1, 1, 6, 4), 1)
			w.upTo(r.Key, ends, time.Second)
			o := b.extend(r.Key, 1)
			w.upTo(r.Key, ends, -c.after)
			if name != "nobody wrote down its end" {
				w.settled()
				w.state(r.Key, rental.Closed, rental.NotRenewed)
			}
			if c.taken {
				w.buyer().hold(rect(6, 4, 2, 2))
			}
			r = w.rental(r.Key)
			w.payLate(o)
			w.deliver()
			if c.why == "" {
				w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(week))
			} else {
				w.state(r.Key, rental.Closed, rental.NotRenewed)
				w.returned(o, c.why)
				if n := w.mailsOf("refunded"); n != 1 {
					t.Errorf("%d mails", n)
				}
			}
			w.sound()
		})
	}
}

// A page for more weeks that nobody pays leaves the rental as it was.
func TestExtensionThatIsNotPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	o := b.extend(r.Key, 1)
	again := b.extend(r.Key, 1)
	if o.URL != again.URL {
		t.Error("the same extension has another page")
	}
	other := b.extend(r.Key, 2)
	if n := w.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open'`); n != 1 || other.URL == o.URL {
		t.Errorf("%d pages can be paid", n)
	}
	w.age(33 * time.Minute)
	w.settled()
	if p := w.payment(other); p.State != payment.Expired {
		t.Errorf("the page is %s", p.State)
	}
	before := *w.rental(r.Key).LiveFrom
	w.lasts(r.Key, before, before.Add(week))
	w.deliver()
	w.kept(240_000)
	w.sound()
}

// Stripe is away: 503, and nothing has changed.
func TestExtensionWithoutStripe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.live(rect(1, 1, 6, 4), 1)
	w.fault(unavailable(beginCall))
	_, err := b.m.Extend(w.ctx(), b.who, r.Key, more(1))
	if f := fault.As(err); f.Kind != fault.Unavailable {
		t.Errorf("%v", err)
	}
	w.lasts(r.Key, *r.LiveFrom, *r.EndsAt)
	w.must(w.sim.ClearFaults(w.ctx()))
	w.pay(b.extend(r.Key, 1))
	w.deliver()
	w.lasts(r.Key, *r.LiveFrom, r.EndsAt.Add(week))
	w.sound()
}
