package market_test

import (
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/rental"
)

func limited(person, address market.Limits, share float64) options {
	return options{conns: 24, rules: func(r *market.Rules) { r.Person, r.Address, r.MaxHeldShare = person, address, share }}
}

func boundless() market.Limits {
	return market.Limits{Holds: 1000, Blocks: 1 << 20, BlockMinutes: 1 << 30, HoldMinutes: 1 << 30}
}

// Twenty holds at once of a person who may have three are three.
func TestLimitOfAPersonUnderRush(t *testing.T) {
	t.Parallel()
	three := boundless()
	three.Holds = 3
	o := limited(three, boundless(), 1)
	w := newWorld(t, o)
	ms := w.processes(20, o)
	for round := range 3 {
		b := w.buyer()
		errs := w.rush(20, func(i int) error {
			who := market.Who{Viewer: b.who.Viewer, Address: []byte{byte(i), byte(round)}} // a phone on the move
			_, err := ms[i].Hold(w.ctx(), who, rect(5*i, 20*round, 3, 3), market.Request{})
			return err
		})
		if won := winners(t, errs, "limit"); len(won) != 3 {
			t.Errorf("round %d: %d holds", round, len(won))
		}
	}
	w.settled()
	w.sound()
	w.noDeadlocks()
}

func TestLimitOfAnAddressUnderRush(t *testing.T) {
	t.Parallel()
	blocks := boundless()
	blocks.Blocks = 100
	o := limited(boundless(), blocks, 1)
	w := newWorld(t, o)
	ms := w.processes(20, o)
	errs := w.rush(20, func(i int) error {
		who := market.Who{Address: []byte("one address")}
		_, err := ms[i].Hold(w.ctx(), who, rect(5*i, 0, 4, 6), market.Request{})
		return err
	})
	if won := winners(t, errs, "limit"); len(won) != 4 {
		t.Errorf("%d holds of 24 blocks, want 4", len(won))
	}
	w.noDeadlocks()
}

// What all together hold stays below the share, in small holds and in large
// ones, of people who have nothing to do with each other.
func TestShareOfTheGridUnderRush(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ side, most int }{
		"small": {2, 400}, "large": {10, 400}, "mixed": {0, 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, limited(boundless(), boundless(), float64(c.most)/10_000))
			people := w.buyers(120)
			errs := w.rush(len(people), func(i int) error {
				side := c.side
				if side == 0 {
					side = 1 + i%5
				}
				_, err := people[i].tryHold(rect(i%10*10, i/10*8, side, min(side, 8)))
				return err
			})
			winners(t, errs, "limit", "unavailable")
			held := w.count(`SELECT sum(w * h) FROM rentals WHERE state = 'held'`)
			if held > c.most {
				t.Errorf("%d blocks are held, at most %d may be", held, c.most)
			}
			if c.side == 2 && held != c.most {
				t.Errorf("%d blocks are held, %d would have been allowed", held, c.most)
			}
			w.settled()
			w.sound()
			w.noDeadlocks()
		})
	}
}

// C07: the limits name themselves and when to come back; paid holds and those
// that are over do not count.
func TestLimitsAreOfUnpaidHoldsThatRun(t *testing.T) {
	t.Parallel()
	three := boundless()
	three.Holds, three.Blocks = 3, 1000
	w := newWorld(t, limited(three, boundless(), 1))
	b := w.buyer()
	first := b.hold(rect(0, 0, 10, 10))
	b.hold(rect(20, 0, 10, 10))
	b.hold(rect(40, 0, 10, 10))
	_, err := b.tryHold(rect(60, 0, 10, 10))
	if f := w.wants(err, "limit"); f.RetryAfter <= 0 || f.RetryAfter > 10*time.Minute {
		t.Errorf("come back in %v", f.RetryAfter)
	}
	b.hold(rect(41, 0, 10, 10)) // in place of the third: still three
	b.pay(b.checkout(first.Key, 1))
	w.must(w.m.Return(w.ctx(), b.who, first.Key))
	b.hold(rect(60, 0, 10, 10)) // the paid one does not count
	_, err = b.tryHold(rect(80, 0, 10, 10))
	w.wants(err, "limit")
	w.age(11 * time.Minute)
	b.hold(rect(80, 0, 10, 10)) // nor do those that are over, settled or not

	c := w.buyer()
	c.hold(rect(0, 20, 30, 30))
	_, err = c.tryHold(rect(50, 20, 11, 10)) // 900 + 110
	w.wants(err, "limit")
	c.hold(rect(50, 20, 10, 10))
	w.settled()
	w.sound()
}

// What counts in a rolling day is the time really used: of holds that were let
// go of, replaced or lapsed, but not of those that were paid.
func TestMinutesOfARollingDay(t *testing.T) {
	t.Parallel()
	minutes := boundless()
	minutes.HoldMinutes = 30
	w := newWorld(t, limited(minutes, boundless(), 1))
	b := w.buyer()
	use := func(d time.Duration) {
		h := b.hold(rect(0, 0, 2, 2))
		w.age(d)
		w.must(b.cancel(h.Key))
	}
	use(9 * time.Minute)
	h := b.hold(rect(0, 0, 2, 2))
	w.age(5 * time.Minute)
	b.hold(rect(1, 0, 2, 2)) // replaced after five minutes
	w.state(h.Key, rental.Closed)
	w.age(20 * time.Minute) // and lapsed after ten: 24 in all
	use(5 * time.Minute)
	paid := b.paid(rect(50, 50, 2, 2), 1)
	w.age(5*time.Minute + time.Second)
	_ = paid
	b.hold(rect(0, 0, 2, 2)) // 29 minutes
	w.age(2 * time.Minute)
	_, err := b.tryHold(rect(10, 10, 2, 2))
	w.wants(err, "limit")
	w.age(23*time.Hour + 50*time.Minute)
	b.hold(rect(10, 10, 2, 2)) // the first are out of the day
}

func TestBlockMinutesOfARollingDay(t *testing.T) {
	t.Parallel()
	minutes := boundless()
	minutes.BlockMinutes = 1000
	w := newWorld(t, limited(minutes, boundless(), 1))
	b := w.buyer()
	h := b.hold(rect(0, 0, 10, 10))
	w.age(9 * time.Minute)
	w.must(b.cancel(h.Key)) // 900
	h = b.hold(rect(0, 0, 10, 10))
	_, err := b.keep(h.Key)
	w.must(err) // keeping and paying are never refused by it
	w.age(5 * time.Minute)
	b.checkout(h.Key, 1)
	_, err = b.tryHold(rect(20, 20, 1, 1))
	w.wants(err, "limit")
}
