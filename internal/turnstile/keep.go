package turnstile

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	sqlExtend  = `SELECT keep_blocks($1, $2, $3, $4, $5, $6) AS kept`
	sqlRelease = `SELECT keep_blocks($1, $2, $3, $4, $5, NULL) AS released`
)

// Extend sets the end of a claim's lease, on all its blocks or on none. A
// lease that ran out is extended too as long as nobody took the blocks; the
// end may also come nearer. To confirm a hold is to extend it to a later
// instant: there is no other kind of possession to change to.
//
// ErrLost says that the blocks are not all its own any more; nothing changed.
func Extend(ctx context.Context, tx pgx.Tx, l Lease, until time.Time) error {
	return own(ctx, tx, "extend", sqlExtend, l, until)
}

// Release gives back all blocks of a claim, at once and whole.
//
// ErrLost says that they are not all its own any more; nothing changed.
func Release(ctx context.Context, tx pgx.Tx, l Lease) error {
	return own(ctx, tx, "release", sqlRelease, l)
}

// own runs a statement that acts only on what is the claim's own.
func own(ctx context.Context, tx pgx.Tx, name, sql string, l Lease, more ...any) error {
	r := l.Rect
	args := append([]any{l.Claim, r.Y, r.Y + r.H - 1, r.X, r.X + r.W - 1}, more...)
	var done bool
	if err := tx.QueryRow(ctx, sql, args...).Scan(&done); err != nil {
		return fmt.Errorf("turnstile: %s: %w", name, err)
	}
	if !done {
		return ErrLost
	}
	return nil
}
