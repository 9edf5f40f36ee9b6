package lists

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/rental"
	"tuval/internal/text"
)

// Found are the keys of the rentals that belong to a key or to a contact
// address, the newest first.
func Found(ctx context.Context, q db.Querier, search string, limit int) ([]string, error) {
	const sql = `SELECT key FROM rentals WHERE key = @search OR lower(email) = @email ORDER BY id DESC LIMIT @limit`
	args := pgx.NamedArgs{"search": search, "email": text.EmailKey(search), "limit": limit}
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, db.Explain("lists: find rentals", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return keys, db.Explain("lists: find rentals", err)
}

// Payment is a payment with the rental it is for.
type Payment struct {
	ID        int64
	Key       string
	RentalKey string
	Purpose   string
	Weeks     int
	Amount    int64
	Currency  string
	State     string
	CreatedAt time.Time
	PaidAt    *time.Time
	Session   string
}

// Payments lists payments of a state, or of all when it is empty, the newest
// first, below the given id when that is not 0.
func Payments(ctx context.Context, q db.Querier, state string, below int64, limit int) ([]Payment, error) {
	const sql = `
		SELECT p.id, p.key, r.key, p.purpose, p.weeks, p.amount, p.currency, p.state, p.created_at, p.paid_at, coalesce(p.session_id, '')
		FROM payments p JOIN rentals r ON r.id = p.rental_id
		WHERE (@state = '' OR p.state = @state) AND (@below = 0 OR p.id < @below) ORDER BY p.id DESC LIMIT @limit`
	rows, err := q.Query(ctx, sql, pgx.NamedArgs{"state": state, "below": below, "limit": limit})
	if err != nil {
		return nil, db.Explain("lists: payments", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Payment])
	return all, db.Explain("lists: payments", err)
}

// Paid is what a rental was paid, in minor units, and for how many weeks.
type Paid struct {
	Weeks  int
	Amount int64
}

// PaidFor sums what was paid for each of some rentals.
func PaidFor(ctx context.Context, q db.Querier, ids []rental.ID) (map[rental.ID]Paid, error) {
	const sql = `SELECT rental_id, sum(weeks), sum(amount) FROM payments WHERE rental_id = ANY ($1) AND outcome = 'applied' GROUP BY rental_id`
	raw := make([]int64, len(ids))
	for i, id := range ids {
		raw[i] = int64(id)
	}
	rows, err := q.Query(ctx, sql, raw)
	if err != nil {
		return nil, db.Explain("lists: paid", err)
	}
	paid := map[rental.ID]Paid{}
	var id rental.ID
	var p Paid
	_, err = pgx.ForEachRow(rows, []any{&id, &p.Weeks, &p.Amount}, func() error {
		paid[id] = p
		return nil
	})
	return paid, db.Explain("lists: paid", err)
}

// Use is when an admin was last seen, and how many API tokens of theirs work.
type Use struct {
	LastSeen *time.Time
	Tokens   int
}

// Admins says of each admin how they use the site.
func Admins(ctx context.Context, q db.Querier) (map[int64]Use, error) {
	const sql = `
		SELECT a.id, (SELECT max(seen_at) FROM sessions s WHERE s.admin_id = a.id),
		       (SELECT count(*) FROM admin_tokens t WHERE t.admin_id = a.id AND t.revoked_at IS NULL AND t.expires_at > now())
		FROM admins a`
	rows, err := q.Query(ctx, sql)
	if err != nil {
		return nil, db.Explain("lists: admins", err)
	}
	all := map[int64]Use{}
	var id int64
	var u Use
	_, err = pgx.ForEachRow(rows, []any{&id, &u.LastSeen, &u.Tokens}, func() error {
		all[id] = u
		return nil
	})
	return all, db.Explain("lists: admins", err)
}
