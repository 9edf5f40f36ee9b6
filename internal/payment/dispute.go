package payment

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/money"
)

// DisputeState is where a dispute stands.
type DisputeState string

// The states of a dispute.
const (
	DisputeOpen DisputeState = "open"
	DisputeWon  DisputeState = "won"
	DisputeLost DisputeState = "lost"
)

// Dispute is money that a payer's bank took back until it is decided. An
// inquiry, which moves nothing, has the amount 0.
type Dispute struct {
	ID       string // Stripe's
	Payment  ID
	Amount   money.Money
	State    DisputeState
	Reason   string
	OpenedAt time.Time
	ClosedAt *time.Time
}

// OpenDispute writes a dispute, once, and what an inquiry that is known takes
// once it has become a dispute. It reports false when nothing is new.
func OpenDispute(ctx context.Context, tx pgx.Tx, d Dispute) (bool, error) {
	const sql = `INSERT INTO disputes AS d (id, payment_id, amount, currency, state, reason) VALUES ($1, $2, $3, $4, 'open', $5)
		ON CONFLICT (id) DO UPDATE SET amount = excluded.amount WHERE d.state = 'open' AND d.amount = 0 AND excluded.amount > 0`
	return changed(ctx, tx, "open a dispute", sql, d.ID, d.Payment, d.Amount.Amount, d.Amount.Currency, d.Reason)
}

// CloseDispute writes how an open dispute was decided, once.
func CloseDispute(ctx context.Context, tx pgx.Tx, id string, to DisputeState) (bool, error) {
	const sql = `UPDATE disputes SET state = $2, closed_at = now() WHERE id = $1 AND state = 'open'`
	return changed(ctx, tx, "close a dispute", sql, id, to)
}

// DisputesOf lists the disputes of some payments, the oldest first.
func DisputesOf(ctx context.Context, q db.Querier, payments ...ID) ([]Dispute, error) {
	const sql = `SELECT id, payment_id, amount, currency, state, reason, opened_at, closed_at FROM disputes
		WHERE payment_id = ANY($1) ORDER BY opened_at, id`
	rows, err := q.Query(ctx, sql, payments)
	if err != nil {
		return nil, db.Explain("payment: read disputes", err)
	}
	ds, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Dispute, error) {
		var d Dispute
		return d, row.Scan(&d.ID, &d.Payment, &d.Amount.Amount, &d.Amount.Currency, &d.State, &d.Reason, &d.OpenedAt, &d.ClosedAt)
	})
	return ds, db.Explain("payment: read disputes", err)
}
