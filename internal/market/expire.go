package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// NotYet is what a job gets that came before its time.
type NotYet struct{ Wait time.Duration }

// Error says how long to wait.
func (n NotYet) Error() string { return fmt.Sprintf("not due for another %s", n.Wait) }

// expireAtStripe makes the payment's page unpayable, and books the payment
// when it turns out to be paid, which it reports. try names the attempt: the
// answer to one try must not be replayed for the next.
func (m *Market) expireAtStripe(ctx context.Context, p payment.Payment, try string) (paid bool, err error) {
	s, err := m.stripe.Expire(ctx, *p.SessionID, p.IdempotencyKey+":expire:"+try)
	if err == nil && s.Status == "expired" {
		return false, nil
	}
	if err != nil && !errors.Is(err, gateway.ErrRefused) {
		return false, err
	}
	// It was not open any more: ask what it is.
	if s, err = m.stripe.Get(ctx, *p.SessionID); err != nil {
		return false, err
	}
	if s.Status == "expired" {
		return false, nil
	}
	outcome, err := m.Book(ctx, proofOf(s))
	return outcome == Booked || outcome == Known || outcome == Pending, err
}

// ExpireSession makes the page of a payment that is over unpayable at Stripe.
// A job; try is the attempt's number.
func (m *Market) ExpireSession(ctx context.Context, id payment.ID, try int) error {
	p, err := payment.ByID(ctx, m.pool, id)
	if err != nil {
		return err
	}
	if p.SessionID == nil || p.State == payment.Paid {
		return nil // its page was never shown, or there is nothing to expire
	}
	_, err = m.expireAtStripe(ctx, p, fmt.Sprint(try))
	return err
}

// EndCheckout finds out what became of a payment whose time is over: paid, it
// is booked though no webhook came; open, it is expired and the blocks are
// free; while Stripe does not answer, the lease is prolonged within the
// longest possession. A job; it returns NotYet before its time.
func (m *Market) EndCheckout(ctx context.Context, id payment.ID, try int) error {
	p, err := payment.ByID(ctx, m.pool, id)
	if err != nil || p.State != payment.Open {
		return err
	}
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return err
	}
	if now.Before(p.ExpiresAt) {
		return NotYet{Wait: p.ExpiresAt.Sub(now)}
	}
	if p.SessionID != nil {
		paid, err := m.askAndExpire(ctx, p, try)
		if err != nil {
			return errors.Join(err, m.waitForStripe(ctx, p.Rental))
		}
		if paid {
			return nil
		}
	}
	return m.CheckoutOver(ctx, p.ID)
}

func (m *Market) askAndExpire(ctx context.Context, p payment.Payment, try int) (bool, error) {
	s, err := m.stripe.Get(ctx, *p.SessionID)
	if err != nil {
		return false, err
	}
	switch {
	case s.Paid() || s.Processing():
		_, err := m.Book(ctx, proofOf(s))
		return true, err
	case s.Status == "open":
		return m.expireAtStripe(ctx, p, fmt.Sprint(try))
	}
	return false, nil
}

// stripePatience is by how much a lease is prolonged while Stripe is silent.
const stripePatience = 10 * time.Minute

// waitForStripe keeps the blocks of a checkout whose outcome is not known, to
// at most the longest possession without payment.
func (m *Market) waitForStripe(ctx context.Context, id rental.ID) error {
	return db.InTx(ctx, m.pool, "wait for stripe", func(ctx context.Context, tx pgx.Tx) error {
		r, now, err := lockNow(ctx, tx, id)
		if err != nil || r.State != rental.Paying {
			return err
		}
		until := earliest(now.Add(stripePatience), r.CountedFrom.Add(m.rules.HoldMax))
		if !until.After(*r.LeasedUntil) {
			return nil
		}
		r.LeasedUntil = &until
		return m.prolong(ctx, tx, rental.Paying, r)
	})
}

// CheckoutOver ends a payment that can no longer be paid, and frees the
// blocks of its rental at once when nothing else of it can be.
func (m *Market) CheckoutOver(ctx context.Context, id payment.ID) error {
	return m.endPayment(ctx, id, payment.Expired, rental.Expired, ledger.CheckoutEnded)
}

// PaymentFailed is CheckoutOver for money that was under way and did not
// arrive.
func (m *Market) PaymentFailed(ctx context.Context, id payment.ID) error {
	return m.endPayment(ctx, id, payment.Failed, rental.PaymentFailed, ledger.PaymentFailed)
}

func (m *Market) endPayment(ctx context.Context, id payment.ID, to payment.State, why rental.Reason, kind ledger.Kind) error {
	p, err := payment.ByID(ctx, m.pool, id)
	if err != nil {
		return err
	}
	return db.InTx(ctx, m.pool, "end a checkout", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, p.Rental)
		if err != nil {
			return err
		}
		ps, err := payment.LockOfRental(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		changed, err := payment.End(ctx, tx, p.ID, to)
		if err != nil || !changed {
			return err
		}
		e := about(r, kind, ledger.Stripe)
		e.Payment = int64(p.ID)
		fx.event(e)
		if r.State == rental.Paying && !othersUnderWay(ps, p.ID) {
			move := rental.Move{To: rental.Closed, Reason: why, At: earliest(now, *r.LeasedUntil)}
			if r, err = m.closing(ctx, tx, r, move, ledger.Stripe, fx); err != nil {
				return err
			}
			if err := release(ctx, tx, r); err != nil {
				return err
			}
		}
		return m.write(ctx, tx, fx)
	})
}

func othersUnderWay(ps []payment.Payment, but payment.ID) bool {
	for _, p := range ps {
		if p.ID != but && (p.State == payment.Open || p.State == payment.Processing) {
			return true
		}
	}
	return false
}
