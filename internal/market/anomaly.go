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
	Key        string
	Kind       string
	Fact       string
	Rental     rental.ID
	RentalKey  string
	Payment    payment.ID
	Refund     payment.RefundID
	PaymentKey string
	RefundKey  string
	Job        int64 // of Remedy RetryJob
	Message    string
	Action     string // what to do about it
	Remedy     Remedy // what a button can do about it
	Done       string // what was done
	FirstSeen  time.Time
	LastSeen   time.Time
	Resolved   *time.Time
}

// Remedy is what Tuval can do about an anomaly when an admin says so.
type Remedy string

// The remedies.
const (
	NoRemedy    Remedy = ""
	RetryJob    Remedy = "retry job"
	RefundAgain Remedy = "refund again"
)

// Report stores an anomaly. One that was dealt with stays so when its fact is
// told again, but for a job that was given up once more after a retry.
func (m *Market) Report(ctx context.Context, a Anomaly) error { return reportTx(ctx, m.pool, a) }

func reportTx(ctx context.Context, q db.Querier, a Anomaly) error {
	const sql = `
		INSERT INTO anomalies (key, fact, kind, rental_id, payment_id, refund_id, message, action, remedy, job_id)
		VALUES (@key, @fact, @kind, NULLIF(@rental, 0::bigint), NULLIF(@payment, 0::bigint), NULLIF(@refund, 0::bigint), @message, @action,
		        @remedy, NULLIF(@job, 0::bigint))
		ON CONFLICT (fact) DO UPDATE SET last_seen = now(), message = excluded.message,
			resolved_at = CASE WHEN excluded.remedy <> 'retry job' THEN anomalies.resolved_at END`
	_, err := q.Exec(ctx, sql, pgx.NamedArgs{
		"key": ident.New(), "fact": a.Fact, "kind": a.Kind, "rental": int64(a.Rental), "payment": int64(a.Payment),
		"refund": int64(a.Refund), "message": a.Message, "action": a.Action, "remedy": string(a.Remedy), "job": a.Job,
	})
	if err != nil {
		return db.Explain("market: report an anomaly", err)
	}
	return nil
}

const anomalyColumns = `a.key, a.kind, a.fact, COALESCE(a.rental_id, 0), COALESCE(r.key, ''), COALESCE(a.payment_id, 0), COALESCE(p.key, ''),
	COALESCE(a.refund_id, 0), COALESCE(f.key, ''), COALESCE(a.job_id, 0), a.message, a.action, a.remedy, a.done,
	a.first_seen, a.last_seen, a.resolved_at
	FROM anomalies a LEFT JOIN rentals r ON r.id = a.rental_id LEFT JOIN payments p ON p.id = a.payment_id
	LEFT JOIN refunds f ON f.id = a.refund_id`

func scanAnomaly(row pgx.CollectableRow) (Anomaly, error) {
	var a Anomaly
	err := row.Scan(&a.Key, &a.Kind, &a.Fact, &a.Rental, &a.RentalKey, &a.Payment, &a.PaymentKey, &a.Refund, &a.RefundKey, &a.Job,
		&a.Message, &a.Action, &a.Remedy, &a.Done, &a.FirstSeen, &a.LastSeen, &a.Resolved)
	return a, err
}

// Anomalies lists what is unresolved, the newest first.
func (m *Market) Anomalies(ctx context.Context, limit int) ([]Anomaly, error) {
	return anomalies(ctx, m.pool, `SELECT `+anomalyColumns+` WHERE a.resolved_at IS NULL ORDER BY a.id DESC LIMIT $1`, limit)
}

// SettledAnomalies lists what was resolved last.
func (m *Market) SettledAnomalies(ctx context.Context, limit int) ([]Anomaly, error) {
	return anomalies(ctx, m.pool, `SELECT `+anomalyColumns+` WHERE a.resolved_at IS NOT NULL ORDER BY a.resolved_at DESC LIMIT $1`, limit)
}

func anomalies(ctx context.Context, q db.Querier, sql string, args ...any) ([]Anomaly, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, db.Explain("market: list anomalies", err)
	}
	as, err := pgx.CollectRows(rows, scanAnomaly)
	return as, db.Explain("market: list anomalies", err)
}
