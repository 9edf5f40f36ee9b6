package turnstile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// Rects at the edges of the canvas are whole, and rects that touch do not
// overlap.
func TestEdgesAndNeighbours(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	for _, rects := range [][]grid.Rect{
		{rect(0, 0, 1, 1)},
		{rect(99, 99, 1, 1)},
		{rect(99, 0, 1, 100)},
		{rect(0, 0, 100, 1)},
		{rect(0, 0, 100, 100)},
		{rect(90, 90, 10, 10)},
		{rect(0, 0, 10, 10), rect(10, 0, 10, 10)},
		{rect(0, 20, 10, 10), rect(0, 30, 10, 10)},
		{rect(40, 40, 10, 10), rect(50, 50, 10, 10)},
	} {
		for _, r := range rects {
			if n := c.owned(c.must(r, time.Minute)); n != r.Area() {
				t.Errorf("%v has %d blocks", r, n)
			}
		}
		c.exec(`UPDATE blocked_areas SET closed_at = now()`)
		c.exec(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id IS NOT NULL`)
	}
	c.intact()
}

// A lease holds until its last microsecond and not one longer; nobody's clock
// but the database's is asked.
func TestLeaseEndsAtItsInstant(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	for offset, want := range map[time.Duration]error{
		-time.Microsecond: nil, 0: nil, time.Microsecond: turnstile.ErrTaken,
	} {
		err := c.tx(func(ctx context.Context, tx pgx.Tx) error {
			old, until, err := newClaim(ctx, tx, rect(5, 5, 2, 2), offset)
			if err != nil {
				return err
			}
			if err := turnstile.Claim(ctx, tx, old, until, nil); err != nil {
				return err
			}
			owners, err := turnstile.Owners(ctx, tx, rect(6, 6, 3, 3))
			if err != nil {
				return err
			}
			if len(owners) != 1 || owners[0].Claim != old.Claim || owners[0].Lapsed != (want == nil) {
				t.Errorf("lease ends at now%+d: owners %+v", offset, owners)
			}
			l, later, err := newClaim(ctx, tx, rect(6, 6, 3, 3), time.Minute)
			if err != nil {
				return err
			}
			// Nobody is given up: a lapsed owner is one to ask for, a running one final.
			if err := turnstile.Claim(ctx, tx, l, later, nil); want == nil && !errors.Is(err, turnstile.ErrMoved) || want != nil && !errors.Is(err, want) {
				t.Errorf("lease ends at now%+d, not given: %v", offset, err)
			}
			if want != nil {
				return nil
			}
			return turnstile.Claim(ctx, tx, l, later, []turnstile.Lease{old})
		})
		if err != nil {
			t.Errorf("lease ends at now%+d: %v", offset, err)
		}
		c.exec(`UPDATE blocked_areas SET closed_at = now()`)
		c.exec(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id IS NOT NULL`)
	}
	c.intact()
}

// A hold is replaced by an overlapping one in one step; if the new rect cannot
// be had, the old one stays as it was.
func TestReplaceOwnHold(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	other := c.must(rect(30, 10, 4, 4), time.Minute)
	old := c.must(rect(10, 10, 6, 4), time.Minute)
	if _, err := c.claim(rect(12, 10, 20, 4), time.Minute, old); !errors.Is(err, turnstile.ErrTaken) {
		t.Fatalf("a replacement into somebody else's blocks: %v", err)
	}
	if n := c.owned(old); n != 24 {
		t.Fatalf("the old hold has %d blocks after its replacement failed", n)
	}
	moved, err := c.claim(rect(13, 12, 6, 4), time.Minute, old)
	if err != nil {
		t.Fatal(err)
	}
	if o, m := c.owned(old), c.owned(moved); o != 0 || m != 24 {
		t.Errorf("after the replacement the old hold has %d blocks, the new one %d", o, m)
	}
	// What the old one leaves free is free for all.
	c.must(rect(10, 10, 3, 4), time.Minute)
	if n := c.owned(other); n != 16 {
		t.Errorf("the neighbour has %d blocks", n)
	}
	c.intact()
}

// A claim that gives up several others at once, apart from each other and
// larger than itself.
func TestDisplaceManyAtOnce(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	var old []turnstile.Lease
	for _, r := range []grid.Rect{rect(0, 0, 30, 3), rect(0, 3, 3, 40), rect(5, 5, 1, 1), rect(8, 3, 2, 60), rect(40, 3, 5, 5)} {
		old = append(old, c.must(r, time.Minute))
	}
	for _, l := range old {
		c.lapse(l)
	}
	l := c.must(rect(2, 2, 7, 7), time.Minute)
	for i, want := range []int{0, 0, 0, 0, 25} {
		if n := c.owned(old[i]); n != want {
			t.Errorf("%v has %d blocks, want %d", old[i].Rect, n, want)
		}
	}
	if n := c.owned(l); n != 49 {
		t.Errorf("the new claim has %d blocks", n)
	}
	c.intact()
}

// What comes late changes nothing and says so.
func TestLateChangesNothing(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	old := c.must(rect(10, 10, 6, 4), time.Minute)
	c.lapse(old)
	c.must(rect(15, 13, 2, 2), time.Minute) // takes one block of it
	for name, late := range map[string]func() error{
		"keep": func() error { return c.keep(old, time.Hour) },
		"end":  func() error { return c.end(old) },
		"release": func() error {
			return c.tx(func(ctx context.Context, tx pgx.Tx) error { return turnstile.Release(ctx, tx, old) })
		},
	} {
		if err := late(); !errors.Is(err, turnstile.ErrLost) {
			t.Errorf("late %s: %v", name, err)
		}
	}
	c.intact()
}

