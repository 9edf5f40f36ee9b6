package board

import (
	"context"
	"fmt"
	"time"

	"tuval/internal/db"
	"tuval/internal/telemetry"
)

// sqlMeasure reads the market's gauges in one pass over the small tables.
const (
	sqlHolds = `SELECT count(*) FROM rentals WHERE state IN ('held', 'paying') AND leased_until > now()`

	sqlBlocks = `
		SELECT CASE WHEN b.claim_id IS NULL OR b.leased_until <= now() THEN 'free'
		            WHEN r.id IS NULL THEN 'blocked'
		            WHEN r.state IN ('held', 'paying') THEN 'held'
		            WHEN r.ends_at <= now() THEN 'reserved' ELSE 'taken' END AS state, count(*)
		FROM blocks b LEFT JOIN rentals r ON r.id = b.claim_id GROUP BY 1`

	sqlAnomalies = `SELECT kind, count(*) FROM anomalies WHERE resolved_at IS NULL GROUP BY kind`
	sqlRefunds   = `SELECT state, count(*) FROM refunds GROUP BY state`

	sqlLag = `SELECT COALESCE(extract(epoch FROM clock_timestamp() - min(recorded_at)), 0)::float8 FROM ledger
		WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())`
)

// Measure reads the gauges of the market from the database.
func Measure(ctx context.Context, q db.Querier) (telemetry.Market, error) {
	var m telemetry.Market
	var lag float64
	if err := q.QueryRow(ctx, sqlHolds).Scan(&m.HoldsLive); err != nil {
		return m, fmt.Errorf("board: measure holds: %w", err)
	}
	if err := q.QueryRow(ctx, sqlLag).Scan(&lag); err != nil {
		return m, fmt.Errorf("board: measure the ledger: %w", err)
	}
	m.LedgerLag = time.Duration(lag * float64(time.Second))
	for sql, into := range map[string]*map[string]int{sqlBlocks: &m.Blocks, sqlAnomalies: &m.Anomalies, sqlRefunds: &m.Refunds} {
		counts, err := countBy(ctx, q, sql)
		if err != nil {
			return m, err
		}
		*into = counts
	}
	withZeros(m.Blocks, "free", "held", "taken", "reserved", "blocked")
	withZeros(m.Refunds, "pending", "succeeded", "failed")
	withZeros(m.Anomalies, "payment mismatch", "livemode mismatch", "refund failed", "dispute", "job dead", "proxy not configured")
	return m, nil
}

// withZeros makes names that have nothing at the moment visible, so that an
// alert can be written before the first of them happens.
func withZeros(counts map[string]int, names ...string) {
	for _, name := range names {
		counts[name] += 0
	}
}

func countBy(ctx context.Context, q db.Querier, sql string) (map[string]int, error) {
	rows, err := q.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("board: measure: %w", err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("board: measure: %w", err)
		}
		counts[name] = n
	}
	return counts, rows.Err()
}
