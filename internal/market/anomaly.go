package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/ident"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Anomaly is something that needs a person's eye. Fact tells one from
// another: the same fact seen again only moves its last_seen.
type Anomaly struct {
	Key       string
	Kind      string
	Fact      string
	Rental    rental.ID
	RentalKey string
	Payment   payment.ID
	Refund    payment.RefundID
	Message   string
	Action    string // what to do about it
	FirstSeen time.Time
	LastSeen  time.Time
	Resolved  *time.Time
}

// Report stores an anomaly.
func (m *Market) Report(ctx context.Context, a Anomaly) error { return reportTx(ctx, m.pool, a) }

func reportTx(ctx context.Context, q db.Querier, a Anomaly) error {
	const sql = `
		INSERT INTO anomalies (key, fact, kind, rental_id, payment_id, refund_id, message, action)
		VALUES (@key, @fact, @kind, NULLIF(@rental, 0::bigint), NULLIF(@payment, 0::bigint), NULLIF(@refund, 0::bigint), @message, @action)
		ON CONFLICT (fact) DO UPDATE SET last_seen = now()`
	_, err := q.Exec(ctx, sql, pgx.NamedArgs{
		"key": ident.New(), "fact": a.Fact, "kind": a.Kind, "rental": int64(a.Rental), "payment": int64(a.Payment),
		"refund": int64(a.Refund), "message": a.Message, "action": a.Action,
	})
	if err != nil {
		return db.Explain("market: report an anomaly", err)
	}
	return nil
}

// Anomalies lists what is unresolved, the newest first.
func (m *Market) Anomalies(ctx context.Context, limit int) ([]Anomaly, error) {
	const sql = `
		SELECT a.key, a.kind, a.fact, COALESCE(a.rental_id, 0), COALESCE(r.key, ''), COALESCE(a.payment_id, 0),
		       COALESCE(a.refund_id, 0), a.message, a.action, a.first_seen, a.last_seen, a.resolved_at
		FROM anomalies a LEFT JOIN rentals r ON r.id = a.rental_id
		WHERE a.resolved_at IS NULL ORDER BY a.id DESC LIMIT $1`
	rows, err := m.pool.Query(ctx, sql, limit)
	if err != nil {
		return nil, db.Explain("market: list anomalies", err)
	}
	as, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Anomaly, error) {
		var a Anomaly
		err := row.Scan(&a.Key, &a.Kind, &a.Fact, &a.Rental, &a.RentalKey, &a.Payment, &a.Refund, &a.Message, &a.Action,
			&a.FirstSeen, &a.LastSeen, &a.Resolved)
		return a, err
	})
	if err != nil {
		return nil, db.Explain("market: list anomalies", err)
	}
	return as, nil
}
