package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/ident"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/mailtext"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// refund writes a refund of ours and leaves the job that makes it. It takes
// effect now; should Stripe refuse it later, the ledger is corrected and an
// admin is told.
func (m *Market) refund(ctx context.Context, tx pgx.Tx, p payment.Payment, amount int64, why string, fx *effects) error {
	back := p.Amount
	back.Amount = amount
	r, err := payment.InsertRefund(ctx, tx, payment.Refund{
		Key: ident.New(), Payment: p.ID, Amount: back, State: payment.RefundPending, Reason: why,
		IdempotencyKey: "tuval-refund-" + ident.New(),
	})
	if err != nil {
		return err
	}
	fx.event(refundEvent(p, r, ledger.RefundMade, -amount, ledger.System))
	fx.job(jobs.MakeRefund{Refund: int64(r.ID)})
	return nil
}

// refundAll refunds what is left of every payment whose weeks were given, and
// returns the sum in minor units.
func (m *Market) refundAll(ctx context.Context, tx pgx.Tx, ps []payment.Payment, why string, fx *effects) (int64, error) {
	total := int64(0)
	for _, p := range ps {
		if p.State != payment.Paid {
			continue
		}
		rs, err := payment.RefundsOf(ctx, tx, p.ID)
		if err != nil {
			return 0, err
		}
		left := payment.LeftOf(p, rs)
		if left <= 0 {
			continue
		}
		if err := m.refund(ctx, tx, p, left, why, fx); err != nil {
			return 0, err
		}
		total += left
	}
	return total, nil
}

func refundEvent(p payment.Payment, r payment.Refund, kind ledger.Kind, amount int64, actor string) ledger.Event {
	return ledger.Event{
		Kind: kind, Claim: int64(p.Rental), Payment: int64(p.ID), Refund: int64(r.ID),
		Amount: amount, Currency: p.Amount.Currency, Actor: actor,
	}
}

// lookupAfter is when an earlier call may be older than Stripe remembers keys.
const lookupAfter = 23 * time.Hour

// MakeRefund asks Stripe to send money back. A job: it looks first and may
// find nothing to do; before a repeat that could be older than Stripe's
// memory of keys it looks the refund up.
func (m *Market) MakeRefund(ctx context.Context, id payment.RefundID) error {
	r, err := payment.RefundByID(ctx, m.pool, id)
	if err != nil || r.State != payment.RefundPending || r.StripeID != nil {
		return err
	}
	p, err := payment.ByID(ctx, m.pool, r.Payment)
	if err != nil {
		return err
	}
	intent, err := m.intentOf(ctx, p)
	if err != nil {
		return err
	}
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return err
	}
	if r.CalledAt != nil && now.Sub(*r.CalledAt) > lookupAfter {
		if found, err := m.madeBefore(ctx, r, intent); found || err != nil {
			return err
		}
	}
	if err := payment.CallRefund(ctx, m.pool, id); err != nil {
		return err
	}
	made, err := m.stripe.Refund(ctx, r.IdempotencyKey, r.Key, intent, r.Amount.Amount)
	if errors.Is(err, gateway.ErrRefused) {
		// Perhaps it was made in the dashboard meanwhile.
		if found, lookErr := m.madeBefore(ctx, r, intent); found || lookErr != nil {
			return lookErr
		}
		return m.settleRefund(ctx, p, r, gateway.Refund{Status: "failed", Failure: "refused by Stripe"})
	}
	if err != nil {
		return err
	}
	return m.settleRefund(ctx, p, r, made)
}

// intentOf is the payment's intent at Stripe, asked for when it is not known.
func (m *Market) intentOf(ctx context.Context, p payment.Payment) (string, error) {
	if p.PaymentIntent != nil {
		return *p.PaymentIntent, nil
	}
	if p.SessionID == nil {
		return "", fmt.Errorf("market: payment %d has no session to refund", p.ID)
	}
	s, err := m.stripe.Get(ctx, *p.SessionID)
	if err != nil {
		return "", err
	}
	return s.PaymentIntent, payment.Learn(ctx, m.pool, p.ID, s.ID, s.PaymentIntent)
}

// madeBefore looks a refund of ours up at Stripe.
func (m *Market) madeBefore(ctx context.Context, r payment.Refund, intent string) (bool, error) {
	list, err := m.stripe.Refunds(ctx, intent)
	if err != nil {
		return false, err
	}
	for _, s := range list {
		if s.RefundKey == r.Key {
			return true, m.SyncRefunds(ctx, intent)
		}
	}
	return false, nil
}

// stateOf is a refund's state in our words.
func stateOf(s gateway.Refund) payment.RefundState {
	switch s.Status {
	case "succeeded":
		return payment.RefundSucceeded
	case "failed", "canceled":
		return payment.RefundFailed
	}
	return payment.RefundPending
}

// settleRefund stores Stripe's word on one refund.
func (m *Market) settleRefund(ctx context.Context, p payment.Payment, r payment.Refund, s gateway.Refund) error {
	return db.InTx(ctx, m.pool, "settle a refund", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		if _, err := rental.Lock(ctx, tx, p.Rental); err != nil {
			return err
		}
		if err := m.settleRefundTx(ctx, tx, p, r, s, fx); err != nil {
			return err
		}
		return m.write(ctx, tx, fx)
	})
}

