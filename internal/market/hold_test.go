package market_test

import (
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// A person meets their own hold, not "taken": the new one takes its place in
// the same instant, with the possession that the old one began.
func TestOwnHoldIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	old := a.hold(rect(10, 10, 6, 4))
	_, err := a.keep(old.Key)
	w.must(err)
	w.age(3 * time.Minute)
	before := w.rental(old.Key)

	fresh := a.hold(rect(11, 10, 6, 4))
	w.state(old.Key, rental.Closed, rental.Cancelled)
	got := w.rental(fresh.Key)
	if !got.CountedFrom.Equal(before.CountedFrom) || !got.Kept {
		t.Errorf("begun %v and kept %v, want %v and true", got.CountedFrom, got.Kept, before.CountedFrom)
	}
	_, err = a.keep(fresh.Key)
	w.wants(err, "conflict")
	b.hold(rect(10, 10, 1, 4)) // what the old one left is free at once
	if n := w.owned(fresh.Key); n != 24 {
		t.Errorf("%d blocks", n)
	}
	w.settled()
	w.sound()
}

func TestOwnHoldStaysWhenTheNewPlaceIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	old := a.hold(rect(10, 10, 6, 4))
	before := w.rental(old.Key)
	b.hold(rect(16, 10, 6, 4))
	_, err := a.tryHold(rect(12, 10, 6, 4))
	w.wants(err, "taken")
	after := w.state(old.Key, rental.Held)
	if !after.LeasedUntil.Equal(*before.LeasedUntil) || w.owned(old.Key) != 24 {
		t.Errorf("the old hold changed: %+v", after)
	}
}

// Several own holds under one new one all give way.
func TestSeveralOwnHoldsAreReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	first := a.hold(rect(10, 10, 2, 2))
	w.age(5 * time.Minute)
	second := a.hold(rect(14, 10, 2, 2))
	both := a.hold(rect(10, 10, 6, 2))
	w.state(first.Key, rental.Closed, rental.Cancelled)
	w.state(second.Key, rental.Closed, rental.Cancelled)
	if got := w.rental(both.Key); !got.CountedFrom.Equal(w.rental(first.Key).CountedFrom) {
		t.Error("the longer possession is not the one that counts")
	}
}

// Replacing again and again does not add up: after 49 minutes no new hold is
// made in place of the old, and after 90 nothing is left of any.
func TestReplacingDoesNotProlongForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	h := a.hold(rect(10, 10, 6, 4))
	from := h.CheckoutBy
	for i := range 9 {
		w.age(5 * time.Minute)
		h = a.hold(rect(10+i%2, 10, 6, 4))
	}
	if r := w.rental(h.Key); r.LeasedUntil.After(r.CountedFrom.Add(90 * time.Minute)) {
		t.Errorf("leased until %v", r.LeasedUntil)
	}
	if want := from.Add(-45 * time.Minute); !h.CheckoutBy.Round(time.Second).Equal(want.Round(time.Second)) {
		t.Errorf("checkout by %v, want %v", h.CheckoutBy, want)
	}
	w.age(5 * time.Minute)
	_, err := a.tryHold(rect(12, 10, 6, 4))
	if f := w.wants(err, "limit"); f.RetryAfter <= 0 {
		t.Error("no word on when to come back")
	}
	w.age(5*time.Minute + time.Second)
	fresh := a.hold(rect(12, 10, 6, 4)) // the old one lapsed: a new possession
	w.state(h.Key, rental.Closed, rental.Expired)
	if r := w.rental(fresh.Key); r.Kept || !r.CountedFrom.After(w.rental(h.Key).CountedFrom) {
		t.Errorf("a lapsed hold was inherited: %+v", r)
	}
	w.settled()
	w.sound()
}

