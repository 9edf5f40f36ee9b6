package stripesim

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Payment says how a session is paid.
type Payment struct {
	// Late pays although the session is over, by time or by hand.
	Late bool

	// Pending completes the session and leaves the money on its way, as a
	// bank debit does; it settles by AsyncSucceed or AsyncFail.
	Pending bool

	// Amount and Currency, if set, are what is really taken: a wrong charge.
	Amount   int64
	Currency string

	// Email is what the payer types; empty: the one the session was made
	// with, else buyer@example.com.
	Email string
}

// paySession moves a session that can be paid to complete. One statement
// decides: of two payers at once the second finds it complete.
const paySession = `
	UPDATE stripesim.sessions SET status = 'complete', payment_status = @payment_status,
		payment_intent = COALESCE(payment_intent, @intent), decline_message = NULL,
		amount_total = COALESCE(@amount, amount_total), currency = COALESCE(@currency, currency),
		payer_email = COALESCE(@email, customer_email, 'buyer@example.com')
	WHERE id = @id AND (status = 'open' AND expires_at > now() OR @late AND status IN ('open', 'expired'))
	RETURNING ` + sessionColumns

// Pay pays a session. A second call, at once or later, is refused with
// status 409, and so is one for a session that is over unless it is Late.
func (s *Sim) Pay(ctx context.Context, id string, how Payment) (*Session, error) {
	return s.pay(ctx, id, how, origin{})
}

func (s *Sim) pay(ctx context.Context, id string, how Payment, o origin) (*Session, error) {
	return act(ctx, s, "pay", o, func(ctx context.Context, w *work) (*Session, error) { return w.pay(ctx, id, how) })
}

func (w *work) pay(ctx context.Context, id string, how Payment) (*Session, error) {
	state := map[bool]attempt{
		false: {intent: "succeeded", charge: "succeeded", method: "card"},
		true:  {intent: "processing", charge: "pending", method: "us_bank_account"},
	}[how.Pending]
	paid, err := one[Session](ctx, w.tx, paySession, pgx.StrictNamedArgs{
		"id": id, "late": how.Late, "intent": newID("pi_"), "payment_status": paymentStatus(!how.Pending),
		"amount": orNil(how.Amount), "currency": orNil(how.Currency), "email": orNil(how.Email),
	})
	if err != nil {
		return nil, err
	}
	if paid == nil {
		return nil, w.notPayable(ctx, id)
	}
	paid.complete(w.origin.base)
	intent, err := w.attempt(ctx, paid, state)
	if err != nil {
		return nil, err
	}
	if !how.Pending {
		if err := w.emit("payment_intent.succeeded", intent, nil); err != nil {
			return nil, err
		}
	}
	return paid, w.emit("checkout.session.completed", paid, nil)
}

func paymentStatus(paid bool) string {
	if paid {
		return "paid"
	}
	return "unpaid"
}

