package creative

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/rental"
)

const columns = `c.id, c.key, c.rental_id, c.revision, c.state, c.reason, c.link, c.link_host, c.title, c.alt, c.fit,
	c.picture, c.picture_2x, c.submitted_at, c.decided_at, c.decided_by`

func (c *Creative) fields() []any {
	return []any{
		&c.ID, &c.Key, &c.Rental, &c.Revision, &c.State, &c.Reason, &c.Link, &c.LinkHost, &c.Title, &c.Alt,
		&c.Fit, &c.Picture, &c.Picture2x, &c.SubmittedAt, &c.DecidedAt, &c.DecidedBy,
	}
}

func many(ctx context.Context, q db.Querier, sql string, args ...any) ([]Creative, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, db.Explain("creative: read", err)
	}
	cs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Creative, error) {
		var c Creative
		return c, row.Scan(c.fields()...)
	})
	if err != nil {
		return nil, db.Explain("creative: read", err)
	}
	return cs, nil
}

// NotFound is the answer for an unknown revision.
func NotFound() *fault.Error { return fault.New(fault.NotFound, "There is no such picture.") }

// ByKey reads a revision.
func ByKey(ctx context.Context, q db.Querier, key string) (Creative, error) {
	cs, err := many(ctx, q, `SELECT `+columns+` FROM creatives c WHERE c.key = $1`, key)
	if err != nil {
		return Creative{}, err
	}
	if len(cs) == 0 {
		return Creative{}, NotFound()
	}
	return cs[0], nil
}

// OfRental lists a rental's revisions, the newest first.
func OfRental(ctx context.Context, q db.Querier, id rental.ID) ([]Creative, error) {
	return many(ctx, q, `SELECT `+columns+` FROM creatives c WHERE c.rental_id = $1 ORDER BY c.revision DESC`, id)
}

// Approve moves the exact pending revision to approved and supersedes the one
// approved before. It reports false when the revision is not pending any more.
// The rental's row must be locked.
func Approve(ctx context.Context, tx pgx.Tx, c Creative, by string) (bool, error) {
	const old = `UPDATE creatives SET state = 'superseded' WHERE rental_id = $1 AND state = 'approved'
		AND EXISTS (SELECT FROM creatives WHERE id = $2 AND state = 'pending')`
	if _, err := tx.Exec(ctx, old, c.Rental, c.ID); err != nil {
		return false, db.Explain("creative: supersede the approved one", err)
	}
	return decide(ctx, tx, c.ID, Approved, nil, by)
}

// Reject moves the exact pending revision to rejected, with the reason the
// buyer reads. It reports false when the revision is not pending any more.
func Reject(ctx context.Context, tx pgx.Tx, c Creative, reason, by string) (bool, error) {
	return decide(ctx, tx, c.ID, Rejected, &reason, by)
}

func decide(ctx context.Context, tx pgx.Tx, id ID, to State, reason *string, by string) (bool, error) {
	const sql = `UPDATE creatives SET state = $2, reason = $3, decided_at = now(), decided_by = $4
		WHERE id = $1 AND state = 'pending'`
	tag, err := tx.Exec(ctx, sql, id, to, reason, by)
	if err != nil {
		return false, db.Explain("creative: decide", err)
	}
	return tag.RowsAffected() == 1, nil
}

// TitleOf is the title of a rental's approved picture, or empty when none is.
func TitleOf(ctx context.Context, q db.Querier, id rental.ID) (string, error) {
	var title string
	err := q.QueryRow(ctx, `SELECT COALESCE((SELECT title FROM creatives WHERE rental_id = $1 AND state = 'approved'), '')`, id).Scan(&title)
	return title, db.Explain("creative: read a title", err)
}

// Supersede takes the waiting revision of a locked rental out of the queue.
func Supersede(ctx context.Context, tx pgx.Tx, id rental.ID) error {
	_, err := tx.Exec(ctx, `UPDATE creatives SET state = 'superseded' WHERE rental_id = $1 AND state = 'pending'`, id)
	if err != nil {
		return db.Explain("creative: supersede", err)
	}
	return nil
}

