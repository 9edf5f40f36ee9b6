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
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// refund writes a refund of ours and leaves the job that makes it. It takes
// effect now; should Stripe refuse it later, the ledger is corrected and an
// admin is told. It reports whether a payment that counted has gone back in
// full by it: then its weeks are to be taken back.
func (m *Market) refund(ctx context.Context, tx pgx.Tx, p payment.Payment, amount int64, why, actor string, fx *effects) (unwound bool, err error) {
	back := p.Amount
	back.Amount = amount
	r, err := payment.InsertRefund(ctx, tx, payment.Refund{
		Key: ident.New(), Payment: p.ID, Amount: back, State: payment.RefundPending, Reason: why,
		IdempotencyKey: refundKey(),
	})
	if err != nil {
		return false, err
	}
	fx.event(refundEvent(p, r, ledger.RefundMade, -amount, actor))
	fx.job(jobs.MakeRefund{Refund: int64(r.ID)})
	return unwind(ctx, tx, p)
}

// unwind notes that a payment has gone back in full, if it has. It reports true
// once.
func unwind(ctx context.Context, tx pgx.Tx, p payment.Payment) (bool, error) {
	rs, err := payment.RefundsOf(ctx, tx, p.ID)
	if err != nil || payment.LeftOf(p, rs) > 0 {
		return false, err
	}
	return payment.Unwind(ctx, tx, p.ID)
}

// refundAll refunds what is left of every payment whose weeks were given, and
// returns the sum in minor units.
func (m *Market) refundAll(ctx context.Context, tx pgx.Tx, ps []payment.Payment, why, actor string, fx *effects) (int64, error) {
	total := int64(0)
	for _, p := range ps {
		if p.Outcome == nil || *p.Outcome != payment.Applied {
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
		if _, err := m.refund(ctx, tx, p, left, why, actor, fx); err != nil {
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
	switch {
	case errors.Is(err, gateway.ErrRefused):
		return m.refundRefused(ctx, p, id, intent)
	case errors.Is(err, gateway.ErrSpent):
		return errors.Join(err, m.anotherKey(ctx, r, intent))
	case err != nil:
		return err
	}
	return m.settleRefund(ctx, p, r, made)
}

// refundRefused finds out why Stripe refuses a refund: perhaps the money went
// back in another way meanwhile, which settles it; else it failed.
func (m *Market) refundRefused(ctx context.Context, p payment.Payment, id payment.RefundID, intent string) error {
	if err := m.SyncRefunds(ctx, intent); err != nil {
		return err
	}
	r, err := payment.RefundByID(ctx, m.pool, id)
	if err != nil || r.State != payment.RefundPending || r.StripeID != nil {
		return err
	}
	return m.settleRefund(ctx, p, r, gateway.Refund{Status: gateway.RefundFailed, Failure: "refused by Stripe"})
}

// anotherKey is for a refund whose key Stripe keeps a failure under. It may
// have been made all the same: only when Stripe does not list it, it is asked
// for anew at the next try.
func (m *Market) anotherKey(ctx context.Context, r payment.Refund, intent string) error {
	if found, err := m.madeBefore(ctx, r, intent); found || err != nil {
		return err
	}
	return payment.RenewRefundKey(ctx, m.pool, r, refundKey())
}

func refundKey() string { return "tuval-refund-" + ident.New() }

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
	case gateway.RefundSucceeded:
		return payment.RefundSucceeded
	case gateway.RefundFailed, gateway.RefundCanceled:
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
		failed, err := m.settleRefundTx(ctx, tx, p, r, s, fx)
		if err != nil {
			return err
		}
		if failed {
			if err := outstanding(ctx, tx, p, r, s.Failure); err != nil {
				return err
			}
		}
		return m.write(ctx, tx, fx)
	})
}

// settleRefundTx moves a refund to what Stripe says of it, and reports whether
// it failed now.
func (m *Market) settleRefundTx(ctx context.Context, tx pgx.Tx, p payment.Payment, r payment.Refund, s gateway.Refund, fx *effects) (failed bool, err error) {
	to := stateOf(s)
	changed, err := payment.SettleRefund(ctx, tx, r.ID, s.ID, to, s.Failure)
	if err != nil || !changed || r.State == to {
		return false, err
	}
	switch to {
	case payment.RefundSucceeded:
		fx.event(refundEvent(p, r, ledger.RefundSucceeded, 0, ledger.Stripe))
	case payment.RefundFailed:
		fx.event(refundEvent(p, r, ledger.RefundFailed, r.Amount.Amount, ledger.Stripe))
		return true, nil
	case payment.RefundPending:
	}
	return false, nil
}

// outstanding tells an admin of money that is owed and did not go back.
func outstanding(ctx context.Context, tx pgx.Tx, p payment.Payment, r payment.Refund, why string) error {
	return reportTx(ctx, tx, Anomaly{
		Kind: "refund failed", Fact: "refund failed:" + r.Key, Rental: p.Rental, Payment: p.ID, Refund: r.ID,
		Message: fmt.Sprintf("A refund of %s did not go through (%s).", r.Amount, why),
		Action:  "Refund again, or pay the buyer back another way.", Remedy: RefundAgain,
	})
}
