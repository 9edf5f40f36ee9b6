package market_test

import (
	"sync/atomic"
	"testing"
	"time"

	"tuval/internal/capacity"
	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/rental"
)

func launch(reviews, pixels int64) options {
	return options{rules: func(r *market.Rules) { r.Launch = capacity.Limits{ReviewsPerHour: reviews, PixelsPerDay: pixels} }}
}

// hour is a go-live time so many days ahead, at ten.
func (w *world) hour(days int) time.Time {
	w.t.Helper()
	return w.now().UTC().Truncate(24 * time.Hour).Add(time.Duration(days)*24*time.Hour + 10*time.Hour)
}

func chosen(at time.Time) market.Purchase {
	p := weeks(1)
	p.GoLiveAt = &at
	return p
}

// used is what is counted of a metric in the window of an instant.
func (w *world) used(metric capacity.Metric, at time.Time) int {
	w.t.Helper()
	return w.count(`SELECT COALESCE(sum(used), 0) FROM capacity_counters WHERE metric = $1 AND bucket = $2`, metric, metric.Bucket(at))
}

func (w *world) counts(at time.Time, images, pixels int) {
	w.t.Helper()
	if i, p := w.used(capacity.ReviewImages, at), w.used(capacity.LaunchPixels, at); i != images || p != pixels {
		w.t.Errorf("at %v: %d images and %d pixels, want %d and %d", at, i, p, images, pixels)
	}
}

func TestAChosenHourIsReservedMovedAndGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(60, 200_000))
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	first, second := w.hour(3), w.hour(3).Add(2*time.Hour)
	for range 2 { // the same page again reserves nothing more
		_, err := b.tryCheckout(h.Key, chosen(first))
		w.must(err)
		w.counts(first, 1, 2_400)
	}
	_, err := b.tryCheckout(h.Key, chosen(second))
	w.must(err)
	w.counts(first, 0, 2_400)
	w.counts(second, 1, 2_400)
	w.intact()
	b.checkout(h.Key, 1)
	w.counts(second, 0, 0)
	o, err := b.tryCheckout(h.Key, chosen(second))
	w.must(err)
	w.pay(o)
	w.must(w.m.Return(w.ctx(), b.who, h.Key))
	w.counts(second, 1, 2_400)
	_, err = w.decide(b.submit(h.Key, 1), true)
	w.must(err)
	w.counts(second, 1, 2_400)
	w.must(w.m.Remove(w.ctx(), market.Removal{Rental: h.Key, Reason: "no", By: "admin@example.com", Refund: true}))
	w.counts(second, 0, 0)
	if taken, back := w.events(h.Key, "slot.taken"), w.events(h.Key, "slot.returned"); taken != 3 || back != 3 {
		t.Errorf("%d taken, %d returned", taken, back)
	}
	const sameDue = `SELECT count(DISTINCT effective_at) FROM ledger WHERE kind IN ('slot.taken', 'slot.returned')`
	if n := w.count(sameDue); n != 2 {
		t.Errorf("%d due times", n)
	}
	w.intact()
}

// A hold that ends, by time or by its buyer, gives its hour back; so does a
// takeover that ends several at once.
func TestAnEndedCheckoutGivesItsHourBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(60, 200_000))
	at := w.hour(2)
	one, two := w.buyer(), w.buyer()
	left := one.hold(rect(0, 0, 2, 2))
	right := two.hold(rect(2, 0, 2, 2))
	_, err := one.tryCheckout(left.Key, chosen(at))
	w.must(err)
	_, err = two.tryCheckout(right.Key, chosen(at))
	w.must(err)
	w.counts(at, 2, 800)
	w.must(one.cancel(left.Key))
	w.counts(at, 1, 400)
	left = one.hold(rect(0, 0, 2, 2))
	_, err = one.tryCheckout(left.Key, chosen(at))
	w.must(err)
	w.lapse(left.Key)
	w.lapse(right.Key)
	w.buyer().hold(rect(1, 0, 2, 2))
	w.counts(at, 0, 0)
	w.state(left.Key, rental.Closed, rental.Expired)
	w.intact()
}

