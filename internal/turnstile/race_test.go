package turnstile_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// Two rects that share one block, 25 buyers each, at the same instant: one
// wins, and the 99 other blocks of the losing rect are free at once.
func TestOneSharedBlockHasOneWinner(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 32).warm()
	a, b := rect(60, 60, 10, 10), rect(69, 69, 10, 10)
	for round := range 20 {
		leases := make([]turnstile.Lease, 50)
		errs := together(50, func(i int) (err error) {
			leases[i], err = c.claim([]grid.Rect{a, b}[i%2], time.Minute)
			return err
		})
		won := winners(t, errs, turnstile.ErrTaken)
		if len(won) != 1 {
			t.Fatalf("round %d: %d winners", round, len(won))
		}
		loser := rect(60, 60, 9, 10)
		if won[0]%2 == 0 {
			loser = rect(70, 69, 9, 10)
		}
		rest := c.must(loser, time.Minute)
		for _, l := range []turnstile.Lease{rest, leases[won[0]]} {
			if err := c.end(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.intact()
}

// One hot rect, 64 buyers.
func TestHotRectHasOneWinner(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 64).warm()
	for round := range 10 {
		leases := make([]turnstile.Lease, 64)
		errs := together(64, func(i int) (err error) {
			leases[i], err = c.claim(rect(47, 48, 6, 4), time.Minute)
			return err
		})
		won := winners(t, errs, turnstile.ErrTaken)
		if len(won) != 1 {
			t.Fatalf("round %d: %d winners", round, len(won))
		}
		if err := c.end(leases[won[0]]); err != nil {
			t.Fatal(err)
		}
	}
	c.intact()
}

// Every mixture of rects: the winners have all of theirs and overlap nobody,
// and every loser overlaps a winner, so it never happens that all lose. The
// guard is off: the statement alone must do it.
func TestMixturesAreAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, conns := range map[string]int{"8 connections": 8, "32 connections": 32, "48 connections": 48} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCanvas(t, conns).unguarded().warm()
			for round := range 12 {
				mixture(t, c, rand.New(rand.NewPCG(uint64(round), uint64(conns))))
			}
			c.intact()
		})
	}
}

func mixture(t *testing.T, c canvas, r *rand.Rand) {
	rects := make([]grid.Rect, 64)
	for i := range rects {
		rects[i] = rect(r.IntN(30), r.IntN(30), 1+r.IntN(20), 1+r.IntN(20))
	}
	leases := make([]turnstile.Lease, len(rects))
	errs := together(len(rects), func(i int) (err error) {
		leases[i], err = c.claim(rects[i], time.Minute)
		return err
	})
	won := winners(t, errs, turnstile.ErrTaken)
	for i := range rects {
		if slices.Contains(won, i) {
			if n := c.owned(leases[i]); n != rects[i].Area() {
				t.Errorf("%v was won and has %d blocks", rects[i], n)
			}
		}
		beaten := slices.ContainsFunc(won, func(w int) bool { return w != i && rects[w].Overlaps(rects[i]) })
		if beaten == slices.Contains(won, i) {
			t.Errorf("%v: won %v, overlaps a winner %v", rects[i], !beaten, beaten)
		}
	}
	for _, w := range won {
		if err := c.end(leases[w]); err != nil {
			t.Error(err)
		}
	}
}

// The canvas at 32 connections is full of leases that ran out. Whoever takes a
// block of one ends it whole, and nobody ends it twice.
func TestTakeoversDisplaceWholeClaims(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 32).unguarded().warm()
	for round := range 8 {
		var old []turnstile.Lease
		for i := range 16 {
			old = append(old, c.must(rect(i%4*8, i/4*8, 8, 8), time.Minute))
		}
		for _, l := range old {
			c.lapse(l)
		}
		leases := make([]turnstile.Lease, 32)
		errs := together(32, func(i int) (err error) {
			leases[i], err = c.claim(rect(i%8*3+1, i/8*7+1, 6, 6), time.Minute)
			return err
		})
		won := winners(t, errs, turnstile.ErrTaken)
		if len(won) == 0 {
			t.Fatalf("round %d: nobody won", round)
		}
		for _, l := range old {
			displaced := slices.ContainsFunc(won, func(w int) bool { return leases[w].Rect.Overlaps(l.Rect) })
			if n := c.owned(l); displaced && n != 0 || !displaced && n != 64 {
				t.Errorf("round %d: %v, displaced %v, has %d blocks", round, l.Rect, displaced, n)
			}
			if err := c.end(l); displaced != (err != nil) {
				t.Errorf("round %d: %v, displaced %v, ended late: %v", round, l.Rect, displaced, err)
			}
		}
		for _, w := range won {
			if err := c.end(leases[w]); err != nil {
				t.Error(err)
			}
		}
	}
	c.intact()
}

// A payment (extend), an expiry (release) and a takeover meet at one lapsed
// hold: the takeover and the owner never both have it.
func TestLateOwnerAgainstTakeover(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 32).unguarded().warm()
	for round := range 25 {
		old := c.must(rect(10, 10, 6, 4), time.Minute)
		c.lapse(old)
		leases := make([]turnstile.Lease, 9)
		errs := together(9, func(i int) (err error) {
			switch i % 3 {
			case 0:
				leases[i], err = c.claim(rect(13+i/3, 12, 6, 4), time.Minute)
			case 1:
				err = c.keep(old, time.Hour)
			case 2:
				err = c.tx(func(ctx context.Context, tx pgx.Tx) error {
					return turnstile.Extend(ctx, tx, old, time.Unix(1, 0)) // an owner who did not lock its row
				})
			}
			return err
		})
		won := winners(t, errs, turnstile.ErrTaken, turnstile.ErrLost, turnstile.ErrMoved)
		taken := 0
		for _, w := range won {
			if w%3 == 0 {
				taken++
			}
		}
		if n := c.owned(old); taken > 1 || (taken == 1) != (n == 0) {
			t.Fatalf("round %d: %d takeovers, the old claim has %d blocks", round, taken, n)
		}
		c.exec(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id IS NOT NULL`)
		c.exec(`UPDATE blocked_areas SET closed_at = now() WHERE closed_at IS NULL`)
	}
	c.intact()
}

// Many hands on the same few claims, none of which locks the claim's row: not
// how the product does it, but the order of the blocks alone must keep them
// from locking each other out.
func TestManyHandsWithoutRowLocks(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 32).warm()
	var leases []turnstile.Lease
	for i := range 3 {
		l := c.must(rect(10+4*i, 10+4*i, 8, 8), -time.Minute) // each lapsed before the next overlaps it
		leases = append(leases, l)
	}
	errs := together(32, func(i int) error {
		l, r := leases[i%3], rand.New(rand.NewPCG(uint64(i), 3))
		for range 40 {
			until := time.Unix(r.Int64N(10), 0) // over at once, and different each time
			err := c.tx(func(ctx context.Context, tx pgx.Tx) error {
				switch r.IntN(4) {
				case 0:
					return turnstile.Extend(ctx, tx, l, until)
				case 1:
					return turnstile.Release(ctx, tx, l)
				case 2:
					return turnstile.Claim(ctx, tx, l, until, nil)
				default:
					return turnstile.Claim(ctx, tx, l, until, []turnstile.Lease{leases[r.IntN(3)], leases[r.IntN(3)]})
				}
			})
			if _, known := nameOf(err); !known {
				return err
			}
		}
		return nil
	})
	if n := len(winners(t, errs)); n != 32 {
		t.Errorf("%d of 32 came through", n)
	}
	c.noDeadlocks()
}
