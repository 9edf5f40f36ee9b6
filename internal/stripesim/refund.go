package stripesim

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

const refundColumns = `id, amount, charge, floor(extract(epoch FROM created))::bigint AS created, currency,
	failure_reason, metadata, payment_intent, reason, status`

// RefundRequest asks for money back. Charge or PaymentIntent names whose.
type RefundRequest struct {
	Charge        string            `json:"charge"`
	PaymentIntent string            `json:"payment_intent"`
	Amount        *int64            `json:"amount"` // minor units; nil: all that is left
	Reason        *string           `json:"reason"`
	Metadata      map[string]string `json:"metadata"`
}

// createRefund is POST /v1/refunds.
func (s *Sim) createRefund(c *call) (action, *Error) {
	p := newScope(c.form)
	p.only("amount", "charge", "currency", "expand", "instructions_email", "metadata", "payment_intent", "reason",
		"refund_application_fee", "reverse_transfer")
	p.never("refund_application_fee")
	p.never("reverse_transfer")
	p.word("reason", "duplicate", "fraudulent", "requested_by_customer")
	want := RefundRequest{
		Charge: p.text("charge"), PaymentIntent: p.text("payment_intent"),
		Reason: p.optional("reason", 40), Metadata: p.metadata("metadata"),
	}
	if p.has("amount") {
		amount := p.between("amount", 1, 999_999_999_999)
		want.Amount = &amount
	}
	if want.Charge == "" && want.PaymentIntent == "" {
		p.refuse("", "parameter_missing", "One of the following params should be provided for this request: payment_intent or charge.")
	}
	paths := p.texts("expand")
	if *p.err != nil {
		return nil, *p.err
	}
	if err := checkExpand(paths, refundExpansions()); err != nil {
		return nil, err
	}
	return func(ctx context.Context, w *work) (any, error) {
		made, err := w.refund(ctx, want)
		if err != nil {
			return nil, err
		}
		return made, expandRefund(ctx, w.tx, made, paths)
	}, nil
}

// DashboardRefund is a refund made by hand at Stripe, without a call of ours.
func (s *Sim) DashboardRefund(ctx context.Context, want RefundRequest) (*Refund, error) {
	return act(ctx, s, "dashboard refund", origin{}, func(ctx context.Context, w *work) (*Refund, error) { return w.refund(ctx, want) })
}

// takeRefund takes the amount out of what is left of the charge and writes
// the refund, or does neither. The row is locked before it is judged, so that
// "all that is left" is what really is left.
const takeRefund = `
	WITH asked AS (
		SELECT id, COALESCE(@amount, amount - amount_refunded) AS want FROM stripesim.charges WHERE id = @charge FOR UPDATE
	), taken AS (
		UPDATE stripesim.charges c SET amount_refunded = c.amount_refunded + asked.want FROM asked
		WHERE c.id = asked.id AND c.status = 'succeeded' AND c.dispute_state IN ('none', 'won')
			AND asked.want > 0 AND c.amount_refunded + asked.want <= c.amount
		RETURNING c.id, c.payment_intent, c.currency, asked.want
	)
	INSERT INTO stripesim.refunds (id, created, charge, payment_intent, status, amount, currency, reason, metadata)
	SELECT @id, @now, id, payment_intent, @status, want, currency, @reason, @metadata FROM taken
	RETURNING ` + refundColumns

func (w *work) refund(ctx context.Context, want RefundRequest) (*Refund, error) {
	chargeID, err := chargeOf(ctx, w.tx, want)
	if err != nil {
		return nil, err
	}
	if want.Metadata == nil {
		want.Metadata = map[string]string{}
	}
	outcome, err := takeOutcome(ctx, w.tx)
	if err != nil {
		return nil, err
	}
	made, err := one[Refund](ctx, w.tx, takeRefund, pgx.StrictNamedArgs{
		"id": newID("re_"), "now": w.now, "charge": chargeID, "amount": want.Amount,
		"status": outcome.first(), "reason": want.Reason, "metadata": want.Metadata,
	})
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, w.notRefundable(ctx, chargeID, want.Amount)
	}
	if err := w.tellRefunded(ctx, made.complete()); err != nil {
		return nil, err
	}
	if outcome == OutcomeFailed {
		return w.failRefund(ctx, made.ID, "declined")
	}
	return made, nil
}

