package turnstile

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// sqlOwn locks a claim's rect in order and keeps whose the blocks are.
const sqlOwn = `
WITH rect AS MATERIALIZED (
    SELECT ARRAY(SELECT generate_series($2::int4, $3::int4)::int2) AS ys
), locked AS MATERIALIZED (
    SELECT claim_id
    FROM blocks
    WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2
    ORDER BY y, x
    FOR NO KEY UPDATE
)`

// sqlExtend writes the claim too, though it is there: PostgreSQL tries the
// table's checks on the row as the statement saw it at its start, before it
// notices that there is a newer one.
const sqlExtend = sqlOwn + `
UPDATE blocks
SET claim_id = $1::int8, leased_until = $6::timestamptz
WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2
  AND NOT EXISTS (SELECT FROM locked WHERE claim_id IS DISTINCT FROM $1::int8)`

const sqlRelease = sqlOwn + `
UPDATE blocks
SET claim_id = NULL, leased_until = 'epoch'
WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2
  AND NOT EXISTS (SELECT FROM locked WHERE claim_id IS DISTINCT FROM $1::int8)`

// Extend sets the end of a claim's lease, on all its blocks or on none. A
// lease that ran out is extended too as long as nobody took the blocks; the
// end may also come nearer. To confirm a hold is to extend it to a later
// instant: there is no other kind of possession to change to.
//
// ErrLost says that the blocks are not all its own any more; nothing changed.
func Extend(ctx context.Context, tx pgx.Tx, l Lease, until time.Time) error {
	r := l.Rect
	tag, err := tx.Exec(ctx, sqlExtend, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until)
	if err != nil {
		return fmt.Errorf("turnstile: extend: %w", err)
	}
	return whole(tag.RowsAffected(), l)
}

// Release gives back all blocks of a claim, at once and whole.
//
// ErrLost says that they are not all its own any more; nothing changed.
func Release(ctx context.Context, tx pgx.Tx, l Lease) error {
	r := l.Rect
	tag, err := tx.Exec(ctx, sqlRelease, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1)
	if err != nil {
		return fmt.Errorf("turnstile: release: %w", err)
	}
	return whole(tag.RowsAffected(), l)
}

func whole(written int64, l Lease) error {
	if written != int64(l.Rect.Area()) {
		return ErrLost
	}
	return nil
}
