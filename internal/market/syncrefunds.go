package market

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/ident"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

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
	byHand := int64(0)
	for _, s := range list {
		booked, err := m.bookRefund(ctx, tx, p, known, s, fx)
		if err != nil {
			return err
		}
		byHand += booked
	}
	// First of all: what gives way below is asked for anew and stays the whole.
	unwound, err := unwind(ctx, tx, p)
	if err != nil {
		return err
	}
	if err := m.giveWay(ctx, tx, p, known, list, fx); err != nil {
		return err
	}
	if unwound {
		err = m.takeBack(ctx, tx, r, p, ps, now, ledger.Stripe, "", fx)
	} else if byHand > 0 {
		err = m.tellRepaid(ctx, tx, r, p, byHand, fx)
	}
	if err != nil {
		return err
	}
	return m.write(ctx, tx, fx)
}

// bookRefund books one refund that Stripe lists: ours by its key, one we know
// by its id, or a new one from the dashboard, whose amount it returns.
func (m *Market) bookRefund(ctx context.Context, tx pgx.Tx, p payment.Payment, known []payment.Refund, s gateway.Refund, fx *effects) (int64, error) {
	for _, r := range known {
		if !is(r, s) {
			continue
		}
		failed, err := m.settleRefundTx(ctx, tx, p, r, s, fx)
		if err != nil || !failed {
			return 0, err
		}
		return 0, outstanding(ctx, tx, p, r, s.Failure)
	}
	back := p.Amount
	back.Amount = s.Amount
	r, err := payment.InsertRefund(ctx, tx, payment.Refund{
		Key: ident.New(), Payment: p.ID, Amount: back, State: stateOf(s), Reason: payment.ReasonAtDashboard,
		IdempotencyKey: "dashboard-" + s.ID, StripeID: &s.ID,
	})
	if err != nil || r.ID == 0 || r.State == payment.RefundFailed {
		return 0, err
	}
	fx.event(refundEvent(p, r, ledger.RefundMade, -s.Amount, ledger.Stripe))
	return s.Amount, nil
}

// tellRepaid tells the buyer of refunds that were made in the dashboard and
// leave the rental as it is.
func (m *Market) tellRepaid(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, amount int64, fx *effects) error {
	rs, err := payment.RefundsOf(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	m.mailRepaid(r, p, amount, payment.LeftOf(p, rs), "", fx)
	return nil
}

// is reports whether Stripe speaks of this refund of ours.
func is(r payment.Refund, s gateway.Refund) bool {
	return s.RefundKey != "" && r.Key == s.RefundKey || r.StripeID != nil && *r.StripeID == s.ID
}

// giveWay ends refunds of ours that Stripe cannot make any more because the
// money, or some of it, went back in another way before ours came; what is
// then left to be returned is asked for anew.
func (m *Market) giveWay(ctx context.Context, tx pgx.Tx, p payment.Payment, known []payment.Refund, list []gateway.Refund, fx *effects) error {
	made := int64(0)
	for _, s := range list {
		if stateOf(s) != payment.RefundFailed {
			made += s.Amount
		}
	}
	for _, r := range known {
		waits := r.State == payment.RefundPending && r.StripeID == nil
		listed := slices.ContainsFunc(list, func(s gateway.Refund) bool { return is(r, s) })
		if !waits || listed || made+r.Amount.Amount <= p.Amount.Amount {
			continue
		}
		// Nobody is told: nothing is owed that does not go back.
		gone := gateway.Refund{Status: gateway.RefundFailed, Failure: "refunded in another way before"}
		if _, err := m.settleRefundTx(ctx, tx, p, r, gone, fx); err != nil {
			return err
		}
		if err := m.refundRest(ctx, tx, p, r.Reason, fx); err != nil {
			return err
		}
	}
	return nil
}

// refundRest refunds what is left of a payment.
func (m *Market) refundRest(ctx context.Context, tx pgx.Tx, p payment.Payment, why string, fx *effects) error {
	rs, err := payment.RefundsOf(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	left := payment.LeftOf(p, rs)
	if left <= 0 {
		return nil
	}
	_, err = m.refund(ctx, tx, p, left, why, ledger.System, fx)
	return err
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
