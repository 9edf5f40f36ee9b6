package turnstile_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tuval/internal/turnstile"
)

// The database refuses by itself, whoever asks, what would leave a claim with
// a part of its rect, with blocks outside it, with two leases, or without a
// row of its own.
func TestGuardRefusesTornClaims(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 8)
	a := c.must(rect(10, 10, 6, 4), time.Minute)
	b := c.must(rect(20, 10, 6, 4), time.Minute)
	over := c.must(rect(30, 10, 6, 4), time.Minute)
	if err := c.end(over); err != nil {
		t.Fatal(err)
	}
	where := func(l turnstile.Lease) string {
		r := l.Rect
		return fmt.Sprintf("x BETWEEN %d AND %d AND y BETWEEN %d AND %d", r.X, r.X+r.W-1, r.Y, r.Y+r.H-1)
	}
	const whole, lease, fixed = "claims_stay_whole", "blocks_lease_needs_claim", ""
	for name, k := range map[string]struct{ sql, guard string }{
		"one block emptied":            {`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE y = 10 AND x = 10`, whole},
		"one row of the rect emptied":  {`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE y = 10 AND claim_id = ` + id(a), whole},
		"one block given away":         {`UPDATE blocks SET claim_id = ` + id(b) + ` WHERE y = 10 AND x = 10`, whole},
		"one block of two extended":    {`UPDATE blocks SET leased_until = leased_until + interval '1 h' WHERE y = 10 AND x IN (10, 20)`, whole},
		"all but one extended":         {`UPDATE blocks SET leased_until = leased_until + interval '1 h' WHERE ` + where(a) + ` AND NOT (x = 15 AND y = 13)`, whole},
		"two leases in one claim":      {`UPDATE blocks SET leased_until = leased_until + make_interval(hours => x) WHERE ` + where(a), whole},
		"a free block joined":          {`UPDATE blocks SET claim_id = ` + id(a) + `, leased_until = now() WHERE y = 14 AND x = 10`, whole},
		"taken in part":                {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE y = 10 AND x BETWEEN 30 AND 35`, whole},
		"taken elsewhere":              {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE y BETWEEN 50 AND 53 AND x BETWEEN 30 AND 35`, whole},
		"as many blocks, scattered":    {`UPDATE blocks SET claim_id = ` + id(over) + `, leased_until = now() WHERE (y, x) IN (SELECT 10, 30 UNION SELECT 13, 35 UNION SELECT y, 60 FROM generate_series(0, 21) AS y)`, whole},
		"taken with a neighbour's":     {`UPDATE blocks SET claim_id = ` + id(b) + ` WHERE ` + where(a), whole},
		"two claims exchanged":         {`UPDATE blocks SET claim_id = CASE claim_id WHEN ` + id(a) + ` THEN ` + id(b) + ` ELSE ` + id(a) + ` END WHERE claim_id IS NOT NULL`, whole},
		"one block touched":            {`UPDATE blocks SET x = x WHERE y = 10 AND x = 10`, whole},
		"a claim without a row":        {`UPDATE blocks SET claim_id = 999999, leased_until = now() WHERE y = 60 AND x = 60`, whole},
		"a lease without a claim":      {`UPDATE blocks SET leased_until = now() + interval '1 h' WHERE y = 60 AND x = 60`, lease},
		"a claim dropped, lease kept":  {`UPDATE blocks SET claim_id = NULL WHERE ` + where(a), lease},
		"the rect of a claim changed":  {`UPDATE blocked_areas SET w = 5 WHERE id = ` + id(a), fixed},
		"the id of a claim changed":    {`UPDATE blocked_areas SET id = 999999 WHERE id = ` + id(a), fixed},
		"the rect of a rental changed": {`UPDATE rentals SET y = 5`, fixed},
		"a block removed":              {`DELETE FROM blocks WHERE y = 60 AND x = 60`, fixed},
		"a block added":                {`INSERT INTO blocks (y, x) VALUES (60, 60)`, fixed},
		"all blocks removed":           {`TRUNCATE blocks`, fixed},
	} {
		_, err := c.Exec(t.Context(), k.sql)
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || refusal.Code[:2] != "23" || refusal.ConstraintName != k.guard {
			t.Errorf("%s: %v, want a refusal by %q", name, err, k.guard)
		}
	}
	c.intact()
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
