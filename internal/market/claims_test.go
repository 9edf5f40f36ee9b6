package market_test

import (
	"testing"

	"tuval/internal/grid"
	"tuval/internal/market"
)

// C01: fifty buyers, two rects that share one block, at one instant: one gets
// the whole of one, and what is left of the other can be had at once.
func TestOneSharedBlockHasOneWinner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 32})
	people := w.buyers(50)
	a, b := rect(60, 60, 10, 10), rect(69, 69, 10, 10)
	for round := range 20 {
		held := make([]market.Held, 50)
		errs := w.rush(50, func(i int) (err error) {
			held[i], err = people[i].tryHold([]grid.Rect{a, b}[i%2])
			return err
		})
		won := winners(t, errs, "taken")
		if len(won) != 1 {
			t.Fatalf("round %d: %d winners", round, len(won))
		}
		w.intact()
		if n := w.count(`SELECT count(*) FROM rentals WHERE state = 'held'`); n != 1 {
			t.Fatalf("round %d: %d holds", round, n)
		}
		loser := rect(60, 60, 9, 10)
		if won[0]%2 == 0 {
			loser = rect(70, 69, 9, 10)
		}
		other := people[(won[0]+1)%50]
		rest := other.hold(loser)
		w.must(other.cancel(rest.Key))
		w.must(people[won[0]].cancel(held[won[0]].Key))
	}
	w.settled()
	w.sound()
	w.noDeadlocks()
}
