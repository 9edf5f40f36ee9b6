package payment

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
)

const refundColumns = `id, key, payment_id, amount, currency, state, reason, idempotency_key, stripe_id, created_at, called_at, settled_at`

func scanRefund(row pgx.CollectableRow) (Refund, error) {
	var r Refund
	err := row.Scan(&r.ID, &r.Key, &r.Payment, &r.Amount.Amount, &r.Amount.Currency, &r.State, &r.Reason,
		&r.IdempotencyKey, &r.StripeID, &r.CreatedAt, &r.CalledAt, &r.SettledAt)
	return r, err
}

func refunds(ctx context.Context, q db.Querier, sql string, args ...any) ([]Refund, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, db.Explain("payment: read refunds", err)
	}
	rs, err := pgx.CollectRows(rows, scanRefund)
	if err != nil {
		return nil, db.Explain("payment: read refunds", err)
	}
	return rs, nil
}

// RefundByID reads a refund.
func RefundByID(ctx context.Context, q db.Querier, id RefundID) (Refund, error) {
	rs, err := refunds(ctx, q, `SELECT `+refundColumns+` FROM refunds WHERE id = $1`, id)
	if err != nil {
		return Refund{}, err
	}
	if len(rs) == 0 {
		return Refund{}, fault.New(fault.NotFound, "There is no such refund.")
	}
	return rs[0], nil
}

// RefundsOf lists the refunds of some payments, the oldest first.
func RefundsOf(ctx context.Context, q db.Querier, payments ...ID) ([]Refund, error) {
	return refunds(ctx, q, `SELECT `+refundColumns+` FROM refunds WHERE payment_id = ANY($1) ORDER BY id`, payments)
}

// InsertRefund writes a refund of ours, pending until Stripe took it, with
// the key it will be asked with.
func InsertRefund(ctx context.Context, tx pgx.Tx, r Refund) (Refund, error) {
	const sql = `
		INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key, stripe_id, settled_at)
		VALUES (@key, @payment, @amount, @currency, @state, @reason, @idempotency_key, @stripe_id,
		        CASE WHEN @state = 'pending' THEN NULL ELSE now() END)
		ON CONFLICT (stripe_id) DO NOTHING
		RETURNING ` + refundColumns
	rs, err := refunds(ctx, tx, sql, pgx.NamedArgs{
		"key": r.Key, "payment": r.Payment, "amount": r.Amount.Amount, "currency": r.Amount.Currency,
		"state": string(r.State), "reason": r.Reason, "idempotency_key": r.IdempotencyKey, "stripe_id": r.StripeID,
	})
	if err != nil || len(rs) == 0 {
		return Refund{}, err
	}
	return rs[0], nil
}

// LeftOf is what has not been refunded yet of a payment, in minor units:
// its amount less the refunds that are pending or succeeded.
func LeftOf(p Payment, rs []Refund) int64 {
	left := p.Amount.Amount
	for _, r := range rs {
		if r.Payment == p.ID && r.State != RefundFailed {
			left -= r.Amount.Amount
		}
	}
	return left
}

// CallRefund notes that Stripe is about to be asked. What counts is the first
// call: from then on Stripe remembers the key.
func CallRefund(ctx context.Context, q db.Querier, id RefundID) error {
	_, err := q.Exec(ctx, `UPDATE refunds SET called_at = COALESCE(called_at, now()) WHERE id = $1`, id)
	return db.Explain("payment: note the refund's call", err)
}

// RenewRefundKey gives a refund that Stripe does not know another key to be
// asked with, in place of one that is spent.
func RenewRefundKey(ctx context.Context, q db.Querier, r Refund, key string) error {
	const sql = `UPDATE refunds SET idempotency_key = $3, called_at = NULL
		WHERE id = $1 AND idempotency_key = $2 AND state = 'pending' AND stripe_id IS NULL`
	_, err := q.Exec(ctx, sql, r.ID, r.IdempotencyKey, key)
	return db.Explain("payment: renew the refund's key", err)
}

// SettleRefund stores what Stripe says of a refund, by our row. It reports
// false when nothing changed: Stripe said so before, or a later word stands.
func SettleRefund(ctx context.Context, tx pgx.Tx, id RefundID, stripeID string, s RefundState, failure string) (bool, error) {
	const sql = `
		UPDATE refunds SET state = $3, stripe_id = COALESCE(stripe_id, NULLIF($2, '')), failure = NULLIF($4, ''),
		       settled_at = CASE WHEN $3 = 'pending' THEN settled_at ELSE now() END
		WHERE id = $1 AND state <> 'failed' AND (state <> $3 OR stripe_id IS NULL)
		  AND NOT (state = 'succeeded' AND $3 = 'pending')`
	return changed(ctx, tx, "settle refund", sql, id, stripeID, string(s), failure)
}
