package turnstile

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
)

// sqlClaim is the turnstile itself, for a claim that displaces nobody.
//
// seen looks plainly, so that a loser leaves before it locks anything. locked
// locks the rect in the one order in which all of us lock blocks, and yields
// each block as it is after the wait, which may be newer than what the
// statement saw at its start. met stops at the first block that is not to be
// had, and with it the locking stops. Only what was locked decides whether
// won writes, and won writes all or nothing.
//
// It reads the rows through "y = ANY": one descent of the index for each row
// of the rect, where a range of y would walk the whole width of the canvas.
const sqlClaim = `
WITH rect AS MATERIALIZED (
    SELECT ARRAY(SELECT generate_series($2::int4, $3::int4)::int2) AS ys
), seen AS MATERIALIZED (
    SELECT leased_until > now() AS running
    FROM blocks
    WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2 AND claim_id <> $1::int8
    LIMIT 1
), locked AS MATERIALIZED (
    SELECT claim_id, leased_until
    FROM blocks
    WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2
      AND NOT EXISTS (SELECT FROM seen)
    ORDER BY y, x
    FOR NO KEY UPDATE
), met AS MATERIALIZED (
    SELECT leased_until > now() AS running
    FROM locked
    WHERE claim_id <> $1::int8
    LIMIT 1
), won AS (
    UPDATE blocks
    SET claim_id = $1::int8, leased_until = $6::timestamptz
    WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2
      AND NOT EXISTS (SELECT FROM seen) AND NOT EXISTS (SELECT FROM met)
    RETURNING 1
)
SELECT (SELECT count(*) FROM won) AS taken, coalesce((SELECT running FROM seen), (SELECT running FROM met)) AS running`

// sqlTakeover is sqlClaim for a claim that is given the blocks of others. It
// works on the union of all rects, cut into pieces of rows: all are locked in
// one ordered pass, those of the rect become the claim's, the rest of what the
// others had is emptied.
//
// won asks locked whose a block is, never the block itself: a condition on the
// block would be judged on what the statement saw at its start, and leave out
// what became the other's since.
const sqlTakeover = `
WITH rect AS MATERIALIZED (
    SELECT ARRAY(SELECT generate_series($2::int4, $3::int4)::int2) AS ys
), seen AS MATERIALIZED (
    SELECT leased_until > now() AS running
    FROM blocks
    WHERE y = ANY ((SELECT ys FROM rect)::int2[]) AND x BETWEEN $4::int2 AND $5::int2
      AND claim_id <> $1::int8 AND claim_id <> ALL ($7::int8[])
    LIMIT 1
), locked AS MATERIALIZED (
    SELECT b.y, b.x, b.claim_id, b.leased_until,
           b.y BETWEEN $2::int2 AND $3::int2 AND b.x BETWEEN $4::int2 AND $5::int2 AS wanted
    FROM unnest($8::int2[], $9::int2[], $10::int2[]) AS p(y, x1, x2)
    JOIN blocks AS b ON b.y = p.y AND b.x BETWEEN p.x1 AND p.x2
    WHERE NOT EXISTS (SELECT FROM seen)
    ORDER BY b.y, b.x
    FOR NO KEY UPDATE OF b
), met AS MATERIALIZED (
    SELECT leased_until > now() AS running
    FROM locked
    WHERE wanted AND claim_id <> $1::int8 AND claim_id <> ALL ($7::int8[])
    LIMIT 1
), won AS (
    UPDATE blocks AS b
    SET claim_id = CASE WHEN l.wanted THEN $1::int8 END,
        leased_until = CASE WHEN l.wanted THEN $6::timestamptz ELSE 'epoch' END
    FROM locked AS l
    WHERE b.y = ANY ($8::int2[]) AND b.y = l.y AND b.x = l.x
      AND (l.wanted OR l.claim_id = ANY ($7::int8[]))
      AND NOT EXISTS (SELECT FROM seen) AND NOT EXISTS (SELECT FROM met)
    RETURNING l.wanted
)
SELECT (SELECT count(*) FROM won WHERE wanted) AS taken,
       coalesce((SELECT running FROM seen), (SELECT running FROM met)) AS running`

// Claim takes all of l.Rect for l.Claim until the given instant, or nothing.
//
// A block can be had if it is free, if it is the claim's own (lapsed or not),
// or if it belongs to one of gives: claims whose rows the caller has locked
// and which it ends in this transaction, because their lease ran out or
// because this claim replaces them. All blocks of gives are emptied by the
// same statement, also those outside l.Rect.
//
// The row of l.Claim, and with it its rect, must be there before: the database
// holds the blocks against it (see the migration). until is an instant that
// came from the database.
//
// It returns ErrTaken or ErrMoved with nothing changed, after which the
// transaction can go on; blocks that it looked at may stay locked until its
// end.
func Claim(ctx context.Context, tx pgx.Tx, l Lease, until time.Time, gives []Lease) error {
	var taken int
	var running *bool // of the block that refused us
	err := ask(ctx, tx, l, until, gives).Scan(&taken, &running)
	if err != nil {
		return fmt.Errorf("turnstile: claim: %w", err)
	}
	switch {
	case running == nil && taken == l.Rect.Area():
		return nil
	case running == nil:
		return fmt.Errorf("turnstile: claim %d of %v took %d blocks", l.Claim, l.Rect, taken)
	case *running:
		return ErrTaken
	default:
		return ErrMoved
	}
}

// ask sends the statement; arguments are by position, since naming them costs
// a rewrite of the statement each time, on the hottest path there is.
func ask(ctx context.Context, tx pgx.Tx, l Lease, until time.Time, gives []Lease) pgx.Row {
	r := l.Rect
	if len(gives) == 0 {
		return tx.QueryRow(ctx, sqlClaim, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until)
	}
	rects, ids := []grid.Rect{r}, make([]ClaimID, 0, len(gives))
	for _, g := range gives {
		rects, ids = append(rects, g.Rect), append(ids, g.Claim)
	}
	ys, x1s, x2s := pieces(rects)
	return tx.QueryRow(ctx, sqlTakeover, l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1, until, ids, ys, x1s, x2s)
}
