package stripesim

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

const intentColumns = `id, amount, floor(extract(epoch FROM created))::bigint AS created, currency, description,
	latest_charge, metadata, payment_method_types, status, decline_message`

const chargeColumns = `id, amount, amount_refunded, floor(extract(epoch FROM created))::bigint AS created, currency,
	description, failure_message, metadata, payment_intent, status, email, method, dispute_state`

// attempt is one try to take the money: what becomes of the intent and the
// charge, by which method, and why it failed if it did.
type attempt struct {
	intent, charge, method string
	message                *string
}

// upsertIntent makes the payment intent of a session at the first attempt and
// moves it at the next ones.
const upsertIntent = `
	INSERT INTO stripesim.payment_intents AS p (id, created, session, status, amount, currency, description,
		latest_charge, metadata, payment_method_types, decline_message)
	VALUES (@id, @now, @session, @status, @amount, @currency, @description, @charge, @metadata, @methods, @message)
	ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status, latest_charge = EXCLUDED.latest_charge,
		amount = EXCLUDED.amount, currency = EXCLUDED.currency, decline_message = EXCLUDED.decline_message
	RETURNING ` + intentColumns

const insertCharge = `
	INSERT INTO stripesim.charges (id, created, payment_intent, status, amount, currency, description, email,
		metadata, method, failure_message)
	VALUES (@id, @now, @intent, @status, @amount, @currency, @description, @email, @metadata, @method, @message)`

// attempt writes one try to pay a session whose row is locked.
func (w *work) attempt(ctx context.Context, s *Session, a attempt) (*PaymentIntent, error) {
	charge := newID("ch_")
	intent, err := one[PaymentIntent](ctx, w.tx, upsertIntent, pgx.StrictNamedArgs{
		"id": s.PaymentIntent.ID, "now": w.now, "session": s.ID, "status": a.intent, "amount": s.AmountTotal,
		"currency": s.Currency, "description": s.IntentDescription, "charge": charge, "metadata": s.IntentMetadata,
		"methods": s.PaymentMethodTypes, "message": a.message,
	})
	if err != nil {
		return nil, err
	}
	email := s.PayerEmail
	if email == nil {
		email = s.CustomerEmail
	}
	_, err = w.tx.Exec(ctx, insertCharge, pgx.StrictNamedArgs{
		"id": charge, "now": w.now, "intent": intent.ID, "status": a.charge, "amount": s.AmountTotal, "currency": s.Currency,
		"description": s.IntentDescription, "email": email, "metadata": s.IntentMetadata, "method": a.method, "message": a.message,
	})
	return intent.complete(), err
}

func findIntent(ctx context.Context, q db.Querier, id string) (*PaymentIntent, error) {
	found, err := one[PaymentIntent](ctx, q, `SELECT `+intentColumns+` FROM stripesim.payment_intents WHERE id = @id`, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, missing("payment_intent", id, "id")
	}
	return found.complete(), nil
}

func findCharge(ctx context.Context, q db.Querier, id string) (*Charge, error) {
	found, err := one[Charge](ctx, q, `SELECT `+chargeColumns+` FROM stripesim.charges WHERE id = @id`, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, missing("charge", id, "id")
	}
	return found.complete(), nil
}

// retrieveIntent is GET /v1/payment_intents/{id}.
func (s *Sim) retrieveIntent(ctx context.Context, c *call) (any, error) {
	paths, err := readExpand(c.form, intentExpansions())
	if err != nil {
		return nil, err
	}
	found, oops := findIntent(ctx, s.o.Pool, c.r.PathValue("id"))
	if oops != nil {
		return nil, oops
	}
	return found, expandIntent(ctx, s.o.Pool, found, paths)
}

// retrieveCharge is GET /v1/charges/{id}.
func (s *Sim) retrieveCharge(ctx context.Context, c *call) (any, error) {
	paths, err := readExpand(c.form, chargeExpansions())
	if err != nil {
		return nil, err
	}
	found, oops := findCharge(ctx, s.o.Pool, c.r.PathValue("id"))
	if oops != nil {
		return nil, oops
	}
	return found, expandCharge(ctx, s.o.Pool, found, paths)
}
