package capacity

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/ledger"
)

// news are events of the ledger, summed as finely as the shortest window needs.
type news struct {
	seen
	sums []sum
}

type sum struct {
	Kind   ledger.Kind
	Due    time.Time
	Orders int64
	Blocks int64
}

// The database sums in steps of a quarter of an hour, of which every window is
// a multiple. What is due before today, and what was begun before the last
// hour, is in no window that anybody asks for. A moved clock leaves the ledger
// alone: of what is due, new events tell; what was begun is corrected here.
const (
	sqlMoment = `
		SELECT pg_current_snapshot()::text, (SELECT count(*) FROM clock_shifts), now(),
		       COALESCE(e.kind, ''), COALESCE(e.due, now()), COALESCE(e.orders, 0), COALESCE(e.blocks, 0)
		FROM (VALUES (1)) AS once LEFT JOIN (`

	sqlSum = `
		SELECT kind, date_bin('15 min', due, 'epoch') AS due, count(*) AS orders, sum(blocks)::bigint AS blocks
		FROM (`

	sqlDue    = `SELECT kind, effective_at AS due, w * h AS blocks FROM ledger WHERE kind IN ('slot.taken', 'slot.returned')`
	sqlStarts = `
		SELECT kind, recorded_at - COALESCE((SELECT sum(by) FROM clock_shifts s WHERE s.at >= l.recorded_at), '0') AS due, 0 AS blocks
		FROM ledger l WHERE kind = 'checkout.begun'`

	sqlSince = ` AND xid >= pg_snapshot_xmin($1::text::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)`

	sqlLoad = sqlMoment + sqlSum +
		sqlDue + ` AND effective_at >= date_trunc('day', now(), 'UTC') UNION ALL ` +
		sqlStarts + ` AND recorded_at >= now() - interval '1 hour'` +
		`) AS all_of_it GROUP BY 1, 2) AS e ON true`

	sqlTail = sqlMoment + sqlSum + sqlDue + sqlSince + ` UNION ALL ` + sqlStarts + sqlSince + `) AS new GROUP BY 1, 2) AS e ON true`
)

// load reads all that counts.
func load(ctx context.Context, q db.Querier) (news, error) { return read(ctx, q, sqlLoad) }

// tail reads what was committed since, whatever its place in the ledger.
func tail(ctx context.Context, q db.Querier, since seen) (news, error) {
	return read(ctx, q, sqlTail, since.snapshot)
}

func read(ctx context.Context, q db.Querier, sql string, args ...any) (n news, err error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return n, db.Explain("capacity: read the ledger", err)
	}
	n.sums, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sum, err error) {
		err = row.Scan(&n.snapshot, &n.shifts, &n.at, &s.Kind, &s.Due, &s.Orders, &s.Blocks)
		return s, err
	})
	if len(n.sums) == 1 && n.sums[0].Kind == "" {
		n.sums = nil
	}
	return n, db.Explain("capacity: read the ledger", err)
}
