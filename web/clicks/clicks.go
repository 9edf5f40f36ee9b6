package clicks

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/rental"
)

const (
	find = `SELECT r.id, c.link FROM rentals r JOIN creatives c ON c.rental_id = r.id AND c.state = 'approved'
		WHERE r.public_id = @id AND NOT r.hidden AND r.state <> 'closed' AND r.live_from <= now() AND now() < r.ends_at`
	count = `WITH area AS (` + find + `), counted AS (
		INSERT INTO clicks AS c (rental_id, day, count) SELECT id, (now() AT TIME ZONE 'UTC')::date, 1 FROM area
		ON CONFLICT (rental_id, day) DO UPDATE SET count = c.count + 1)
		SELECT id, link FROM area`
)

// Follow returns the link of an area that is on the canvas now, and counts the
// click if it is one. An area that was there before is Gone, any other id
// NotFound.
func Follow(ctx context.Context, q db.Querier, publicID string, click bool) (string, error) {
	sql := find
	if click {
		sql = count
	}
	var id rental.ID
	var link string
	err := q.QueryRow(ctx, sql, pgx.NamedArgs{"id": publicID}).Scan(&id, &link)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", Absent(ctx, q, publicID)
	}
	return link, db.Explain("clicks: follow", err)
}

// Absent says why an area is not on the canvas: Gone for one that was, else
// NotFound, so that nobody learns of areas to come.
func Absent(ctx context.Context, q db.Querier, publicID string) error {
	r, err := rental.ByPublicID(ctx, q, publicID)
	if err != nil {
		if fault.Is(err, "not_found") {
			return fault.New(fault.NotFound, "There is no such area on the canvas.")
		}
		return err
	}
	now, err := rental.Now(ctx, q)
	if err != nil {
		return err
	}
	if r.LiveFrom == nil || now.Before(*r.LiveFrom) {
		return fault.New(fault.NotFound, "There is no such area on the canvas.")
	}
	return fault.New(fault.Gone, "This area is no longer on the canvas.")
}