func (w *work) tellRefunded(ctx context.Context, r *Refund) error {
	charge, err := findCharge(ctx, w.tx, r.Charge.ID)
	if err != nil {
		return err
	}
	before := map[string]any{"amount_refunded": charge.AmountRefunded - r.Amount}
	if charge.Refunded {
		before["refunded"] = false
	}
	if err := w.emit("refund.created", r, nil); err != nil {
		return err
	}
	return w.emit("charge.refunded", charge, before)
}

// chargeOf finds the charge that a refund is about.
func chargeOf(ctx context.Context, q db.Querier, want RefundRequest) (string, error) {
	const ofIntent = `
		SELECT p.id, COALESCE((SELECT c.id FROM stripesim.charges c WHERE c.payment_intent = p.id AND c.status <> 'failed'), '') AS charge
		FROM stripesim.payment_intents p WHERE p.id = @intent`
	if want.PaymentIntent == "" {
		return want.Charge, nil
	}
	type pair struct{ ID, Charge string }
	found, err := one[pair](ctx, q, ofIntent, pgx.StrictNamedArgs{"intent": want.PaymentIntent})
	switch {
	case err != nil:
		return "", err
	case found == nil:
		return "", missing("payment_intent", want.PaymentIntent, "payment_intent")
	case found.Charge == "":
		return "", refused("payment_intent", "payment_intent_unexpected_state", "This PaymentIntent (%s) does not have a successful charge to refund.", found.ID)
	case want.Charge != "" && want.Charge != found.Charge:
		return "", refused("charge", "", "The charge %s does not belong to the PaymentIntent %s.", want.Charge, found.ID)
	}
	return found.Charge, nil
}

// notRefundable says why nothing was taken; the charge's row is locked.
func (w *work) notRefundable(ctx context.Context, chargeID string, amount *int64) error {
	c, err := findCharge(ctx, w.tx, chargeID)
	if e := asError(err); err != nil && e.Code == "resource_missing" {
		return missing("charge", chargeID, "charge")
	}
	if err != nil {
		return err
	}
	left := c.Amount - c.AmountRefunded
	switch {
	case c.Status != "succeeded":
		return refused("charge", "charge_not_refundable", "Charge %s cannot be refunded: its payment is %s.", c.ID, c.Status)
	case c.DisputeState == "open" || c.DisputeState == "lost":
		return refused("charge", "charge_disputed", "Charge %s has been charged back; cannot issue a refund.", c.ID)
	case left == 0:
		return refused("charge", "charge_already_refunded", "Charge %s has already been refunded.", c.ID)
	}
	return refused("amount", "", "Refund amount (%d) is greater than unrefunded amount on charge (%d).", *amount, left)
}

// FailRefund lets a refund fail, also one that had succeeded.
func (s *Sim) FailRefund(ctx context.Context, id, reason string) (*Refund, error) {
	return act(ctx, s, "fail refund", origin{}, func(ctx context.Context, w *work) (*Refund, error) { return w.failRefund(ctx, id, reason) })
}

const failRefund = `
	UPDATE stripesim.refunds SET status = 'failed', failure_reason = @reason
	WHERE id = @id AND status IN ('pending', 'succeeded')
	RETURNING ` + refundColumns

func (w *work) failRefund(ctx context.Context, id, reason string) (*Refund, error) {
	if reason == "" {
		reason = "expired_or_canceled_card"
	}
	before, err := w.lockRefund(ctx, id)
	if err != nil {
		return nil, err
	}
	failed, err := one[Refund](ctx, w.tx, failRefund, pgx.StrictNamedArgs{"id": id, "reason": reason})
	if err != nil {
		return nil, err
	}
	if failed == nil {
		return nil, wrongState("The refund has failed already.")
	}
	const giveBack = `UPDATE stripesim.charges SET amount_refunded = amount_refunded - $2 WHERE id = $1`
	if _, err := w.tx.Exec(ctx, giveBack, failed.Charge.ID, failed.Amount); err != nil {
		return nil, err
	}
	failed.complete()
	previous := map[string]any{"status": before, "failure_reason": nil}
	for _, kind := range []string{"charge.refund.updated", "refund.updated", "refund.failed"} {
		if err := w.emit(kind, failed, previous); err != nil {
			return nil, err
		}
	}
	return failed, nil
}

