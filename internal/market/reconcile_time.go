package market

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/rental"
)

// batch is how many rows one query of a pass reads.
const batch = 250

// late is when a deadline that nobody applied counts as missed; until then its
// job may just be late.
const late = `now() - interval '15 minutes'`

// due is the deadline of a rental that is not closed, as the index
// rentals_moving has it.
const due = `(CASE state WHEN 'paid' THEN COALESCE(live_from, approve_by) WHEN 'live' THEN ends_at ELSE leased_until END)`

// Each is read by an index on its deadline, from the place where the last
// batch ended.
const (
	sqlUnpaidOver = `
		SELECT id, leased_until, '` + findUnpaid + `' FROM rentals
		WHERE state IN ('held', 'paying') AND leased_until < ` + late + ` AND (leased_until, id) > ($1, $2)
		ORDER BY leased_until, id LIMIT $3`

	sqlMissed = `
		SELECT id, ` + due + `, CASE WHEN state = 'live' THEN '` + findEnd + `' WHEN state = 'ended' THEN '` + findRenewal + `'
			WHEN live_from IS NOT NULL THEN '` + findGoLive + `' ELSE '` + findApproval + `' END
		FROM rentals
		WHERE state IN ('paid', 'live', 'ended') AND ` + due + ` < ` + late + ` AND (` + due + `, id) > ($1, $2)
		ORDER BY ` + due + `, id LIMIT $3`

	sqlBlockedOver = `
		SELECT id, until, '` + findBlocked + `' FROM blocked_areas
		WHERE closed_at IS NULL AND until < ` + late + ` AND (until, id) > ($1, $2)
		ORDER BY until, id LIMIT $3`
)

// missed is a deadline that nobody applied.
type missed struct {
	ID   int64
	Due  time.Time
	Kind string
}

// overdue settles what time should have moved.
func (p *pass) overdue(ctx context.Context) error {
	for _, sql := range []string{sqlUnpaidOver, sqlMissed, sqlBlockedOver} {
		last := missed{Due: time.Unix(0, 0)}
		for {
			ms, err := list[missed](ctx, p.pool, sql, last.Due, last.ID, batch)
			if err != nil {
				return err
			}
			if len(ms) == 0 {
				break
			}
			last = ms[len(ms)-1]
			if err := p.note(ctx, p.settling(ms)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pass) settling(ms []missed) []found {
	var fs []found
	for _, d := range ms {
		fs = append(fs, found{
			kind: d.Kind, fact: fmt.Sprintf("%s:%d", d.Kind, d.ID), claim: d.ID,
			repair: func(ctx context.Context) (string, error) {
				if d.Kind == findBlocked {
					return "freed", p.BlockOver(ctx, d.ID)
				}
				return "settled", p.Settle(ctx, rental.ID(d.ID))
			},
		})
	}
	return fs
}

// list reads rows into a struct by position.
func list[T any](ctx context.Context, q db.Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, db.Explain("reconcile: look", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	return all, db.Explain("reconcile: look", err)
}