// A hold on its way to be paid is replaced like any other, but not while its
// money is under way.
func TestReplacingACheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	h := a.hold(rect(10, 10, 6, 4))
	o := a.checkout(h.Key, 2)
	fresh := a.hold(rect(11, 10, 6, 4))
	w.settled() // also expires the page
	if _, err := w.sim.Pay(w.ctx(), w.session(o), stripesim.Payment{}); err == nil {
		t.Error("the replaced hold's page could be paid")
	}
	again := a.checkout(fresh.Key, 2)
	w.payHow(again, stripesim.Payment{Pending: true})
	w.deliver()
	_, err := a.tryHold(rect(12, 10, 6, 4))
	w.wants(err, "conflict")
	w.state(fresh.Key, rental.Paying)
	w.sound()
}

// It was paid before its page could be expired: the money goes back, once.
func TestReplacedHoldThatWasPaidIsRefunded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	h := a.hold(rect(10, 10, 6, 4))
	a.pay(a.checkout(h.Key, 2))
	fresh := a.hold(rect(11, 10, 6, 4))
	w.deliver()
	w.state(h.Key, rental.Closed, rental.Cancelled)
	w.state(fresh.Key, rental.Held)
	w.kept(0)
	if n := w.count(`SELECT count(*) FROM mails`); n != 1 {
		t.Errorf("%d mails", n)
	}
	w.sound()
}

// C04: the hold is over, somebody else has the blocks, and an old tab clicks.
func TestOldTabChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	old := a.hold(rect(10, 10, 6, 4))
	w.age(11 * time.Minute)
	h := b.hold(rect(10, 10, 6, 4))
	o := b.checkout(h.Key, 2)
	before := w.rental(h.Key)
	for name, click := range map[string]func() error{
		"checkout": func() error { _, err := a.tryCheckout(old.Key, weeks(2)); return err },
		"weeks":    func() error { _, err := a.tryCheckout(old.Key, weeks(4)); return err },
		"keep":     func() error { _, err := a.keep(old.Key); return err },
	} {
		if f := fault.As(click()); f.Kind != fault.Gone {
			t.Errorf("%s: %v", name, f)
		}
	}
	w.must(a.cancel(old.Key)) // a hold that is over can be let go of
	_, err := a.tryHold(rect(10, 10, 6, 4))
	w.wants(err, "taken")
	if after := w.rental(h.Key); !after.LeasedUntil.Equal(*before.LeasedUntil) || after.PricePerWeek != before.PricePerWeek {
		t.Errorf("the other's hold changed: %+v", after)
	}
	if n := w.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	b.pay(o)
	w.deliver()
	w.state(h.Key, rental.Paid)
	w.sound()
}

// C03 (a): back from the payment page, the same place and a shifted one.
func TestBackFromThePaymentPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(10, 10, 6, 4))
	first := a.checkout(h.Key, 2)
	again := a.hold(rect(10, 10, 6, 4))
	a.checkout(again.Key, 2)
	shifted := a.hold(rect(11, 10, 6, 4))
	_, err := b.tryHold(rect(11, 10, 6, 4))
	w.wants(err, "taken")
	o := a.checkout(shifted.Key, 2)
	if n := w.count(`SELECT count(*) FROM rentals WHERE state IN ('held', 'paying')`); n != 1 {
		t.Errorf("%d holds of one person on the same blocks", n)
	}
	w.deliver()
	if n := w.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open'`); n != 1 {
		t.Errorf("%d pages can be paid", n)
	}
	if _, err := w.sim.Pay(w.ctx(), w.session(first), stripesim.Payment{}); err == nil {
		t.Error("the first page could be paid")
	}
	w.pay(o)
	w.deliver()
	w.state(shifted.Key, rental.Paid)
	w.kept(480_000)
	w.sound()
}

