package market_test

import (
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/rental"
)

// down lets time pass while no server is there.
func (w *world) down(length time.Duration) {
	w.t.Helper()
	w.must(w.m.Beat(w.ctx()))
	w.age(length)
	w.exec(`UPDATE heartbeat SET beat_at = beat_at - $1::interval`, length)
}

func (w *world) wake() market.Outage {
	w.t.Helper()
	o, err := w.m.Wake(w.ctx())
	w.must(err)
	return o
}

// After an outage the blocks of whoever may have paid are kept until Stripe
// could be asked, and a pass is put in; nobody takes them in that time.
func TestStartAfterAnOutageKeepsBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	_, h, _ := w.unheard()
	idle := w.buyer()
	lapsed := idle.hold(rect(50, 50, 2, 2)) // no page: nobody can have paid
	w.down(45 * time.Minute)                // the page and the grace are over
	other := w.buyer()
	o := w.wake()
	if !o.Was || o.Prolonged != 1 {
		t.Fatalf("%+v", o)
	}
	if left := w.left(w.rental(h.Key)); left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("%v left", left)
	}
	if n := w.count(`SELECT count(*) FROM river_job WHERE kind = 'reconcile' AND args ->> 'by' = 'start'`); n != 1 {
		t.Errorf("%d passes put in", n)
	}
	_, err := other.tryHold(rect(1, 1, 1, 1))
	w.wants(err, "taken")
	other.hold(rect(50, 50, 2, 2)) // free blocks at once
	w.sound()
	w.exec(`DELETE FROM river_job WHERE kind IN ('reconcile', 'end_checkout')`)
	w.pass()
	w.state(h.Key, rental.Paid)
	w.state(lapsed.Key, rental.Closed, rental.Expired)
	w.sound()
}

// Once: neither by several that start at once nor by one that starts again.
func TestStartsAtOnceKeepOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	_, h, _ := w.unheard()
	w.down(45 * time.Minute)
	ms := w.processes(6, options{})
	outages := make([]market.Outage, 6)
	for _, err := range together(6, func(i int) (err error) {
		outages[i], err = ms[i].Wake(w.ctx())
		return err
	}) {
		w.must(err)
	}
	kept, was := 0, 0
	for _, o := range outages {
		kept += o.Prolonged
		if o.Was {
			was++
		}
	}
	if kept != 1 || was != 1 {
		t.Errorf("%d kept, %d times", kept, was)
	}
	until := w.rental(h.Key).LeasedUntil
	if o := w.wake(); o.Was || !w.rental(h.Key).LeasedUntil.Equal(*until) {
		t.Errorf("again: %+v", o)
	}
	if n := w.count(`SELECT count(*) FROM ledger WHERE kind = 'hold.prolonged'`); n > 2 { // one is of the checkout itself
		t.Errorf("%d events", n)
	}
	w.exec(`DELETE FROM river_job WHERE kind = 'reconcile'`)
	w.sound()
	w.noDeadlocks()
}

// A restart is no outage, and whose lease was over before the stop, whose
// possession is as long as it may be, or who has time enough, is left alone.
func TestStartLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, down time.Duration
		kept         int
		left         time.Duration
	}{
		"a restart":               {0, 50 * time.Second, 0, 40*time.Minute + 10*time.Second},
		"time enough":             {0, 30 * time.Minute, 0, 11 * time.Minute},
		"about to run out":        {0, 32 * time.Minute, 1, 10 * time.Minute},
		"over during the stop":    {0, 70 * time.Minute, 1, 10 * time.Minute},
		"to the longest":          {0, 85 * time.Minute, 1, 5 * time.Minute},
		"longer than the longest": {0, 91 * time.Minute, 0, -50 * time.Minute},
		"four days":               {0, 96 * time.Hour, 0, 41*time.Minute - 96*time.Hour},
		"over before the stop":    {42 * time.Minute, 5 * time.Minute, 0, -6 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			_, h, _ := w.unheard()
			if c.before > 0 {
				w.age(c.before)
			}
			w.down(c.down)
			if o := w.wake(); o.Prolonged != c.kept || o.Was != (c.down > time.Minute) {
				t.Errorf("%+v", o)
			}
			if left := w.left(w.rental(h.Key)); left > c.left || left < c.left-20*time.Second {
				t.Errorf("%v left, want %v", left, c.left)
			}
		})
	}
}

// A renewal that was being paid is kept, too, but not endlessly.
func TestStartKeepsRenewals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.onCanvas(rect(1, 1, 3, 3), 1)
	w.age(168*time.Hour + 47*time.Hour + 59*time.Minute)
	w.settled()
	o, err := w.m.Renew(w.ctx(), b.who, r.Key, market.More{Weeks: 1})
	w.must(err)
	w.pay(o)
	w.down(45 * time.Minute)
	if got := w.wake(); got.Prolonged != 1 {
		t.Fatalf("%+v", got)
	}
	// Reserved until 44 min ago; 51 min after that is the most.
	if left := w.left(w.rental(r.Key)); left > 7*time.Minute+time.Second || left < 6*time.Minute {
		t.Errorf("%v left", left)
	}
	w.pass()
	w.state(r.Key, rental.Live)
	w.sound()
}
