package capacity

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/ledger"
)

// news are events of the ledger, summed by what is due at one instant.
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

// The database sums what is due at the same instant, which is most: hours are
// chosen whole. What is due before today, and what was begun before the last
// hour, is in no window that anybody asks for. A moved clock leaves the ledger
// alone: of what is due, new events tell; what was begun is corrected here.
const (
	sqlMoment = `
		SELECT pg_current_snapshot()::text, (SELECT count(*) FROM clock_shifts), now(),
		       COALESCE(e.kind, ''), COALESCE(e.due, now()), COALESCE(e.orders, 0), COALESCE(e.blocks, 0)
		FROM (VALUES (1)) AS once LEFT JOIN (`

	sqlDue = `
		SELECT kind, effective_at AS due, count(*) AS orders, sum(w * h)::bigint AS blocks
		FROM ledger WHERE kind IN ('slot.taken', 'slot.returned')`

	sqlStarts = `
		SELECT kind, recorded_at - COALESCE((SELECT sum(by) FROM clock_shifts s WHERE s.at >= l.recorded_at), '0') AS due, count(*), 0
		FROM ledger l WHERE kind = 'checkout.begun'`

	sqlSince = ` AND xid >= pg_snapshot_xmin($1::text::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)`

	sqlGroup = ` GROUP BY 1, 2`
	sqlEnd   = `) AS e ON true`

	// Each is summed by itself, so that the database can share the work of a
	// long history.
	sqlLoad = sqlMoment + sqlDue + ` AND effective_at >= date_trunc('day', now(), 'UTC')` + sqlGroup + ` UNION ALL ` +
		sqlStarts + ` AND recorded_at >= now() - interval '1 hour'` + sqlGroup + sqlEnd

	sqlTail = sqlMoment + sqlDue + sqlSince + sqlGroup + ` UNION ALL ` + sqlStarts + sqlSince + sqlGroup + sqlEnd
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
