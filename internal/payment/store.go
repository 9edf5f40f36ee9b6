package payment

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/rental"
)

const columns = `id, key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email,
	go_live_at, created_at, expires_at, session_id, session_url, payment_intent, ended_at, paid_at, unwound_at`

func scan(row pgx.CollectableRow) (Payment, error) {
	var p Payment
	err := row.Scan(&p.ID, &p.Key, &p.Rental, &p.Purpose, &p.Weeks, &p.Amount.Amount, &p.Amount.Currency,
		&p.State, &p.Outcome, &p.IdempotencyKey, &p.Email, &p.GoLiveAt, &p.CreatedAt, &p.ExpiresAt,
		&p.SessionID, &p.SessionURL, &p.PaymentIntent, &p.EndedAt, &p.PaidAt, &p.UnwoundAt)
	return p, err
}

func many(ctx context.Context, q db.Querier, sql string, args ...any) ([]Payment, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, db.Explain("payment: read", err)
	}
	ps, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, db.Explain("payment: read", err)
	}
	return ps, nil
}

func one(ctx context.Context, q db.Querier, sql string, args ...any) (Payment, error) {
	ps, err := many(ctx, q, sql, args...)
	if err != nil {
		return Payment{}, err
	}
	if len(ps) == 0 {
		return Payment{}, fault.New(fault.NotFound, "There is no such payment.")
	}
	return ps[0], nil
}

// ByID reads a payment.
func ByID(ctx context.Context, q db.Querier, id ID) (Payment, error) {
	return one(ctx, q, `SELECT `+columns+` FROM payments WHERE id = $1`, id)
}

// ByKey reads a payment by the key that Stripe carries as our reference.
func ByKey(ctx context.Context, q db.Querier, key string) (Payment, error) {
	return one(ctx, q, `SELECT `+columns+` FROM payments WHERE key = $1`, key)
}

// BySession reads a payment by its session at Stripe.
func BySession(ctx context.Context, q db.Querier, session string) (Payment, error) {
	return one(ctx, q, `SELECT `+columns+` FROM payments WHERE session_id = $1`, session)
}

// ByIntent reads a payment by Stripe's payment intent.
func ByIntent(ctx context.Context, q db.Querier, intent string) (Payment, error) {
	return one(ctx, q, `SELECT `+columns+` FROM payments WHERE payment_intent = $1 ORDER BY id LIMIT 1`, intent)
}

// OfRental lists a rental's payments, the oldest first.
func OfRental(ctx context.Context, q db.Querier, id rental.ID) ([]Payment, error) {
	return many(ctx, q, `SELECT `+columns+` FROM payments WHERE rental_id = $1 ORDER BY id`, id)
}

// LockOfRental lists a locked rental's payments and keeps their rows. The
// rental's own row must be locked first.
func LockOfRental(ctx context.Context, tx pgx.Tx, id rental.ID) ([]Payment, error) {
	return many(ctx, tx, `SELECT `+columns+` FROM payments WHERE rental_id = $1 ORDER BY id FOR NO KEY UPDATE`, id)
}

// Insert writes a new open payment. Its deadline is ttl from the
// transaction's start.
func Insert(ctx context.Context, tx pgx.Tx, p Payment, ttl time.Duration) (Payment, error) {
	const sql = `
		INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, idempotency_key, email, go_live_at, expires_at)
		VALUES (@key, @rental, @purpose, @weeks, @amount, @currency, 'open', @idempotency_key, @email, @go_live_at, now() + @ttl::interval)
		RETURNING ` + columns
	return one(ctx, tx, sql, pgx.NamedArgs{
		"key": p.Key, "rental": p.Rental, "purpose": p.Purpose, "weeks": p.Weeks, "amount": p.Amount.Amount,
		"currency": p.Amount.Currency, "idempotency_key": p.IdempotencyKey, "email": p.Email,
		"go_live_at": p.GoLiveAt, "ttl": ttl,
	})
}

// SetSession stores the session Stripe made for a payment that has none yet.
// It reports false when the payment came to its end meanwhile, unless it did
// by being paid.
func SetSession(ctx context.Context, tx pgx.Tx, id ID, session, url string) (bool, error) {
	const sql = `UPDATE payments SET session_id = $2, session_url = $3
		WHERE id = $1 AND state IN ('open', 'processing', 'paid') AND (session_id IS NULL OR session_id = $2)`
	return changed(ctx, tx, "set session", sql, id, session, url)
}