// lockRefund locks the refund's charge and then the refund, the order in
// which refunds are made, and gives the refund's state.
func (w *work) lockRefund(ctx context.Context, id string) (status string, err error) {
	const lockCharge = `SELECT FROM stripesim.charges WHERE id = (SELECT charge FROM stripesim.refunds WHERE id = $1) FOR UPDATE`
	if _, err := w.tx.Exec(ctx, lockCharge, id); err != nil {
		return "", err
	}
	type state struct{ Status string }
	found, err := one[state](ctx, w.tx, `SELECT status FROM stripesim.refunds WHERE id = @id FOR UPDATE`, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", missing("refund", id, "id")
	}
	return found.Status, nil
}

// SucceedRefund lets a pending refund arrive.
func (s *Sim) SucceedRefund(ctx context.Context, id string) (*Refund, error) {
	return act(ctx, s, "succeed refund", origin{}, func(ctx context.Context, w *work) (*Refund, error) { return w.succeedRefund(ctx, id) })
}

func (w *work) succeedRefund(ctx context.Context, id string) (*Refund, error) {
	const succeed = `UPDATE stripesim.refunds SET status = 'succeeded' WHERE id = @id AND status = 'pending' RETURNING ` + refundColumns
	done, err := one[Refund](ctx, w.tx, succeed, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if done == nil {
		if _, err := findRefund(ctx, w.tx, id); err != nil {
			return nil, err
		}
		return nil, wrongState("The refund is not pending.")
	}
	previous := map[string]any{"status": "pending"}
	if err := w.emit("charge.refund.updated", done.complete(), previous); err != nil {
		return nil, err
	}
	return done, w.emit("refund.updated", done, previous)
}

func findRefund(ctx context.Context, q db.Querier, id string) (*Refund, error) {
	found, err := one[Refund](ctx, q, `SELECT `+refundColumns+` FROM stripesim.refunds WHERE id = @id`, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, missing("refund", id, "id")
	}
	return found.complete(), nil
}

// retrieveRefund is GET /v1/refunds/{id}.
func (s *Sim) retrieveRefund(ctx context.Context, c *call) (any, error) {
	paths, err := readExpand(c.form, refundExpansions())
	if err != nil {
		return nil, err
	}
	found, oops := findRefund(ctx, s.o.Pool, c.r.PathValue("id"))
	if oops != nil {
		return nil, oops
	}
	return found, expandRefund(ctx, s.o.Pool, found, paths)
}

// listRefunds is GET /v1/refunds, by payment_intent, charge and created.
func (s *Sim) listRefunds(ctx context.Context, c *call) (any, error) {
	p := newScope(c.form)
	p.only("charge", "created", "ending_before", "expand", "limit", "payment_intent", "starting_after")
	page, created := readPage(p), readCreated(p)
	charge, intent, paths := p.text("charge"), p.text("payment_intent"), readListExpand(p, refundExpansions())
	if *p.err != nil {
		return nil, *p.err
	}
	rows, more, err := list[Refund](ctx, s.o.Pool, listing{
		what: "refund", table: "stripesim.refunds", columns: refundColumns, page: page,
		where: `(@charge = '' OR charge = @charge) AND (@intent = '' OR payment_intent = @intent) AND ` + createdFilter,
		args:  created.args(pgx.StrictNamedArgs{"charge": charge, "intent": intent}),
	})
	if err != nil {
		return nil, err
	}
	return listOf("/v1/refunds", more, rows, func(r *Refund) (any, error) {
		return r.complete(), expandRefund(ctx, s.o.Pool, r, paths)
	})
}
