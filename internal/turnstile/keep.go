package turnstile

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const sqlWrite = `
WITH locked AS MATERIALIZED (
    SELECT claim_id FROM blocks
    WHERE y BETWEEN $2::int2 AND $3::int2 AND x BETWEEN $4::int2 AND $5::int2
    ORDER BY y, x
    FOR NO KEY UPDATE
)
UPDATE blocks
SET claim_id = CASE WHEN $6::timestamptz IS NOT NULL THEN $1::int8 END, leased_until = coalesce($6::timestamptz, 'epoch')
WHERE y BETWEEN $2::int2 AND $3::int2 AND x BETWEEN $4::int2 AND $5::int2
  AND NOT EXISTS (SELECT FROM locked WHERE claim_id IS DISTINCT FROM $1::int8)`

// Extend sets the end of a claim's lease, on all its blocks or on none.
// Confirming a hold is the same with a later instant. ErrLost says that the
// blocks are not all its own any more.
func Extend(ctx context.Context, tx pgx.Tx, l Lease, until time.Time) error {
	return write(ctx, tx, "extend", l, &until)
}

// Release gives all blocks of a claim back, at once. ErrLost says that they
// are not all its own any more.
func Release(ctx context.Context, tx pgx.Tx, l Lease) error {
	return write(ctx, tx, "release", l, nil)
}

func write(ctx context.Context, tx pgx.Tx, name string, l Lease, until *time.Time) error {
	r := l.Rect
	tag, err := tx.Exec(ctx, sqlWrite, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until)
	if err != nil {
		return fmt.Errorf("turnstile: %s: %w", name, err)
	}
	if tag.RowsAffected() != int64(r.Area()) {
		return ErrLost
	}
	return nil
}
