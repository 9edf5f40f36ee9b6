package market

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/payment"
)

// Receive stores a verified event and leaves the job that applies it, in one
// transaction: what was answered with 2xx is durable. A copy changes nothing.
func (m *Market) Receive(ctx context.Context, e gateway.Event, payload []byte) error {
	return db.InTx(ctx, m.pool, "receive an event", func(ctx context.Context, tx pgx.Tx) error {
		const sql = `
			INSERT INTO stripe_events (id, type, livemode, refunded_intent, payload)
			VALUES ($1, $2, $3, NULLIF($4, ''), $5) ON CONFLICT (id) DO NOTHING`
		tag, err := tx.Exec(ctx, sql, e.ID, e.Type, e.Livemode, refundedIntent(e), payload)
		if err != nil {
			return fmt.Errorf("market: store an event: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		return m.queue.Put(ctx, tx, jobs.Request{Args: jobs.ApplyEvent{Event: e.ID}})
	})
}

func refundedIntent(e gateway.Event) string {
	switch e.Type {
	case "charge.refunded", "refund.created", "refund.updated", "refund.failed", "charge.refund.updated":
		return string(e.Object.Intent)
	}
	return ""
}

// ApplyEvent applies a stored event and says what came of it. A job. The
// effect is idempotent, not the event: several events tell of one payment.
func (m *Market) ApplyEvent(ctx context.Context, id string) (kind, outcome string, err error) {
	var payload []byte
	const read = `SELECT payload FROM stripe_events WHERE id = $1`
	if err := m.pool.QueryRow(ctx, read, id).Scan(&payload); err != nil {
		return "", "", db.Explain("market: read an event", err)
	}
	e, err := gateway.Parse(payload)
	if err != nil {
		return "", "", err
	}
	outcome, err = m.apply(ctx, e)
	if err != nil {
		return e.Type, "", err
	}
	const done = `UPDATE stripe_events SET applied_at = now(), outcome = $2 WHERE id = $1`
	if _, err := m.pool.Exec(ctx, done, id, outcome); err != nil {
		return e.Type, "", db.Explain("market: note an applied event", err)
	}
	return e.Type, outcome, nil
}

func (m *Market) apply(ctx context.Context, e gateway.Event) (string, error) {
	if !gateway.Handled(e.Type) {
		return "not handled", nil
	}
	if e.Livemode != m.stripe.Livemode() {
		return "other livemode", m.Report(ctx, Anomaly{
			Kind: "livemode mismatch", Fact: "livemode:" + e.ID,
			Message: fmt.Sprintf("An event of type %s has livemode %t; this installation has %t. Nothing was changed.", e.Type, e.Livemode, m.stripe.Livemode()),
			Action:  "Check which keys and webhook endpoints are configured at Stripe.",
		})
	}
	switch e.Type {
	case "checkout.session.completed", "checkout.session.async_payment_succeeded", "payment_intent.succeeded":
		if e.Object.Object != paymentIntent && e.Object.PaymentStatus != "paid" && e.Object.PaymentStatus != "unpaid" {
			return "nothing paid", nil
		}
		outcome, err := m.Book(ctx, eventProof(e))
		return string(outcome), err
	case "checkout.session.expired":
		return m.ended(ctx, e, m.CheckoutOver)
	case "checkout.session.async_payment_failed":
		return m.ended(ctx, e, m.PaymentFailed)
	case "charge.dispute.created", "charge.dispute.closed":
		return m.disputed(ctx, e)
	}
	if e.Object.Intent == "" {
		return "no payment named", nil
	}
	return "refunds asked for", m.enqueue(ctx, jobs.SyncRefunds{PaymentIntent: string(e.Object.Intent)})
}

// paymentIntent is what Stripe calls the object of a payment's own events; the
// others are about checkout sessions.
const paymentIntent = "payment_intent"

func eventProof(e gateway.Event) Proof {
	o := e.Object
	proof := Proof{
		Session: o.ID, Reference: o.Reference, PaymentKey: o.Metadata["payment_id"], RentalKey: o.Metadata["rental_id"],
		Intent: string(o.Intent), Amount: o.AmountTotal, Currency: o.Currency, Livemode: e.Livemode,
		Processing: o.PaymentStatus == "unpaid",
	}
	if o.Object == paymentIntent {
		proof.Session, proof.Intent, proof.Amount = "", o.ID, o.Received
	}
	return proof
}

// ended applies an event about a session that will not be paid any more.
func (m *Market) ended(ctx context.Context, e gateway.Event, end func(context.Context, payment.ID) error) (string, error) {
	p, err := m.proven(ctx, eventProof(e))
	if payment.IsNotFound(err) || err == nil && p.SessionID != nil && *p.SessionID != e.Object.ID {
		return string(Foreign), nil
	}
	if err != nil {
		return "", err
	}
	return "ended", end(ctx, p.ID)
}

func (m *Market) enqueue(ctx context.Context, args ...jobs.Args) error {
	return db.InTx(ctx, m.pool, "enqueue", func(ctx context.Context, tx pgx.Tx) error {
		var rs []jobs.Request
		for _, a := range args {
			rs = append(rs, jobs.Request{Args: a})
		}
		return m.queue.Put(ctx, tx, rs...)
	})
}