// NoteSession stores the session of a payment that came to its end before the
// session was known, so that it can be made unpayable.
func NoteSession(ctx context.Context, tx pgx.Tx, id ID, session, url string) error {
	const sql = `UPDATE payments SET session_id = $2, session_url = $3 WHERE id = $1 AND session_id IS NULL`
	_, err := changed(ctx, tx, "note session", sql, id, session, url)
	return err
}

// GiveUp marks an open payment whose page the buyer does not want any more,
// before Stripe is told. It reports false when it was not open.
func GiveUp(ctx context.Context, tx pgx.Tx, id ID) (bool, error) {
	const sql = `UPDATE payments SET ended_at = now() WHERE id = $1 AND state = 'open'`
	return changed(ctx, tx, "give up", sql, id)
}

// Expire ends an open payment that cannot be paid any more. It reports false
// when it was not open: money that is under way is not ended by time.
func Expire(ctx context.Context, tx pgx.Tx, id ID) (bool, error) {
	const sql = `UPDATE payments SET state = 'expired', ended_at = now() WHERE id = $1 AND state = 'open'`
	return changed(ctx, tx, "expire", sql, id)
}

// Fail ends a payment whose money did not arrive. It reports false when it had
// come to its end before.
func Fail(ctx context.Context, tx pgx.Tx, id ID) (bool, error) {
	const sql = `UPDATE payments SET state = 'failed', ended_at = now() WHERE id = $1 AND state IN ('open', 'processing')`
	return changed(ctx, tx, "fail", sql, id)
}

// Process marks an open payment whose money is under way. That its page was
// given up before does not matter any more.
func Process(ctx context.Context, tx pgx.Tx, id ID, session, intent string) (bool, error) {
	const sql = `UPDATE payments SET state = 'processing', ended_at = NULL, session_id = COALESCE(session_id, NULLIF($2, '')),
		payment_intent = COALESCE(payment_intent, NULLIF($3, '')) WHERE id = $1 AND state IN ('open', 'expired')`
	return changed(ctx, tx, "process", sql, id, session, intent)
}

// Book records that the money arrived, once. It reports false when it was
// booked before.
func Book(ctx context.Context, tx pgx.Tx, id ID, o Outcome, session, intent string) (bool, error) {
	const sql = `UPDATE payments SET state = 'paid', outcome = $2, paid_at = now(),
		session_id = COALESCE(session_id, NULLIF($3, '')), payment_intent = COALESCE(payment_intent, NULLIF($4, ''))
		WHERE id = $1 AND state <> 'paid'`
	return changed(ctx, tx, "book", sql, id, o, session, intent)
}

// Learn fills in what a booked payment did not know of itself yet: its
// session and its payment intent.
func Learn(ctx context.Context, q db.Querier, id ID, session, intent string) error {
	_, err := q.Exec(ctx, `UPDATE payments SET session_id = COALESCE(session_id, NULLIF($2, '')),
		payment_intent = COALESCE(payment_intent, NULLIF($3, ''))
		WHERE id = $1 AND (session_id IS NULL OR payment_intent IS NULL)`, id, session, intent)
	if err != nil {
		return db.Explain("payment: learn", err)
	}
	return nil
}

// Unwind notes that a payment whose weeks were given has gone back in full, once.
// It reports false when it had before, or gave nothing.
func Unwind(ctx context.Context, tx pgx.Tx, id ID) (bool, error) {
	const sql = `UPDATE payments SET unwound_at = now() WHERE id = $1 AND outcome = 'applied' AND unwound_at IS NULL`
	return changed(ctx, tx, "unwind", sql, id)
}

func changed(ctx context.Context, tx pgx.Tx, op, sql string, args ...any) (bool, error) {
	tag, err := tx.Exec(ctx, sql, args...)
	if err != nil {
		return false, db.Explain("payment: "+op, err)
	}
	return tag.RowsAffected() == 1, nil
}

// IsNotFound reports whether err says that there is no such payment.
func IsNotFound(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.NotFound
}