// What was due before the rental closed was used.
func TestNothingIsGivenBackOnceItWasDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(60, 200_000))
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	at := w.hour(2)
	o, err := b.tryCheckout(h.Key, chosen(at))
	w.must(err)
	w.pay(o)
	w.must(w.m.Return(w.ctx(), b.who, h.Key))
	w.age(96 * time.Hour)
	due := at.Add(-96 * time.Hour)
	w.counts(at, 0, 0)
	w.counts(due, 1, 2_400)
	_, err = w.decide(b.submit(h.Key, 1), true) // later than due: moves nothing
	w.must(err)
	w.must(w.m.Remove(w.ctx(), market.Removal{Rental: h.Key, Reason: "no", By: "admin@example.com"}))
	w.counts(due, 1, 2_400)
	if n := w.count(`SELECT sum(used) FROM capacity_counters WHERE metric = 'review.images'`); n != 1 {
		t.Errorf("%d images", n)
	}
	w.intact()
}

// Whoever chose no time is never refused, and counts at the approval; so does
// money that comes late.
func TestOnlyAChosenHourIsLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(1, 1))
	b := w.buyer()
	for i := range 2 {
		r := b.paid(rect(10*i, 1, 6, 4), 1)
		_, err := w.decide(b.submit(r.Key, i), true)
		w.must(err)
	}
	if n := w.count(`SELECT sum(used) FROM capacity_counters WHERE metric = 'launch.pixels'`); n != 4_800 {
		t.Errorf("%d pixels", n)
	}
	h := b.hold(rect(50, 50, 1, 1))
	_, err := b.tryCheckout(h.Key, chosen(w.hour(2)))
	f := w.wants(err, "full")
	if f.Kind != fault.Conflict || f.Details["metric"] != capacity.LaunchPixels || f.Details["used"] != int64(0) || f.Details["limit"] != int64(1) || f.Details["at"] != w.hour(2) {
		t.Errorf("%+v", f)
	}
	w.intact()
}

// A page that was paid after its rental ended has its hour all the same,
// though others took the last place meanwhile.
func TestLateMoneyIsEnteredBeyondTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(1, 0))
	b, other := w.buyer(), w.buyer()
	at := w.hour(2)
	h := b.hold(rect(1, 1, 6, 4))
	late, err := b.tryCheckout(h.Key, chosen(at))
	w.must(err)
	taken := other.hold(rect(20, 20, 2, 2))
	_, err = other.tryCheckout(taken.Key, chosen(at))
	w.wants(err, "full")
	w.exec(`UPDATE payments SET state = 'expired', ended_at = now() WHERE state = 'open'`)
	w.lapse(h.Key)
	w.must(w.m.Settle(w.ctx(), h.ID))
	w.counts(at, 0, 0)
	_, err = other.tryCheckout(taken.Key, chosen(at))
	w.must(err)
	w.payLate(late)
	w.must(w.m.Return(w.ctx(), b.who, h.Key))
	w.deliver()
	w.state(h.Key, rental.Paid)
	w.counts(at, 2, 2_800)
	w.intact()
}

// A time that is full is refused before the page that is open is given up.
func TestAFullHourCostsNobodyTheOpenPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(1, 0))
	b, other := w.buyer(), w.buyer()
	full, free := w.hour(2), w.hour(3)
	_, err := other.tryCheckout(other.hold(rect(20, 20, 2, 2)).Key, chosen(full))
	w.must(err)
	h := b.hold(rect(1, 1, 6, 4))
	o, err := b.tryCheckout(h.Key, chosen(free))
	w.must(err)
	_, err = b.tryCheckout(h.Key, chosen(full))
	w.wants(err, "full")
	if again, err := b.tryCheckout(h.Key, chosen(free)); err != nil || again != o {
		t.Errorf("%+v, %v", again, err)
	}
	w.counts(free, 1, 2_400)
	w.intact()
}

