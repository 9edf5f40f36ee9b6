package market

import (
	"context"

	"tuval/internal/db"
)

// WebhookRefused tells an admin, once a day, that a delivery was refused that
// looks like one of Stripe's: reason says why, in words. It is not for
// requests that are no deliveries at all. Payments are booked all the same, by
// reconciliation.
func (m *Market) WebhookRefused(ctx context.Context, reason string) error {
	const sql = `SELECT day, EXISTS (SELECT FROM anomalies WHERE fact = 'webhook refused:' || day)
		FROM (SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day) d`
	var day string
	var told bool
	if err := m.pool.QueryRow(ctx, sql).Scan(&day, &told); err != nil || told {
		return db.Explain("market: look for a refused webhook", err)
	}
	return m.Report(ctx, Anomaly{
		Kind: "webhook refused", Fact: "webhook refused:" + day,
		Message: "A delivery of Stripe's was refused today: " + reason + ". There may have been more.",
		Action:  "Compare the clock of this server with the right time, and the webhook secret with the one at Stripe. Payments are booked all the same, up to a quarter of an hour later.",
	})
}
