package rental

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/grid"
)

const columns = `id, key, public_id, token_version, person_id, account_id, x, y, w, h, state, closed_reason,
	price_per_week, currency, created_at, counted_from, kept, leased_until, email, go_live_at, paid_at,
	approve_by, live_from, ends_at, reserved_until, hidden, closed_at`

func scan(row pgx.CollectableRow) (Rental, error) {
	var r Rental
	err := row.Scan(&r.ID, &r.Key, &r.PublicID, &r.TokenVersion, &r.PersonID, &r.AccountID,
		&r.Rect.X, &r.Rect.Y, &r.Rect.W, &r.Rect.H, &r.State, &r.ClosedReason,
		&r.PricePerWeek.Amount, &r.PricePerWeek.Currency, &r.CreatedAt, &r.CountedFrom, &r.Kept,
		&r.LeasedUntil, &r.Email, &r.GoLiveAt, &r.PaidAt, &r.ApproveBy, &r.LiveFrom, &r.EndsAt,
		&r.ReservedUntil, &r.Hidden, &r.ClosedAt)
	return r, err
}

func one(ctx context.Context, q db.Querier, sql string, args ...any) (Rental, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return Rental{}, db.Explain("rental: read", err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return Rental{}, NotFound()
	}
	if err != nil {
		return Rental{}, db.Explain("rental: read", err)
	}
	return r, nil
}

func many(ctx context.Context, q db.Querier, sql string, args ...any) ([]Rental, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, db.Explain("rental: list", err)
	}
	rs, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, db.Explain("rental: list", err)
	}
	return rs, nil
}

// NotFound is the answer for an unknown rental and for somebody else's: the
// same, so that ids cannot be probed.
func NotFound() *fault.Error { return fault.New(fault.NotFound, "There is no such rental.") }

// ByKey reads a rental by the key in its address.
func ByKey(ctx context.Context, q db.Querier, key string) (Rental, error) {
	return one(ctx, q, `SELECT `+columns+` FROM rentals WHERE key = $1`, key)
}

// ByID reads a rental.
func ByID(ctx context.Context, q db.Querier, id ID) (Rental, error) {
	return one(ctx, q, `SELECT `+columns+` FROM rentals WHERE id = $1`, id)
}

// ByPublicID reads a rental by the id of its area on the canvas.
func ByPublicID(ctx context.Context, q db.Querier, public string) (Rental, error) {
	return one(ctx, q, `SELECT `+columns+` FROM rentals WHERE public_id = $1`, public)
}

// Lock reads a rental and keeps its row until the transaction ends.
func Lock(ctx context.Context, tx pgx.Tx, id ID) (Rental, error) {
	return one(ctx, tx, `SELECT `+columns+` FROM rentals WHERE id = $1 FOR NO KEY UPDATE`, id)
}