// Limits below what is used: nothing is cancelled, nothing more is taken, and
// what is given up can be given back.
func TestALimitBelowWhatIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(60, 200_000))
	at := w.hour(2)
	var keys []string
	bs := w.buyers(3)
	for i, b := range bs {
		h := b.hold(rect(10*i, 0, 2, 2))
		_, err := b.tryCheckout(h.Key, chosen(at))
		w.must(err)
		keys = append(keys, h.Key)
	}
	w.m = w.market(launch(1, 100))
	w.counts(at, 3, 1_200)
	late := w.buyer()
	h := late.hold(rect(50, 50, 1, 1))
	for _, b := range bs {
		_, err := late.tryCheckout(h.Key, chosen(at))
		w.wants(err, "full")
		w.state(keys[0], rental.Paying)
		w.must(b.m.Cancel(w.ctx(), b.who, keys[0]))
		keys = keys[1:]
	}
	w.counts(at, 0, 0)
	_, err := late.tryCheckout(h.Key, chosen(at))
	w.must(err)
	w.intact()
}

// Two processes and many buyers want the last places of an hour at once, in
// rects that are small and large: as many win as there are places.
func TestTheLastPlacesOfAnHour(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits options
		wins   int
	}{
		"images": {launch(3, 0), 3},
		"pixels": {launch(0, 2_000), 5}, // of 400 each
	} {
		w := newWorld(t, c.limits)
		at := w.hour(4)
		ms := w.processes(2, c.limits)
		var held []market.Held
		bs := w.buyers(16)
		for i, b := range bs {
			held = append(held, b.hold(rect(5*i, 0, 2, 2)))
		}
		var full atomic.Int32
		errs := w.rush(len(bs), func(i int) error {
			_, err := ms[i%2].Checkout(w.ctx(), bs[i].who, held[i].Key, chosen(at))
			if fault.Is(err, "full") {
				full.Add(1)
			}
			return err
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			}
		}
		if won != c.wins || int(full.Load()) != len(bs)-c.wins {
			t.Errorf("%s: %d won, %d were told that it is full: %v", name, won, full.Load(), errs)
		}
		w.counts(at, c.wins, c.wins*400)
		w.intact()
		w.noDeadlocks()
	}
}

// Choices move from hour to hour, in both directions at once: counters are
// written in one order, so nobody is in anybody's way.
func TestChoicesCrossWithoutDeadlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, launch(60, 200_000))
	bs := w.buyers(8)
	var held []market.Held
	for i, b := range bs {
		held = append(held, b.hold(rect(5*i, 0, 2, 2)))
	}
	hours := []time.Time{w.hour(2), w.hour(3)}
	for round := range 3 {
		for _, err := range w.rush(len(bs), func(i int) error {
			_, err := bs[i].tryCheckout(held[i].Key, chosen(hours[(i+round)%2]))
			return err
		}) {
			w.must(err)
		}
	}
	for _, at := range hours {
		w.counts(at, 4, 1_600)
	}
	w.intact()
	w.noDeadlocks()
}

// Very many payments at once: a soft limit, which whoever has begun does not
// meet again.
func TestVeryManyPaymentsAreBegunLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.m.Measure(capacity.NewMemory(w.pool, capacity.Limits{CheckoutsPer15M: 2}, capacity.Options{Clock: time.Now, Idle: time.Hour}))
	bs := w.buyers(3)
	var held []market.Held
	for i, b := range bs {
		held = append(held, b.hold(rect(5*i, 0, 2, 2)))
	}
	first := bs[0].checkout(held[0].Key, 1)
	bs[1].checkout(held[1].Key, 1)
	// As many in the next quarter of an hour: which of the two it is does not matter.
	w.exec(`INSERT INTO ledger (kind, effective_at, recorded_at, currency, actor)
		SELECT 'checkout.begun', now(), now() + interval '15 min', 'usd', 'buyer' FROM generate_series(1, 2)`)
	_, err := bs[2].tryCheckout(held[2].Key, weeks(1))
	if f := w.wants(err, "limit"); f.RetryAfter <= 0 || f.Details["metric"] != capacity.CheckoutStarts {
		t.Errorf("%+v", f)
	}
	w.state(held[2].Key, rental.Held)
	if again := bs[0].checkout(held[0].Key, 1); again != first {
		t.Errorf("another page: %+v", again)
	}
	bs[0].checkout(held[0].Key, 2)
	w.age(15 * time.Minute) // a quarter later, whatever it is; but their holds are over
	if _, err := bs[2].tryCheckout(bs[2].hold(rect(5, 50, 2, 2)).Key, weeks(1)); err != nil {
		t.Error(err)
	}
	w.intact()
}
