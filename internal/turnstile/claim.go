package turnstile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// The statements are short: what they call stands in the migration that makes
// the turnstile, with its reasons. A rect is given as its rows and its first
// and last column.
const (
	rows = `ARRAY(SELECT generate_series($2::int4, $3::int4)::int2)`

	sqlClaim = `SELECT claim_blocks($1::int8, ` + rows + `, $4::int2, $5::int2, $6::timestamptz) AS outcome`

	sqlTakeOver = `SELECT take_over_blocks($1::int8, ` + rows + `, $4::int2, $5::int2, $6::timestamptz,
    $7::int8[], $8::int2[], $9::int2[], $10::int2[], $11::int2[], $12::int2[]) AS outcome`
)

// Claim takes all of l.Rect for l.Claim until the given instant, or nothing.
//
// A block can be had if it is free, if it is the claim's own (lapsed or not),
// or if it belongs to one of gives: claims whose rows the caller has locked
// and which it ends in this transaction, because their lease ran out or
// because this claim replaces them. All blocks of gives are emptied by the
// same statement, also those outside l.Rect.
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
	return tx.QueryRow(ctx, sqlTakeOver, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until,
		g.claims, g.y1, g.y2, g.x1, g.x2, rowsOf(append(slices.Clone(gives), l)))
}

// givesColumns are leases as arrays.
type givesColumns struct {
	claims         []ClaimID
	y1, y2, x1, x2 []int16
}

func columns(leases []Lease) (c givesColumns) {
	for _, l := range leases {
		r := l.Rect
		c.claims = append(c.claims, l.Claim)
		c.y1, c.y2 = append(c.y1, int16(r.Y)), append(c.y2, int16(r.Y+r.H-1))
		c.x1, c.x2 = append(c.x1, int16(r.X)), append(c.x2, int16(r.X+r.W-1))
	}
	return c
}

// rowsOf are the rows of the canvas in which the leases have blocks, each once.
func rowsOf(leases []Lease) (ys []int16) {
	for _, l := range leases {
		for y := l.Rect.Y; y < l.Rect.Y+l.Rect.H; y++ {
			ys = append(ys, int16(y))
		}
	}
	slices.Sort(ys)
	return slices.Compact(ys)
}
