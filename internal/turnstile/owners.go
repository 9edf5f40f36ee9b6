package turnstile

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/grid"
)

const sqlTaken = `
SELECT EXISTS (
    SELECT FROM blocks
    WHERE y BETWEEN $1::int2 AND $2::int2 AND x BETWEEN $3::int2 AND $4::int2
      AND leased_until > now() AND claim_id <> ALL ($5::int8[])
) AS taken`

// Taken looks plainly, without any lock, whether somebody has a running lease
// of a block of r; own claims do not count. It is the cheapest answer there is
// and comes before everything else: in a rush nearly everybody leaves by it.
func Taken(ctx context.Context, q db.Querier, r grid.Rect, own ...ClaimID) (bool, error) {
	if own == nil {
		own = []ClaimID{} // NULL would hide everybody
	}
	var taken bool
	if err := q.QueryRow(ctx, sqlTaken, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, own).Scan(&taken); err != nil {
		return false, fmt.Errorf("turnstile: look: %w", err)
	}
	return taken, nil
}

const sqlOwners = `
SELECT claim_id, bool_and(leased_until <= now()) AS lapsed
FROM blocks
WHERE y BETWEEN $1::int2 AND $2::int2 AND x BETWEEN $3::int2 AND $4::int2 AND claim_id IS NOT NULL
GROUP BY claim_id
ORDER BY claim_id`

// Owners reads plainly, without any lock, who has blocks of r, sorted by
// claim; blocks without a claim do not appear. It comes before every lock and
// tells a claim which others it has to displace.
func Owners(ctx context.Context, q db.Querier, r grid.Rect) ([]Owner, error) {
	found, err := q.Query(ctx, sqlOwners, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1)
	if err != nil {
		return nil, fmt.Errorf("turnstile: read owners: %w", err)
	}
	owners, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (Owner, error) {
		var o Owner
		err := row.Scan(&o.Claim, &o.Lapsed)
		return o, err
	})
	if err != nil {
		return nil, fmt.Errorf("turnstile: read owners: %w", err)
	}
	return owners, nil
}
