package turnstile

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
)

// The statements are short: the functions they call stand in the migration
// that makes the turnstile, with their reasons. A rect is given by its first and
// last row and column.
const (
	sqlClaim = `SELECT claim_blocks($1, $2, $3, $4, $5, $6) AS outcome`

	sqlTakeOver = `SELECT take_over_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS outcome`
)

// Claim takes all of l.Rect for l.Claim until the given instant, or nothing.
//
// A block can be had if it is free, if it is the claim's own (lapsed or not),
// or if it belongs to one of gives: claims whose rows the caller has locked
// and which it ends in this transaction, because their lease ran out or
// because this claim replaces them. All blocks of gives are emptied by the
// same statement, also those outside l.Rect; one of gives that has its blocks no
// more is an owner that changed, ErrMoved.
//
// The row of l.Claim, and with it its rect, must be there before: the database
// holds the blocks against it. until is an instant that came from the database.
//
// It returns ErrTaken or ErrMoved with nothing changed and no block locked,
// and the transaction can go on.
func Claim(ctx context.Context, tx pgx.Tx, l Lease, until time.Time, gives []Lease) error {
	var outcome string
	if err := ask(ctx, tx, l, until, gives).Scan(&outcome); err != nil {
		return fmt.Errorf("turnstile: claim: %w", err)
	}
	switch outcome {
	case "won":
		return nil
	case "taken":
		return ErrTaken
	case "moved":
		return ErrMoved
	}
	return fmt.Errorf("turnstile: claim: outcome %q", outcome)
}

// ask sends the statement. Its arguments go by position: naming them costs a
// rewrite of the statement each time, on the hottest path there is.
func ask(ctx context.Context, tx pgx.Tx, l Lease, until time.Time, gives []Lease) pgx.Row {
	r := l.Rect
	if len(gives) == 0 {
		return tx.QueryRow(ctx, sqlClaim, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until)
	}
	g := columns(gives)
	all := bounds(append(g.rects, r))
	return tx.QueryRow(ctx, sqlTakeOver, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until,
		g.claims, g.y1, g.y2, g.x1, g.x2, all.Y, all.Y+all.H-1, all.X, all.X+all.W-1)
}

// givesColumns are leases as arrays.
type givesColumns struct {
	claims         []ClaimID
	rects          []grid.Rect
	y1, y2, x1, x2 []int16
}

func columns(leases []Lease) (c givesColumns) {
	for _, l := range leases {
		r := l.Rect
		c.claims, c.rects = append(c.claims, l.Claim), append(c.rects, r)
		c.y1, c.y2 = append(c.y1, int16(r.Y)), append(c.y2, int16(r.Y+r.H-1))
		c.x1, c.x2 = append(c.x1, int16(r.X)), append(c.x2, int16(r.X+r.W-1))
	}
	return c
}

// bounds is the smallest rect around all.
func bounds(rects []grid.Rect) grid.Rect {
	b := rects[0]
	for _, r := range rects[1:] {
		right, bottom := max(b.X+b.W, r.X+r.W), max(b.Y+b.H, r.Y+r.H)
		b.X, b.Y = min(b.X, r.X), min(b.Y, r.Y)
		b.W, b.H = right-b.X, bottom-b.Y
	}
	return b
}