// A lease that ran out is still its owner's while nobody took a block: it can
// be extended, claimed again, or given back.
func TestLapsedIsStillOnesOwn(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	l := c.must(rect(10, 10, 6, 4), time.Minute)
	c.lapse(l)
	again := func(until time.Duration) error {
		return c.tx(func(ctx context.Context, tx pgx.Tx) error {
			var at time.Time
			if err := tx.QueryRow(ctx, `UPDATE blocked_areas SET until = now() + $2 WHERE id = $1 RETURNING until`, l.Claim, until).Scan(&at); err != nil {
				return err
			}
			return turnstile.Claim(ctx, tx, l, at, nil)
		})
	}
	if err := again(-time.Second); err != nil {
		t.Errorf("claimed again: %v", err)
	}
	if err := c.keep(l, time.Minute); err != nil {
		t.Errorf("kept: %v", err)
	}
	if err := again(time.Hour); err != nil {
		t.Errorf("claimed again while it runs: %v", err)
	}
	if err := c.end(l); err != nil {
		t.Errorf("ended: %v", err)
	}
	c.intact()
}

// After a refusal the transaction goes on: a late payment is booked as a
// refund in the one that tried to claim again.
func TestTransactionSurvivesRefusal(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	c.must(rect(10, 10, 6, 4), time.Minute)
	err := c.tx(func(ctx context.Context, tx pgx.Tx) error {
		l, until, err := newClaim(ctx, tx, rect(12, 10, 2, 2), time.Minute)
		if err != nil {
			return err
		}
		if err := turnstile.Claim(ctx, tx, l, until, nil); !errors.Is(err, turnstile.ErrTaken) {
			t.Errorf("claim of taken blocks: %v", err)
		}
		_, err = tx.Exec(ctx, `UPDATE blocked_areas SET note = 'refund', closed_at = now() WHERE id = $1`, l.Claim)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if n := c.exec(`UPDATE blocked_areas SET note = '' WHERE note = 'refund'`); n != 1 {
		t.Errorf("%d rows were written after the refusal", n)
	}
	c.intact()
}

// Who waits too long for somebody else's transaction is told to come back,
// never that the blocks are taken.
func TestWaitingTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	err := c.tx(func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM blocks WHERE y = 10 AND x = 11 FOR UPDATE`); err != nil {
			return err
		}
		errs := together(4, func(int) error {
			return c.tx(func(ctx context.Context, tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '50ms'`); err != nil {
					return err
				}
				l, until, err := newClaim(ctx, tx, rect(10, 10, 6, 4), time.Minute)
				if err != nil {
					return err
				}
				return turnstile.Claim(ctx, tx, l, until, nil)
			})
		})
		for _, err := range errs {
			if !fault.Is(err, "unavailable") {
				t.Errorf("claim behind an endless transaction: %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	c.intact()
}

// Taken sees the running leases of others, of any block of the rect.
func TestTaken(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	a, b := c.must(rect(10, 10, 5, 5), time.Minute), c.must(rect(15, 10, 5, 5), time.Minute)
	lapsed := c.must(rect(30, 30, 5, 5), time.Minute)
	c.lapse(lapsed)
	for _, k := range []struct {
		rect grid.Rect
		own  []turnstile.ClaimID
		want bool
	}{
		{rect(14, 14, 1, 1), nil, true},
		{rect(15, 14, 1, 1), nil, true},
		{rect(15, 15, 5, 5), nil, false},
		{rect(5, 10, 5, 5), nil, false},
		{rect(20, 10, 1, 5), nil, false},
		{rect(14, 10, 2, 2), []turnstile.ClaimID{a.Claim}, true},
		{rect(14, 10, 2, 2), []turnstile.ClaimID{b.Claim, a.Claim}, false},
		{rect(30, 30, 5, 5), nil, false},
		{grid.Whole(), nil, true},
	} {
		if got, err := turnstile.Taken(t.Context(), c, k.rect, k.own...); err != nil || got != k.want {
			t.Errorf("taken %v but for %v: %v, %v", k.rect, k.own, got, err)
		}
	}
	c.intact()
}

// Owners are sorted, each once, and free blocks have none.
func TestOwners(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	a, b := c.must(rect(0, 0, 5, 5), time.Minute), c.must(rect(5, 0, 5, 5), time.Minute)
	far := c.must(rect(50, 50, 1, 1), time.Minute)
	c.lapse(b)
	for _, k := range []struct {
		rect grid.Rect
		want []turnstile.Owner
	}{
		{rect(20, 20, 10, 10), nil},
		{rect(3, 3, 10, 10), []turnstile.Owner{{Claim: a.Claim}, {Claim: b.Claim, Lapsed: true}}},
		{grid.Whole(), []turnstile.Owner{{Claim: a.Claim}, {Claim: b.Claim, Lapsed: true}, {Claim: far.Claim}}},
	} {
		got, err := turnstile.Owners(t.Context(), c, k.rect)
		if err != nil || len(got) != len(k.want) {
			t.Errorf("owners of %v: %+v, %v, want %+v", k.rect, got, err, k.want)
			continue
		}
		for i := range got {
			if got[i] != k.want[i] {
				t.Errorf("owners of %v: %+v, want %+v", k.rect, got, k.want)
			}
		}
	}
	c.intact()
}
