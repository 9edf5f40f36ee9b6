package turnstile

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
)

const sqlClaim = `
WITH locked AS MATERIALIZED (
    SELECT b.y, b.x, b.claim_id, b.leased_until,
           b.y >= $3::int2 AND b.y < $3::int2 + $5::int2 AND b.x >= $2::int2 AND b.x < $2::int2 + $4::int2 AS wanted
    FROM unnest($7::int2[], $8::int2[], $9::int2[]) AS s(y, x1, x2)
    JOIN blocks AS b ON b.y = s.y AND b.x BETWEEN s.x1 AND s.x2
    ORDER BY b.y, b.x
    FOR NO KEY UPDATE OF b
), refusal AS MATERIALIZED (
    SELECT CASE WHEN leased_until > now() THEN 1 ELSE 2 END AS why
    FROM locked
    WHERE wanted AND claim_id <> $1::int8 AND claim_id <> ALL ($10::int8[])
    LIMIT 1
), written AS (
    UPDATE blocks AS b
    SET claim_id = CASE WHEN l.wanted THEN $1::int8 END,
        leased_until = CASE WHEN l.wanted THEN $6::timestamptz ELSE 'epoch' END
    FROM locked AS l
    WHERE b.y = l.y AND b.x = l.x AND (l.wanted OR l.claim_id = ANY ($10::int8[]))
      AND NOT EXISTS (SELECT FROM refusal)
    RETURNING l.wanted
)
SELECT count(*) FILTER (WHERE wanted), coalesce((SELECT why FROM refusal), 0) FROM written`

// Claim takes all of l.Rect for l.Claim until the given instant, or nothing.
// It succeeds if every block is free, is the claim's own, or belongs to one of
// gives: claims whose rental rows the caller has locked and gives up whole,
// because they lapsed or because this claim replaces them. All blocks of gives
// are emptied in the same statement, also those outside l.Rect.
//
// It returns ErrTaken or ErrMoved with nothing changed; the transaction can go
// on. until is an instant that came from the database.
func Claim(ctx context.Context, tx pgx.Tx, l Lease, until time.Time, gives []Lease) error {
	rects, ids := []grid.Rect{l.Rect}, []int64{}
	for _, g := range gives {
		rects, ids = append(rects, g.Rect), append(ids, int64(g.Claim))
	}
	ys, x1s, x2s := spans(rects)
	var taken, why int
	err := tx.QueryRow(ctx, sqlClaim, l.Claim, l.Rect.X, l.Rect.Y, l.Rect.W, l.Rect.H, until,
		ys, x1s, x2s, ids).Scan(&taken, &why)
	if err != nil {
		return fmt.Errorf("turnstile: claim: %w", err)
	}
	switch {
	case why == 1:
		return ErrTaken
	case why == 2:
		return ErrMoved
	case taken != l.Rect.Area():
		return fmt.Errorf("turnstile: claim of %v took %d blocks", l.Rect, taken)
	}
	return nil
}
