package age

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/capacity"
	"tuval/internal/db"
	"tuval/internal/stripesim"
)

// Most is the farthest move at once.
const Most = 10 * 365 * 24 * time.Hour

// gates are the tables at which everybody waits who claims, settles, blocks or
// works while everything moves. They are entered in the lock order of the
// market; sign-in links come before rentals, as when somebody signs in.
const (
	gateLinks   = `UPDATE sign_in_links SET created_at = created_at - @by::interval, expires_at = expires_at - @by::interval`
	gateRentals = `LOCK TABLE rentals IN EXCLUSIVE MODE`
	gateBlocked = `LOCK TABLE blocked_areas IN EXCLUSIVE MODE`
	gateJobs    = `LOCK TABLE river_job IN SHARE ROW EXCLUSIVE MODE`
)

// moves shift one table each, in the lock order of the market.
func moves() []string {
	all := []string{
		gateLinks, gateRentals, gateBlocked,
		`UPDATE rentals SET created_at = created_at - @by::interval, counted_from = counted_from - @by::interval,
			leased_until = leased_until - @by::interval, go_live_at = go_live_at - @by::interval,
			paid_at = paid_at - @by::interval, approve_by = approve_by - @by::interval, live_from = live_from - @by::interval,
			ends_at = ends_at - @by::interval, reserved_until = reserved_until - @by::interval, closed_at = closed_at - @by::interval`,
		// The ledger stays: places are given back where they were and taken where
		// they are from now on.
		`INSERT INTO ledger (kind, effective_at, claim_id, x, y, w, h, currency, actor)
			SELECT s.kind, s.due, r.id, r.x, r.y, r.w, r.h, r.currency, 'system'
			FROM capacity_entries e JOIN rentals r ON r.id = e.rental_id,
			LATERAL (VALUES ('slot.returned', e.due), ('slot.taken', e.due - @by::interval)) AS s(kind, due) ORDER BY e.id`,
		`UPDATE capacity_entries SET due = due - @by::interval`,
		`UPDATE blocked_areas SET created_at = created_at - @by::interval, until = until - @by::interval, closed_at = closed_at - @by::interval`,
		`UPDATE payments SET created_at = created_at - @by::interval, expires_at = expires_at - @by::interval,
			go_live_at = go_live_at - @by::interval, ended_at = ended_at - @by::interval, paid_at = paid_at - @by::interval,
			unwound_at = unwound_at - @by::interval`,
		`UPDATE refunds SET created_at = created_at - @by::interval, called_at = called_at - @by::interval, settled_at = settled_at - @by::interval`,
		`UPDATE disputes SET opened_at = opened_at - @by::interval, closed_at = closed_at - @by::interval`,
		`UPDATE creatives SET submitted_at = submitted_at - @by::interval, decided_at = decided_at - @by::interval`,
		`UPDATE blocks AS b SET claim_id = b.claim_id, leased_until = b.leased_until - @by::interval
			FROM (SELECT y, x FROM blocks WHERE claim_id IS NOT NULL ORDER BY y, x FOR NO KEY UPDATE) l
			WHERE b.y = l.y AND b.x = l.x`,
		`UPDATE mails SET sending_until = sending_until - @by::interval, stale_at = stale_at - @by::interval
			WHERE sent_at IS NULL AND dropped_at IS NULL AND (sending_until IS NOT NULL OR stale_at IS NOT NULL)`,
		gateJobs,
		`UPDATE river_job SET scheduled_at = scheduled_at - @by::interval WHERE state IN ('available', 'scheduled', 'retryable')`,
		`INSERT INTO clock_shifts (by) VALUES (@by::interval)`,
	}
	return append(all, capacity.RebuildSQL()...)
}

// Move makes everything older by the given length, in one transaction. It
// works while servers run and under load; they notice at once.
func Move(ctx context.Context, pool *pgxpool.Pool, by time.Duration) error {
	if by <= 0 || by > Most {
		return fmt.Errorf("age: %s: must be more than nothing and at most %s", by, Most)
	}
	return db.InTx(ctx, pool, "age", func(ctx context.Context, tx pgx.Tx) error {
		for _, sql := range moves() {
			var args []any // statements without an interval take none
			if strings.Contains(sql, "@by") {
				args = []any{pgx.NamedArgs{"by": by}}
			}
			if _, err := tx.Exec(ctx, sql, args...); err != nil {
				return fmt.Errorf("age: %w", err)
			}
		}
		return stripesim.Age(ctx, tx, by)
	})
}
