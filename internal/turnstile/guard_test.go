package turnstile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// The database refuses by itself, whoever asks, what would leave a claim with
// a part of its rect, with blocks outside it, with two leases, or without a
// row of its own.
func TestGuardRefusesTornClaims(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(canvas, grid.Rect) turnstile.Lease{
		"blocked areas": func(c canvas, r grid.Rect) turnstile.Lease { return c.must(r, time.Minute) },
		"rentals":       canvas.rental,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCanvas(t, 8)
			a, b, over := make(c, rect(10, 10, 6, 4)), make(c, rect(20, 10, 6, 4)), make(c, rect(30, 10, 6, 4))
			if err := c.tx(func(ctx context.Context, tx pgx.Tx) error { return turnstile.Release(ctx, tx, over) }); err != nil {
				t.Fatal(err)
			}
			make(c, rect(35, 13, 6, 4)) // where the one that is over was
			attack(t, c, a, b, over)
			for _, l := range []turnstile.Lease{a, b} {
				if n := c.owned(l); n != 24 {
					t.Errorf("after all attacks %v has %d blocks", l.Rect, n)
				}
			}
		})
	}
}

// rental makes a rental's claim.
func (c canvas) rental(r grid.Rect) turnstile.Lease {
	c.t.Helper()
	l := turnstile.Lease{Rect: r}
	err := c.tx(func(ctx context.Context, tx pgx.Tx) error {
		var until time.Time
		err := tx.QueryRow(ctx, `
			WITH p AS (INSERT INTO persons DEFAULT VALUES RETURNING id)
			INSERT INTO rentals (key, public_id, person_id, address, x, y, w, h, state, price_per_week, currency, counted_from, leased_until)
			SELECT gen_random_uuid()::text, gen_random_uuid()::text, p.id, '', $1, $2, $3, $4, 'held', 1, 'usd', now(), now() + interval '1 minute' FROM p
			RETURNING id, leased_until`, r.X, r.Y, r.W, r.H).Scan(&l.Claim, &until)
		if err != nil {
			return err
		}
		return turnstile.Claim(ctx, tx, l, until, nil)
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return l
}

// attack tries to tear a and b, or to give blocks to over, which has none.
func attack(t *testing.T, c canvas, a, b, over turnstile.Lease) {
	where := func(l turnstile.Lease) string {
		r := l.Rect
		return fmt.Sprintf("x BETWEEN %d AND %d AND y BETWEEN %d AND %d", r.X, r.X+r.W-1, r.Y, r.Y+r.H-1)
	}
	const whole, lease, fixed = "claims_stay_whole", "blocks_lease_needs_claim", ""
	for name, k := range map[string]struct{ sql, guard string }{
		"one block emptied":                   {`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE y = 10 AND x = 10`, whole},
		"one row of the rect emptied":         {`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE y = 10 AND claim_id = ` + id(a), whole},
		"one block given away":                {`UPDATE blocks SET claim_id = ` + id(b) + ` WHERE y = 10 AND x = 10`, whole},
		"one block of two extended":           {`UPDATE blocks SET leased_until = leased_until + interval '1 h' WHERE y = 10 AND x IN (10, 20)`, whole},
		"all but one extended":                {`UPDATE blocks SET leased_until = leased_until + interval '1 h' WHERE ` + where(a) + ` AND NOT (x = 15 AND y = 13)`, whole},
		"two leases in one claim":             {`UPDATE blocks SET leased_until = leased_until + make_interval(hours => x) WHERE ` + where(a), whole},
		"a free block joined":                 {`UPDATE blocks SET claim_id = ` + id(a) + `, leased_until = now() WHERE y = 14 AND x = 10`, whole},
		"taken in part":                       {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE y = 10 AND x BETWEEN 30 AND 35`, whole},
		"taken elsewhere":                     {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE y BETWEEN 50 AND 53 AND x BETWEEN 30 AND 35`, whole},
		"as many blocks, scattered":           {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE (y, x) IN (SELECT 10, 30 UNION SELECT 13, 35 UNION SELECT y, 60 FROM generate_series(0, 21) AS y)`, whole},
		"taken with a neighbour's":            {`UPDATE blocks SET claim_id = ` + id(b) + ` WHERE ` + where(a), whole},
		"a free rect with a neighbour's part": {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE ` + where(over), whole},
		"all touched, one emptied":            {`UPDATE blocks SET leased_until = 'epoch', claim_id = CASE WHEN x = 10 AND y = 10 THEN NULL ELSE claim_id END WHERE ` + where(a), whole},
		"two claims exchanged":                {`UPDATE blocks SET claim_id = CASE claim_id WHEN ` + id(a) + ` THEN ` + id(b) + ` ELSE ` + id(a) + ` END WHERE claim_id IS NOT NULL`, whole},
		"one block touched":                   {`UPDATE blocks SET claim_id = claim_id WHERE y = 10 AND x = 10`, whole},
		"blocks exchange their places":        {`UPDATE blocks SET x = 99 - x`, fixed},
		"a claim without a row":               {`UPDATE blocks SET claim_id = 999999, leased_until = now() WHERE y = 60 AND x = 60`, whole},
		"a lease without a claim":             {`UPDATE blocks SET leased_until = now() + interval '1 h' WHERE y = 60 AND x = 60`, lease},
		"a claim dropped, lease kept":         {`UPDATE blocks SET claim_id = NULL WHERE ` + where(a), lease},
		"the rect of an area changed":         {`UPDATE blocked_areas SET w = 5`, fixed},
		"the id of an area changed":           {`UPDATE blocked_areas SET id = 999999`, fixed},
		"the rect of a rental changed":        {`UPDATE rentals SET y = 5`, fixed},
		"a block removed":                     {`DELETE FROM blocks WHERE y = 60 AND x = 60`, fixed},
		"a block added":                       {`INSERT INTO blocks (y, x) VALUES (60, 60)`, fixed},
		"all blocks removed":                  {`TRUNCATE blocks`, fixed},
	} {
		_, err := c.Exec(t.Context(), k.sql)
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || refusal.Code[:2] != "23" || refusal.ConstraintName != k.guard {
			t.Errorf("%s: %v, want a refusal by %q", name, err, k.guard)
		}
	}
}

// What keeps claims whole is let through, also many at once and by hand: the
// guard judges what is, not who does it.
func TestGuardAllowsWholeClaims(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	c.must(rect(10, 10, 6, 4), time.Minute)
	c.must(rect(20, 10, 1, 1), time.Minute)
	for _, sql := range []string{
		`UPDATE blocks SET leased_until = leased_until - interval '1 h' WHERE claim_id IS NOT NULL`,
		`UPDATE blocks SET leased_until = leased_until - interval '1 h'`,
		`UPDATE blocks SET leased_until = now() WHERE false`,
		`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch'`,
	} {
		c.exec(sql)
	}
}

func id(l turnstile.Lease) string { return fmt.Sprint(int64(l.Claim)) }
