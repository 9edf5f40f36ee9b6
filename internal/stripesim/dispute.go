package stripesim

import (
	"context"

	"github.com/jackc/pgx/v5"
)

const disputeColumns = `id, amount, charge, floor(extract(epoch FROM created))::bigint AS created, currency,
	payment_intent, reason, status`

// DisputeRequest says which payment is disputed, by whom it names it.
type DisputeRequest struct {
	Charge        string `json:"charge"`
	PaymentIntent string `json:"payment_intent"`
	Reason        string `json:"reason"` // empty: fraudulent
}

// openDispute marks the charge, once, and writes the dispute over what is not
// refunded of it. Refunds judge the same row.
const openDispute = `
	WITH marked AS (
		UPDATE stripesim.charges SET dispute = @id, dispute_state = 'open'
		WHERE id = @charge AND status = 'succeeded' AND dispute_state = 'none' AND amount_refunded < amount
		RETURNING id, payment_intent, currency, amount - amount_refunded AS amount
	)
	INSERT INTO stripesim.disputes (id, created, charge, payment_intent, status, amount, currency, reason)
	SELECT @id, @now, id, payment_intent, 'needs_response', amount, currency, @reason FROM marked
	RETURNING ` + disputeColumns

// OpenDispute is a payer's bank that takes the money back until it is
// decided. A charge is disputed at most once.
func (s *Sim) OpenDispute(ctx context.Context, want DisputeRequest) (*Dispute, error) {
	if want.Reason == "" {
		want.Reason = "fraudulent"
	}
	return act(ctx, s, "open dispute", origin{}, func(ctx context.Context, w *work) (*Dispute, error) {
		charge, err := chargeOf(ctx, w.tx, RefundRequest{Charge: want.Charge, PaymentIntent: want.PaymentIntent})
		if err != nil {
			return nil, err
		}
		made, err := one[Dispute](ctx, w.tx, openDispute, pgx.StrictNamedArgs{
			"id": newID("dp_"), "now": w.now, "charge": charge, "reason": want.Reason,
		})
		if err != nil {
			return nil, err
		}
		if made == nil {
			return nil, wrongState("The charge is not there, not paid, refunded in full, or disputed already.")
		}
		return made, w.emit("charge.dispute.created", made.complete(), nil)
	})
}

// closeDispute decides an open dispute, once, on both rows; the charge's row
// comes first, as when it is opened.
const closeDispute = `
	WITH marked AS (
		UPDATE stripesim.charges SET dispute_state = @status
		WHERE dispute = @id AND dispute_state = 'open'
		RETURNING dispute
	)
	UPDATE stripesim.disputes SET status = @status FROM marked WHERE id = marked.dispute
	RETURNING ` + disputeColumns

// CloseDispute decides a dispute: won keeps the money and allows refunds
// again, lost does not.
func (s *Sim) CloseDispute(ctx context.Context, id string, won bool) (*Dispute, error) {
	status := "lost"
	if won {
		status = "won"
	}
	return act(ctx, s, "close dispute", origin{}, func(ctx context.Context, w *work) (*Dispute, error) {
		closed, err := one[Dispute](ctx, w.tx, closeDispute, pgx.StrictNamedArgs{"id": id, "status": status})
		if err != nil {
			return nil, err
		}
		if closed == nil {
			return nil, wrongState("There is no such open dispute.")
		}
		return closed, w.emit("charge.dispute.closed", closed.complete(), map[string]any{"status": "needs_response"})
	})
}
