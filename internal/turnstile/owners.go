package turnstile

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/grid"
)

// sqlOwners goes by "y = ANY": one descent of the index for each row of the
// rect, where a range of y would walk the whole width of the canvas.
const sqlOwners = `
SELECT claim_id, bool_and(leased_until <= now()) AS lapsed
FROM blocks
WHERE y = ANY (ARRAY(SELECT generate_series($1::int4, $2::int4)::int2)) AND x BETWEEN $3::int2 AND $4::int2 AND claim_id IS NOT NULL
GROUP BY claim_id
ORDER BY claim_id`

// Owners reads plainly, without any lock, who has blocks of r, sorted by
// claim; blocks without a claim do not appear. It comes before every lock: it
// turns losers away while they hold nothing, and tells a claim which others it
// has to displace.
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
