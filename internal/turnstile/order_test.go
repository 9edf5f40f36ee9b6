package turnstile_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/turnstile"
)

// Every verb locks blocks by (y, x), wherever they lie in the table. Somebody
// holds one block of the rect; the verb comes to wait there; then exactly the
// blocks before it are locked.
func TestBlocksAreLockedInOrder(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	c.scatter()
	r := rect(30, 40, 7, 5)
	verbs := map[string]func(ctx context.Context, tx pgx.Tx, l, old turnstile.Lease, until time.Time) error{
		"claim": func(ctx context.Context, tx pgx.Tx, l, _ turnstile.Lease, until time.Time) error {
			return turnstile.Claim(ctx, tx, l, until, nil)
		},
		"take over": func(ctx context.Context, tx pgx.Tx, l, old turnstile.Lease, until time.Time) error {
			return turnstile.Claim(ctx, tx, l, until, []turnstile.Lease{old})
		},
		"extend": func(ctx context.Context, tx pgx.Tx, _, old turnstile.Lease, until time.Time) error {
			return turnstile.Extend(ctx, tx, old, until)
		},
		"release": func(ctx context.Context, tx pgx.Tx, _, old turnstile.Lease, _ time.Time) error {
			return turnstile.Release(ctx, tx, old)
		},
	}
	for name, verb := range verbs {
		for _, k := range []int{0, 1, 13, 33, 34} {
			c.exec(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id IS NOT NULL`)
			old := turnstile.Lease{}
			if name != "claim" {
				old = c.must(r, time.Minute)
			}
			err := c.behind(r.X+k%r.W, r.Y+k/r.W, func(ctx context.Context, tx pgx.Tx) error {
				l, until, err := newClaim(ctx, tx, r, time.Minute)
				if err != nil {
					return err
				}
				return verb(ctx, tx, l, old, until)
			}, func(left [][2]int) {
				var want [][2]int // by (y, x), after the k-th
				for i := k + 1; i < r.Area(); i++ {
					want = append(want, [2]int{r.Y + i/r.W, r.X + i%r.W})
				}
				if !slices.Equal(left, want) {
					t.Errorf("%s behind block %d: still free to lock are %v, want %v", name, k, left, want)
				}
			})
			if err != nil {
				t.Errorf("%s behind block %d: %v", name, k, err)
			}
		}
	}
}

// scatter moves the blocks of the watched rect to other pages of the table, the
// last one first, so that neither the order of the table nor that of the
// index's pointers into it is that of the canvas. A row leaves its page when
// the page is full of versions that cannot be removed yet.
func (c canvas) scatter() {
	c.t.Helper()
	c.exec(`DO $$
	BEGIN
		FOR i IN REVERSE 34..0 LOOP
			FOR n IN 1..200 LOOP
				UPDATE blocks SET leased_until = 'epoch' WHERE y = 40 + i / 7 AND x = 30 + i % 7;
			END LOOP;
		END LOOP;
	END $$`)
}

// behind runs fn while another transaction holds a block, and shows, once fn
// waits for it, which blocks of the rect a third one can still lock.
func (c canvas) behind(x, y int, fn func(ctx context.Context, tx pgx.Tx) error, look func(left [][2]int)) error {
	done := make(chan error, 1)
	err := c.tx(func(ctx context.Context, holder pgx.Tx) error {
		if _, err := holder.Exec(ctx, `SELECT FROM blocks WHERE y = $1 AND x = $2 FOR UPDATE`, y, x); err != nil {
			return err
		}
		pid := make(chan uint32, 1)
		go func() {
			done <- c.tx(func(ctx context.Context, tx pgx.Tx) error {
				pid <- tx.Conn().PgConn().PID()
				return fn(ctx, tx)
			})
		}()
		if err := c.waits(ctx, <-pid, done); err != nil {
			return err
		}
		left, err := c.lockable(ctx)
		look(left)
		return err
	})
	return errors.Join(err, <-done)
}

// waits returns when the connection waits for a lock.
func (c canvas) waits(ctx context.Context, pid uint32, done chan error) error {
	for {
		var waiting bool
		err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)`, pid).Scan(&waiting)
		if err != nil || waiting {
			return err
		}
		select {
		case err := <-done:
			done <- err
			return errors.New("it did not wait")
		default:
		}
	}
}

// lockable are the blocks around the watched rect that nobody has locked, as
// (y, x).
func (c canvas) lockable(ctx context.Context) (left [][2]int, err error) {
	err = c.tx(func(ctx context.Context, tx pgx.Tx) error {
		found, err := tx.Query(ctx, `
			SELECT y, x FROM blocks WHERE y BETWEEN 40 AND 44 AND x BETWEEN 30 AND 36
			ORDER BY y, x FOR UPDATE SKIP LOCKED`)
		if err != nil {
			return err
		}
		var at [2]int
		_, err = pgx.ForEachRow(found, []any{&at[0], &at[1]}, func() error { left = append(left, at); return nil })
		return err
	})
	return left, err
}