// orNil makes an empty value no value.
func orNil[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func (w *work) notPayable(ctx context.Context, id string) error {
	found, err := findSession(ctx, w.tx, id, w.origin.base)
	if err != nil {
		return err
	}
	return wrongState("The session is %s and cannot be paid.", found.Status)
}

const declineSession = `
	UPDATE stripesim.sessions SET payment_intent = COALESCE(payment_intent, @intent), decline_message = @message
	WHERE id = @id AND status = 'open' AND expires_at > now()
	RETURNING ` + sessionColumns

// declined is what the pay page shows after a refused card.
const declined = "Your card was declined. Nothing was charged; please try another card."

// Decline is a card that is refused: the session stays open.
func (s *Sim) Decline(ctx context.Context, id string) (*Session, error) {
	return s.decline(ctx, id, origin{})
}

func (s *Sim) decline(ctx context.Context, id string, o origin) (*Session, error) {
	return act(ctx, s, "decline", o, func(ctx context.Context, w *work) (*Session, error) { return w.decline(ctx, id) })
}

func (w *work) decline(ctx context.Context, id string) (*Session, error) {
	open, err := one[Session](ctx, w.tx, declineSession, pgx.StrictNamedArgs{
		"id": id, "intent": newID("pi_"), "message": declined,
	})
	if err != nil {
		return nil, err
	}
	if open == nil {
		return nil, w.notPayable(ctx, id)
	}
	open.complete(w.origin.base)
	message := declined
	intent, err := w.attempt(ctx, open, attempt{intent: "requires_payment_method", charge: "failed", method: "card", message: &message})
	if err != nil {
		return nil, err
	}
	return open, w.emit("payment_intent.payment_failed", intent, nil)
}

// settleIntent moves a payment that is under way to its end, once.
const settleIntent = `
	UPDATE stripesim.payment_intents SET status = @status, decline_message = @message
	WHERE session = @session AND status = 'processing'
	RETURNING ` + intentColumns

const settleCharge = `
	UPDATE stripesim.charges SET status = @status, failure_message = @message
	WHERE id = @id AND status = 'pending'`

// AsyncSucceed lets the pending payment of a session arrive.
func (s *Sim) AsyncSucceed(ctx context.Context, id string) (*Session, error) {
	return s.settle(ctx, id, attempt{intent: "succeeded", charge: "succeeded"})
}

// AsyncFail lets the pending payment of a session fail.
func (s *Sim) AsyncFail(ctx context.Context, id string) (*Session, error) {
	message := "The bank did not make the payment."
	return s.settle(ctx, id, attempt{intent: "requires_payment_method", charge: "failed", message: &message})
}

func (s *Sim) settle(ctx context.Context, id string, to attempt) (*Session, error) {
	return act(ctx, s, "settle debit", origin{}, func(ctx context.Context, w *work) (*Session, error) {
		return w.settle(ctx, id, to)
	})
}

func (w *work) settle(ctx context.Context, id string, to attempt) (*Session, error) {
	if err := w.lockSession(ctx, id); err != nil {
		return nil, err
	}
	intent, err := one[PaymentIntent](ctx, w.tx, settleIntent, pgx.StrictNamedArgs{"session": id, "status": to.intent, "message": to.message})
	if err != nil {
		return nil, err
	}
	if intent == nil {
		return nil, wrongState("The session has no payment under way.")
	}
	args := pgx.StrictNamedArgs{"id": intent.LatestCharge.ID, "status": to.charge, "message": to.message}
	if _, err := w.tx.Exec(ctx, settleCharge, args); err != nil {
		return nil, err
	}
	return w.settled(ctx, id, intent.complete(), to.charge == "succeeded")
}

// settled writes the outcome on the session, with the events that tell of it.
func (w *work) settled(ctx context.Context, id string, intent *PaymentIntent, ok bool) (*Session, error) {
	ofIntent, ofSession := "payment_intent.payment_failed", "checkout.session.async_payment_failed"
	if ok {
		ofIntent, ofSession = "payment_intent.succeeded", "checkout.session.async_payment_succeeded"
	}
	const setPaymentStatus = `UPDATE stripesim.sessions SET payment_status = @payment_status WHERE id = @id RETURNING ` + sessionColumns
	now, err := one[Session](ctx, w.tx, setPaymentStatus, pgx.StrictNamedArgs{"id": id, "payment_status": paymentStatus(ok)})
	if err != nil {
		return nil, err
	}
	now.complete(w.origin.base)
	if err := w.emit(ofIntent, intent, nil); err != nil {
		return nil, err
	}
	return now, w.emit(ofSession, now, nil)
}

// lockSession takes the session's row first, as paying does, so that the two
// cannot lock each other out.
func (w *work) lockSession(ctx context.Context, id string) error {
	tag, err := w.tx.Exec(ctx, `SELECT FROM stripesim.sessions WHERE id = $1 FOR UPDATE`, id)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return missing("checkout.session", id, "id")
	}
	return nil
}

// Expire ends an open session, as its API call does.
func (s *Sim) Expire(ctx context.Context, id string) (*Session, error) {
	return act(ctx, s, "expire", origin{}, func(ctx context.Context, w *work) (*Session, error) { return w.expire(ctx, id) })
}