// A takeover takes one block and ends the whole rental that lapsed there.
func TestTakeoverEndsWholeRentals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b, c := w.buyer(), w.buyer(), w.buyer()
	one, two := a.hold(rect(10, 10, 6, 4)), b.hold(rect(16, 10, 6, 4))
	w.age(10*time.Minute + time.Second)
	h := c.hold(rect(15, 13, 2, 1))
	for _, key := range []string{one.Key, two.Key} {
		r := w.state(key, rental.Closed, rental.Expired)
		if !r.ClosedAt.Before(w.rental(h.Key).CreatedAt) {
			t.Error("it closed when it was displaced, not when it lapsed")
		}
	}
	if n := w.count(`SELECT count(*) FROM blocks WHERE claim_id IS NOT NULL`); n != 2 {
		t.Errorf("%d blocks are possessed, want 2", n)
	}
	w.settled() // the late jobs of the displaced find nothing to do
	w.state(h.Key, rental.Held)
	w.sound()
}

// A blocked area whose time is over is taken over like a hold.
func TestTakeoverOfABlockedArea(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	area, err := w.m.Block(w.ctx(), "admin", rect(20, 20, 30, 30), "event", nil)
	w.must(err)
	_, err = a.tryHold(rect(49, 49, 2, 2))
	w.wants(err, "taken")
	held := b.hold(rect(50, 50, 2, 2))
	_, err = w.m.Block(w.ctx(), "admin", rect(40, 51, 20, 1), "", nil)
	w.wants(err, "taken")
	w.age(366 * 24 * time.Hour)
	a.hold(rect(49, 49, 2, 2)) // over both: the area and the lapsed hold
	w.state(held.Key, rental.Closed, rental.Expired)
	if n := w.count(`SELECT count(*) FROM blocked_areas WHERE closed_at = until`); n != 1 {
		t.Errorf("%d areas ended at their time", n)
	}
	w.wants(w.m.Unblock(w.ctx(), "admin", area.Key), "not_found")
	w.must(w.m.BlockOver(w.ctx(), area.ID))
	w.settled()
	w.sound()
}

func TestBlockAndUnblock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	over := time.Now().Add(-time.Minute)
	_, err := w.m.Block(w.ctx(), "admin", rect(0, 0, 5, 5), "", &over)
	if f := w.wants(err, "invalid"); f.Field != "until" {
		t.Errorf("field %s", f.Field)
	}
	area, err := w.m.Block(w.ctx(), "admin", rect(0, 0, 100, 100), "all of it", nil)
	w.must(err)
	list, err := w.m.BlockedAreas(w.ctx())
	w.must(err)
	if len(list) != 1 || list[0] != area {
		t.Errorf("listed: %+v, made: %+v", list, area)
	}
	w.must(w.m.Unblock(w.ctx(), "admin", area.Key))
	w.wants(w.m.Unblock(w.ctx(), "admin", area.Key), "not_found")
	a.hold(rect(0, 0, 1, 1))
	w.settled()
	w.sound()
}

// Keep: a microsecond before the end, at it and after it.
func TestKeepAtTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true})
	for i, c := range []struct {
		late time.Duration
		ok   bool
	}{{-time.Microsecond, true}, {0, false}, {time.Microsecond, false}} {
		w.run()
		b := w.buyer()
		h := b.hold(rect(10*i, 0, 6, 4))
		w.stop(h.LeasedUntil.Add(c.late))
		kept, err := b.keep(h.Key)
		if c.ok {
			w.must(err)
			if want := h.LeasedUntil.Add(10 * time.Minute); !kept.LeasedUntil.Equal(want) {
				t.Errorf("kept until %v, want %v", kept.LeasedUntil, want)
			}
			continue
		}
		if f := fault.As(err); f.Kind != fault.Gone {
			t.Errorf("%v late: %v", c.late, err)
		}
		w.must(w.m.Settle(w.ctx(), h.ID))
		w.state(h.Key, rental.Closed, rental.Expired)
	}
}

// A block is free at the very instant at which its lease ends, not before.
func TestBlocksAreFreeAtTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(0, 0, 6, 4))
	w.stop(h.LeasedUntil.Add(-time.Microsecond))
	_, err := b.tryHold(rect(5, 3, 6, 4))
	w.wants(err, "taken")
	w.stop(h.LeasedUntil)
	b.hold(rect(5, 3, 6, 4))
	w.state(h.Key, rental.Closed, rental.Expired)
}

func TestTenKeepsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(0, 0, 6, 4))
	errs := w.rush(10, func(int) error { _, err := b.keep(h.Key); return err })
	if won := winners(t, errs, "conflict"); len(won) != 1 {
		t.Errorf("kept %d times", len(won))
	}
	if r := w.rental(h.Key); !r.LeasedUntil.Equal(h.LeasedUntil.Add(10 * time.Minute)) {
		t.Errorf("leased until %v, was %v", r.LeasedUntil, h.LeasedUntil)
	}
	w.settled()
	w.sound()
}

func TestKeepIsForHoldsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(0, 0, 6, 4))
	b.checkout(h.Key, 1)
	_, err := b.keep(h.Key)
	w.wants(err, "conflict")
	_, err = w.buyer().keep(h.Key)
	w.wants(err, "not_found")
}

func TestCancelFreesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(0, 0, 6, 4))
	o := a.checkout(h.Key, 1)
	w.wants(b.cancel(h.Key), "not_found")
	w.must(a.cancel(h.Key))
	b.hold(rect(0, 0, 6, 4))
	w.must(a.cancel(h.Key)) // again changes nothing
	w.deliver()
	w.state(h.Key, rental.Closed, rental.Cancelled)
	if _, err := w.sim.Pay(w.ctx(), w.session(o), stripesim.Payment{}); err == nil {
		t.Error("the page could be paid")
	}
	w.sound()
}

// Stripe is silent: the blocks are free in the same request all the same, and
// a job ends the page.
func TestCancelWhileStripeIsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(0, 0, 6, 4))
	o := a.checkout(h.Key, 1)
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropBefore, Endpoint: expireCall, Count: 1})
	w.must(a.cancel(h.Key))
	b.hold(rect(0, 0, 6, 4))
	w.settled()
	if _, err := w.sim.Pay(w.ctx(), w.session(o), stripesim.Payment{}); err == nil {
		t.Error("the page could be paid")
	}
	w.state(h.Key, rental.Closed, rental.Cancelled)
	w.deliver()
	w.sound()
}

// Stripe says that the money is there: it is booked, and the buyer sees it.
func TestCancelOfAPaidPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a := w.buyer()
	h := a.hold(rect(0, 0, 6, 4))
	a.pay(a.checkout(h.Key, 1))
	w.wants(a.cancel(h.Key), "conflict")
	w.state(h.Key, rental.Paid)
	w.wants(a.cancel(h.Key), "conflict")
	w.deliver()
	w.kept(240_000)
	w.sound()
}

func TestTooManyBlocksNameTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	for _, r := range []grid.Rect{rect(0, 0, 100, 11), rect(0, 0, 100, 100)} {
		_, err := b.tryHold(r)
		if f := w.wants(err, "invalid"); f.Field != "w" {
			t.Errorf("field %s", f.Field)
		}
	}
	b.hold(rect(99, 99, 1, 1))
	b.hold(rect(0, 0, 100, 10))
}

// Who is asked for by a rental's token is the person who made its hold.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(0, 0, 6, 4))
	token := w.m.Token(h.Key, h.Version)
	r, err := w.m.ByToken(w.ctx(), token)
	w.must(err)
	if r.Key != h.Key || r.PersonID != b.person() {
		t.Errorf("%+v", r)
	}
	for _, wrong := range []string{"", h.Key, h.Key + ".", token + "x", token[:len(token)-1], "x" + token, w.m.Token(h.Key, h.Version+1), w.m.Token("nobody", 1)} {
		if _, err := w.m.ByToken(w.ctx(), wrong); fault.As(err).Kind != fault.Unauthenticated {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if again := market.New(w.pool, nil, nil, rules(), logger()).Token(h.Key, h.Version); again != token {
		t.Error("another process makes another token")
	}
}