// Insert writes the next revision of a locked rental, waiting for review.
func Insert(ctx context.Context, tx pgx.Tx, c Creative) (Creative, error) {
	const sql = `
		INSERT INTO creatives AS c (key, rental_id, revision, state, link, link_host, title, alt, fit, picture, picture_2x)
		SELECT @key, @rental, COALESCE(max(o.revision), 0) + 1, 'pending', @link, @link_host, @title, @alt, @fit, @picture, @picture_2x
		FROM creatives o WHERE o.rental_id = @rental
		RETURNING ` + columns
	cs, err := many(ctx, tx, sql, pgx.NamedArgs{
		"key": c.Key, "rental": c.Rental, "link": c.Link, "link_host": c.LinkHost, "title": c.Title,
		"alt": c.Alt, "fit": c.Fit, "picture": c.Picture, "picture_2x": c.Picture2x,
	})
	if err != nil {
		return Creative{}, err
	}
	return cs[0], nil
}

// Keep stores a picture. Bytes that are there already are only made young, so
// that nobody sweeps them up before a revision names them.
func Keep(ctx context.Context, q db.Querier, p Picture) error {
	const sql = `INSERT INTO pictures (hash, mime, width, height, bytes) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (hash) DO UPDATE SET created_at = now()`
	if _, err := q.Exec(ctx, sql, p.Hash, p.MIME, p.Width, p.Height, p.Bytes); err != nil {
		return db.Explain("creative: keep a picture", err)
	}
	return nil
}

// Sweep removes pictures that no revision names and that are older than a day:
// what was sent with a submission that was refused.
func Sweep(ctx context.Context, q db.Querier) error {
	const sql = `DELETE FROM pictures p WHERE created_at < now() - interval '1 day'
		AND NOT EXISTS (SELECT FROM creatives WHERE picture = p.hash) AND NOT EXISTS (SELECT FROM creatives WHERE picture_2x = p.hash)`
	_, err := q.Exec(ctx, sql)
	return db.Explain("creative: sweep", err)
}

// PictureByHash reads a picture.
func PictureByHash(ctx context.Context, q db.Querier, hash string) (Picture, error) {
	p := Picture{Hash: hash}
	const sql = `SELECT mime, width, height, bytes FROM pictures WHERE hash = $1`
	err := q.QueryRow(ctx, sql, hash).Scan(&p.MIME, &p.Width, &p.Height, &p.Bytes)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, NotFound()
	}
	if err != nil {
		return p, db.Explain("creative: read a picture", err)
	}
	return p, nil
}

// Showing says whether a picture may be seen by everybody.
type Showing int

// What a picture can be for a visitor.
const (
	Unknown Showing = iota // never approved, or not there: 404
	Visible                // on the canvas now
	Over                   // was on the canvas and is not any more: 410
)

// ShowingOf says what the picture with this hash is for a visitor now.
func ShowingOf(ctx context.Context, q db.Querier, hash string) (Showing, error) {
	const sql = `
		SELECT bool_or(c.state = 'approved' AND NOT r.hidden AND r.state <> 'closed' AND r.live_from <= now() AND now() < r.ends_at),
		       bool_or(c.state IN ('approved', 'superseded') AND c.decided_at IS NOT NULL AND r.live_from <= now())
		FROM creatives c JOIN rentals r ON r.id = c.rental_id
		WHERE c.picture = $1 OR c.picture_2x = $1`
	var visible, before *bool
	if err := q.QueryRow(ctx, sql, hash).Scan(&visible, &before); err != nil {
		return Unknown, db.Explain("creative: is it visible", err)
	}
	switch {
	case visible != nil && *visible:
		return Visible, nil
	case before != nil && *before:
		return Over, nil
	}
	return Unknown, nil
}

// Queue lists the revisions that wait for a decision, the one whose window
// closes first first. Rentals that time has closed are not in it.
func Queue(ctx context.Context, q db.Querier, limit int) ([]Review, error) {
	const sql = `SELECT ` + columns + `, r.key, r.x, r.y, r.w, r.h, r.approve_by, r.live_from IS NOT NULL
		FROM creatives c JOIN rentals r ON r.id = c.rental_id
		WHERE c.state = 'pending' AND r.state <> 'closed' AND r.leased_until > now()
		ORDER BY COALESCE(CASE WHEN r.live_from IS NULL THEN r.approve_by END, r.ends_at), c.id LIMIT $1`
	rows, err := q.Query(ctx, sql, limit)
	if err != nil {
		return nil, db.Explain("creative: queue", err)
	}
	rs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Review, error) {
		var r Review
		return r, row.Scan(append(r.fields(), &r.RentalKey, &r.Rect.X, &r.Rect.Y, &r.Rect.W, &r.Rect.H, &r.DecideBy, &r.Live)...)
	})
	if err != nil {
		return nil, db.Explain("creative: queue", err)
	}
	return rs, nil
}