func (m *Market) settleRefundTx(ctx context.Context, tx pgx.Tx, p payment.Payment, r payment.Refund, s gateway.Refund, fx *effects) error {
	to := stateOf(s)
	changed, err := payment.SettleRefund(ctx, tx, r.ID, s.ID, to, s.Failure)
	if err != nil || !changed || r.State == to {
		return err
	}
	switch to {
	case payment.RefundSucceeded:
		fx.event(refundEvent(p, r, ledger.RefundSucceeded, 0, ledger.Stripe))
	case payment.RefundFailed:
		fx.event(refundEvent(p, r, ledger.RefundFailed, r.Amount.Amount, ledger.Stripe))
		return reportTx(ctx, tx, Anomaly{
			Kind: "refund failed", Fact: "refund failed:" + r.Key, Rental: p.Rental, Payment: p.ID, Refund: r.ID,
			Message: fmt.Sprintf("A refund of %s did not go through (%s).", r.Amount, s.Failure),
			Action:  "Pay the buyer back another way, or refund again.",
		})
	case payment.RefundPending:
	}
	return nil
}

// SyncRefunds books what Stripe lists as the refunds of a payment, each once:
// ours and those made in the dashboard. A payment refunded in full closes its
// rental. It returns NotYet while the payment is not known.
func (m *Market) SyncRefunds(ctx context.Context, intent string) error {
	p, err := payment.ByIntent(ctx, m.pool, intent)
	if payment.IsNotFound(err) || err == nil && p.State != payment.Paid {
		return NotYet{Wait: 30 * time.Second}
	}
	if err != nil {
		return err
	}
	list, err := m.stripe.Refunds(ctx, intent)
	if err != nil {
		return err
	}
	return db.InTx(ctx, m.pool, "book refunds", func(ctx context.Context, tx pgx.Tx) error {
		return m.syncTx(ctx, tx, p, list)
	})
}

func (m *Market) syncTx(ctx context.Context, tx pgx.Tx, p payment.Payment, list []gateway.Refund) error {
	fx := &effects{}
	r, now, err := lockNow(ctx, tx, p.Rental)
	if err != nil {
		return err
	}
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	known, err := payment.RefundsOf(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	for _, s := range list {
		if err := m.bookRefund(ctx, tx, p, known, s, fx); err != nil {
			return err
		}
	}
	if known, err = payment.RefundsOf(ctx, tx, p.ID); err != nil {
		return err
	}
	if payment.LeftOf(p, known) <= 0 {
		if err := m.refundedInFull(ctx, tx, r, p, ps, now, fx); err != nil {
			return err
		}
	}
	return m.write(ctx, tx, fx)
}

// bookRefund books one refund that Stripe lists: ours by its key, one we know
// by its id, or a new one from the dashboard.
func (m *Market) bookRefund(ctx context.Context, tx pgx.Tx, p payment.Payment, known []payment.Refund, s gateway.Refund, fx *effects) error {
	for _, r := range known {
		if s.RefundKey != "" && r.Key == s.RefundKey || r.StripeID != nil && *r.StripeID == s.ID {
			return m.settleRefundTx(ctx, tx, p, r, s, fx)
		}
	}
	back := p.Amount
	back.Amount = s.Amount
	r, err := payment.InsertRefund(ctx, tx, payment.Refund{
		Key: ident.New(), Payment: p.ID, Amount: back, State: stateOf(s), Reason: payment.ReasonAtDashboard,
		IdempotencyKey: "dashboard-" + s.ID, StripeID: &s.ID,
	})
	if err != nil || r.ID == 0 || r.State == payment.RefundFailed {
		return err
	}
	fx.event(refundEvent(p, r, ledger.RefundMade, -s.Amount, ledger.Stripe))
	return nil
}

// refundedInFull closes the rental of a first payment that went back whole,
// and sends back what is left of its other payments.
func (m *Market) refundedInFull(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, ps []payment.Payment, now time.Time, fx *effects) error {
	applied := p.Outcome != nil && *p.Outcome == payment.Applied
	if !applied || p.Purpose != payment.New || r.State == rental.Closed {
		return nil
	}
	total, err := m.refundAll(ctx, tx, others(ps, p.ID), payment.ReasonClosed, fx)
	if err != nil {
		return err
	}
	move := rental.Move{To: rental.Closed, Reason: rental.Refunded, At: now}
	if r, err = m.closing(ctx, tx, r, move, ledger.Stripe, fx); err != nil {
		return err
	}
	back := p.Amount
	back.Amount += total
	fx.mail(r, "cancelled", r.Key, mailtext.Cancelled(mailtext.Cancellation{
		RentalURL: m.rentalURL(r), Rect: r.Rect, Cause: mailtext.RefundedAway, Refund: &back, Receipt: p.Key,
	}))
	return release(ctx, tx, r)
}

func others(ps []payment.Payment, but payment.ID) []payment.Payment {
	var out []payment.Payment
	for _, p := range ps {
		if p.ID != but {
			out = append(out, p)
		}
	}
	return out
}
