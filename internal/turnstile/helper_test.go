package turnstile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/grid"
	"tuval/internal/testdb"
	"tuval/internal/turnstile"
)

// canvas is a database of the test's own. Its claims are blocked areas: they
// need nothing around them, and obey every rule that rentals obey.
type canvas struct {
	*pgxpool.Pool
	t testing.TB
}

// newCanvas opens the database as the product does, with its limits. The
// invariants of the whole product are left out: nobody writes a ledger here.
func newCanvas(t testing.TB, conns int) canvas {
	t.Helper()
	url := testdb.URL(t, testdb.Options{Unchecked: true})
	pool, err := db.Open(t.Context(), db.Settings{URL: url, Name: "turnstile test", MaxConns: int32(conns)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return canvas{pool, t}
}

// unguarded takes the guard away, so that what is seen is the statements' own
// doing: with it, a torn claim would already be an error.
func (c canvas) unguarded() canvas {
	c.exec(`ALTER TABLE blocks DISABLE TRIGGER claims_stay_whole`)
	return c
}

func (c canvas) exec(sql string, args ...any) int64 {
	c.t.Helper()
	tag, err := c.Exec(c.t.Context(), sql, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return tag.RowsAffected()
}

// tx runs fn in a transaction of the product's kind.
func (c canvas) tx(fn func(ctx context.Context, tx pgx.Tx) error) error {
	return db.InTx(c.t.Context(), c.Pool, "test", fn)
}

// claim makes a claim and takes its rect for a time from now, whatever lapsed
// there. It follows the protocol: look without locks, lock by id, claim, and
// start over when somebody moved.
func (c canvas) claim(r grid.Rect, lease time.Duration, replaced ...turnstile.Lease) (turnstile.Lease, error) {
	l, err := turnstile.Lease{}, error(nil)
	for range 5 {
		err = c.tx(func(ctx context.Context, tx pgx.Tx) error {
			gives, err := displace(ctx, tx, r, replaced)
			if err != nil {
				return err
			}
			var until time.Time
			l, until, err = newClaim(ctx, tx, r, lease)
			if err != nil {
				return err
			}
			return turnstile.Claim(ctx, tx, l, until, gives)
		})
		if !errors.Is(err, turnstile.ErrMoved) {
			return l, err
		}
	}
	return l, err
}

// displace locks the claims that lapsed on r and those to be replaced,
// together and by id, and ends them.
func displace(ctx context.Context, tx pgx.Tx, r grid.Rect, replaced []turnstile.Lease) ([]turnstile.Lease, error) {
	owners, err := turnstile.Owners(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	var ids []turnstile.ClaimID
	for _, l := range replaced {
		ids = append(ids, l.Claim)
	}
	for _, o := range owners {
		if o.Lapsed {
			ids = append(ids, o.Claim)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	gives, err := lock(ctx, tx, ids, replaced)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `UPDATE blocked_areas SET closed_at = now() WHERE id = ANY ($1) AND closed_at IS NULL`, ids)
	return gives, err
}

// lock locks claims by id. One that was prolonged since it was seen is nobody's
// to displace.
func lock(ctx context.Context, tx pgx.Tx, ids []turnstile.ClaimID, replaced []turnstile.Lease) ([]turnstile.Lease, error) {
	rows, err := tx.Query(ctx, `
		SELECT id, x, y, w, h, until <= now() FROM blocked_areas
		WHERE id = ANY ($1) AND closed_at IS NULL ORDER BY id FOR UPDATE`, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l turnstile.Lease, err error) {
		var lapsed bool
		err = row.Scan(&l.Claim, &l.Rect.X, &l.Rect.Y, &l.Rect.W, &l.Rect.H, &lapsed)
		if err == nil && !lapsed && !slices.Contains(replaced, l) {
			err = turnstile.ErrMoved
		}
		return l, err
	})
}

func newClaim(ctx context.Context, tx pgx.Tx, r grid.Rect, lease time.Duration) (turnstile.Lease, time.Time, error) {
	l, until := turnstile.Lease{Rect: r}, time.Time{}
	err := tx.QueryRow(ctx, `
		INSERT INTO blocked_areas (key, x, y, w, h, note, until, created_by)
		VALUES (gen_random_uuid()::text, $1, $2, $3, $4, '', now() + $5, 'test') RETURNING id, until`,
		r.X, r.Y, r.W, r.H, lease).Scan(&l.Claim, &until)
	return l, until, err
}

// end locks the claim's row, closes it and gives its blocks back.
func (c canvas) end(l turnstile.Lease) error {
	return c.tx(func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE blocked_areas SET closed_at = now() WHERE id = $1 AND closed_at IS NULL`, l.Claim)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return turnstile.ErrLost
		}
		return turnstile.Release(ctx, tx, l)
	})
}

// keep locks the claim's row and prolongs its lease from now.
func (c canvas) keep(l turnstile.Lease, lease time.Duration) error {
	return c.tx(func(ctx context.Context, tx pgx.Tx) error {
		var until time.Time
		err := tx.QueryRow(ctx, `UPDATE blocked_areas SET until = now() + $2 WHERE id = $1 RETURNING until`, l.Claim, lease).Scan(&until)
		if err != nil {
			return err
		}
		return turnstile.Extend(ctx, tx, l, until)
	})
}

// must is a claim that nothing stands in the way of.
func (c canvas) must(r grid.Rect, lease time.Duration) turnstile.Lease {
	c.t.Helper()
	l, err := c.claim(r, lease)
	if err != nil {
		c.t.Fatalf("claim of %v: %v", r, err)
	}
	return l
}

// lapse lets a claim's lease run out a minute ago.
func (c canvas) lapse(l turnstile.Lease) {
	c.t.Helper()
	if err := c.keep(l, -time.Minute); err != nil {
		c.t.Fatal(err)
	}
}

// owned is the number of blocks that carry the claim.
func (c canvas) owned(l turnstile.Lease) (n int) {
	c.t.Helper()
	if err := c.QueryRow(c.t.Context(), `SELECT count(*) FROM blocks WHERE claim_id = $1`, l.Claim).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// intact fails the test unless every claim that is not over has exactly its
// rect, with its lease, and no block anything else, and PostgreSQL met no
// deadlock. It closes the pool: only then are the counts of all there.
func (c canvas) intact() {
	c.t.Helper()
	const torn = `
		SELECT format('claim %s (%s,%s,%s,%s) has %s blocks in its rect', a.id, a.x, a.y, a.w, a.h, count(b))
		FROM blocked_areas AS a
		LEFT JOIN blocks AS b ON b.claim_id = a.id AND b.leased_until = a.until
		     AND b.x >= a.x AND b.x < a.x + a.w AND b.y >= a.y AND b.y < a.y + a.h
		WHERE a.closed_at IS NULL
		GROUP BY a.id HAVING count(b) <> a.w * a.h
		UNION ALL
		SELECT format('block %s,%s carries claim %s until %s', b.x, b.y, b.claim_id, b.leased_until)
		FROM blocks AS b
		LEFT JOIN blocked_areas AS a ON a.id = b.claim_id AND a.closed_at IS NULL
		     AND b.x >= a.x AND b.x < a.x + a.w AND b.y >= a.y AND b.y < a.y + a.h
		WHERE (b.claim_id IS NOT NULL OR b.leased_until > 'epoch') AND a.id IS NULL
		UNION ALL
		SELECT format('%s blocks', count(*)) FROM blocks HAVING count(*) <> 10000`
	rows, err := c.Query(c.t.Context(), torn)
	if err != nil {
		c.t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		c.t.Fatal(err)
	}
	for _, line := range lines[:min(len(lines), 10)] {
		c.t.Error(line)
	}
	c.noDeadlocks()
}

func (c canvas) noDeadlocks() {
	c.t.Helper()
	url := c.Config().ConnString()
	c.Close()
	conn, err := pgx.Connect(c.t.Context(), url)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(c.t.Context()))
	var n int
	if err := conn.QueryRow(c.t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	if n != 0 {
		c.t.Errorf("%d deadlocks", n)
	}
}

// together runs fn n times at once: all stand at a barrier, with a warm
// connection each as far as there are enough, and start at one instant.
func together(n int, fn func(i int) error) []error {
	var ready, done sync.WaitGroup
	start, errs := make(chan struct{}), make([]error, n)
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			errs[i] = fn(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	return errs
}

// warm opens all connections and prepares their statements.
func (c canvas) warm() canvas {
	c.t.Helper()
	n := int(c.Config().MaxConns)
	conns := make([]*pgxpool.Conn, n)
	for i := range conns {
		conn, err := c.Acquire(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		conns[i] = conn
	}
	for _, conn := range conns {
		conn.Release()
	}
	return c
}

func rect(x, y, w, h int) grid.Rect { return grid.Rect{X: x, Y: y, W: w, H: h} }

// winners are the indices without an error; every error must be one of named.
func winners(t testing.TB, errs []error, named ...error) (won []int) {
	t.Helper()
next:
	for i, err := range errs {
		if err == nil {
			won = append(won, i)
			continue
		}
		for _, n := range named {
			if errors.Is(err, n) {
				continue next
			}
		}
		t.Errorf("call %d: %v", i, fmt.Errorf("an error that has no name here: %w", err))
	}
	return won
}