// LockAll locks several rentals together, by id: the one order in which
// rentals are ever locked. Ids of no rental are skipped.
func LockAll(ctx context.Context, tx pgx.Tx, ids []ID) (map[ID]Rental, error) {
	if len(ids) == 0 {
		return map[ID]Rental{}, nil
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	rs, err := many(ctx, tx, `SELECT `+columns+` FROM rentals WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[ID]Rental, len(rs))
	for _, r := range rs {
		byID[r.ID] = r
	}
	return byID, nil
}

// UnpaidOverlapping lists the viewer's own holds and checkouts that share
// blocks with the rect and are not closed.
func UnpaidOverlapping(ctx context.Context, q db.Querier, v Viewer, r grid.Rect) ([]Rental, error) {
	const sql = `SELECT ` + columns + ` FROM rentals
		WHERE state IN ('held', 'paying') AND (person_id = ANY(@persons) OR account_id = @account)
		  AND x < @x::int + @w::int AND @x::int < x + w AND y < @y::int + @h::int AND @y::int < y + h
		ORDER BY id`
	return many(ctx, q, sql, pgx.NamedArgs{
		"persons": v.people(), "account": v.Account, "x": r.X, "y": r.Y, "w": r.W, "h": r.H,
	})
}

// Of lists the viewer's rentals, the newest first.
func Of(ctx context.Context, q db.Querier, v Viewer, limit int) ([]Rental, error) {
	const sql = `SELECT ` + columns + ` FROM rentals
		WHERE person_id = ANY(@persons) OR account_id = @account ORDER BY id DESC LIMIT @limit`
	return many(ctx, q, sql, pgx.NamedArgs{"persons": v.people(), "account": v.Account, "limit": limit})
}

// sqlSeen is the state of a rental as time has made it, whether or not a job
// has written it down: what At says, in SQL.
const sqlSeen = `CASE
	WHEN state IN ('held', 'paying') AND leased_until <= now() THEN 'closed'
	WHEN state = 'paid' AND live_from IS NULL AND approve_by <= now() THEN 'closed'
	WHEN state = 'ended' OR (state = 'live' OR state = 'paid' AND live_from <= now()) AND ends_at <= now() THEN
		CASE WHEN leased_until <= now() THEN 'closed' ELSE 'ended' END
	WHEN state = 'paid' AND live_from <= now() THEN 'live'
	ELSE state END`

// List lists rentals that are in a state now, or all when state is empty, the
// newest first, below the given id when it is not 0.
func List(ctx context.Context, q db.Querier, state State, below ID, limit int) ([]Rental, error) {
	const sql = `SELECT ` + columns + ` FROM rentals
		WHERE (@state::text = '' OR ` + sqlSeen + ` = @state) AND (@below::bigint = 0 OR id < @below) ORDER BY id DESC LIMIT @limit`
	return many(ctx, q, sql, pgx.NamedArgs{"state": string(state), "below": int64(below), "limit": limit})
}

func (v Viewer) people() []int64 {
	people := slices.Clone(v.Persons)
	if v.Account != 0 {
		people = append(people, v.Account)
	}
	if people == nil {
		people = []int64{}
	}
	return people
}

// New is what a hold starts with.
type New struct {
	Key, PublicID string
	Person        int64
	Account       *int64
	Address       []byte // keyed hash of the network address
	Rental        Rental // Rect, PricePerWeek, CountedFrom, Kept, LeasedUntil
}

// Insert writes a new hold and returns it.
func Insert(ctx context.Context, tx pgx.Tx, n New) (Rental, error) {
	const sql = `
		INSERT INTO rentals (key, public_id, person_id, account_id, address, x, y, w, h, state, price_per_week,
		                     currency, counted_from, kept, leased_until)
		VALUES (@key, @public, @person, @account, @address, @x, @y, @w, @h, 'held', @price,
		        @currency, @counted_from, @kept, @leased_until)
		RETURNING ` + columns
	r := n.Rental
	return one(ctx, tx, sql, pgx.NamedArgs{
		"key": n.Key, "public": n.PublicID, "person": n.Person, "account": n.Account, "address": n.Address,
		"x": r.Rect.X, "y": r.Rect.Y, "w": r.Rect.W, "h": r.Rect.H, "price": r.PricePerWeek.Amount,
		"currency": r.PricePerWeek.Currency, "counted_from": r.CountedFrom, "kept": r.Kept, "leased_until": r.LeasedUntil,
	})
}

// Write stores what a transition made of a locked rental, only if it is still
// in the state the transition started from. It returns a conflict otherwise,
// and an internal error for an arrow that the machine has not.
func Write(ctx context.Context, tx pgx.Tx, was, r Rental) error {
	if !May(was, r) {
		return fmt.Errorf("rental: %d cannot turn from %s to %s", r.ID, was.State, r.State)
	}
	const sql = `
		UPDATE rentals SET state = @state, closed_reason = @reason, kept = @kept, leased_until = @leased_until,
		       email = @email, go_live_at = @go_live_at, paid_at = @paid_at, approve_by = @approve_by,
		       live_from = @live_from, ends_at = @ends_at, reserved_until = @reserved_until, hidden = @hidden,
		       closed_at = @closed_at
		WHERE id = @id AND state = @from AND closed_reason IS NOT DISTINCT FROM @from_reason`
	tag, err := tx.Exec(ctx, sql, pgx.NamedArgs{
		"id": r.ID, "from": was.State, "from_reason": was.ClosedReason, "state": r.State, "reason": r.ClosedReason, "kept": r.Kept,
		"leased_until": r.LeasedUntil, "email": r.Email, "go_live_at": r.GoLiveAt, "paid_at": r.PaidAt,
		"approve_by": r.ApproveBy, "live_from": r.LiveFrom, "ends_at": r.EndsAt,
		"reserved_until": r.ReservedUntil, "hidden": r.Hidden, "closed_at": r.ClosedAt,
	})
	if err != nil {
		return db.Explain("rental: write", err)
	}
	if tag.RowsAffected() == 0 {
		return fault.New(fault.Conflict, "This rental has moved on. Please look again.")
	}
	return nil
}

// Now reads the database's clock: the transaction's start inside one.
func Now(ctx context.Context, q db.Querier) (time.Time, error) {
	var now time.Time
	if err := q.QueryRow(ctx, `SELECT now()`).Scan(&now); err != nil {
		return now, db.Explain("rental: read the clock", err)
	}
	return now, nil
}
