package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// cancelPatience is how long a buyer who cancels waits for Stripe.
const cancelPatience = 2 * time.Second

// Cancel lets go of a hold or a checkout at once; repeating it changes
// nothing. If Stripe says that the money is there, it is booked instead and
// the answer is a Conflict, as it is while a bank moves the money: it cannot be
// called back. If Stripe does not answer, the blocks are free
// all the same, and money that still comes is a late payment.
func (m *Market) Cancel(ctx context.Context, who Who, key string) error {
	r, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return err
	}
	if r.Unpaid() {
		if err := m.lastLook(ctx, r); err != nil {
			return err
		}
	}
	return m.cancel(ctx, r.ID)
}

// lastLook makes an open payment page unpayable before its blocks go, and
// books it when it turns out to be paid.
func (m *Market) lastLook(ctx context.Context, r rental.Rental) error {
	ps, err := payment.OfRental(ctx, m.pool, r.ID)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if p.State != payment.Open || p.SessionID == nil {
			continue
		}
		// Written down first, so that Stripe's own word does not close the
		// rental for another reason.
		if err := m.giveUp(ctx, p); err != nil {
			return err
		}
		outcome, err := m.expireAtStripe(ctx, p, ident.New(), cancelPatience)
		switch outcome {
		case Booked, Known:
			return errPaidMeanwhile()
		case Pending:
			return errProcessing()
		case Returned, Foreign, Mismatched: // nothing of it keeps the blocks
		}
		if err != nil {
			m.log.InfoContext(ctx, "payment page not expired yet", "payment", p.ID, "error", err)
		}
	}
	return nil
}

func errPaidMeanwhile() *fault.Error {
	return fault.New(fault.Conflict, "Your payment has arrived. The blocks are yours.")
}

func (m *Market) cancel(ctx context.Context, id rental.ID) error {
	return db.InTx(ctx, m.pool, "cancel", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, id)
		if err != nil {
			return err
		}
		if r, err = m.settleLocked(ctx, tx, r, now, fx); err != nil {
			return err
		}
		switch {
		case r.PaidAt != nil:
			return fault.New(fault.Conflict, "This rental is paid. It cannot be cancelled like a hold.")
		case r.Unpaid():
			if err := m.mayReplace(ctx, tx, r); err != nil {
				return err
			}
			move := rental.Move{To: rental.Closed, Reason: rental.Cancelled, At: now}
			if r, err = m.closing(ctx, tx, r, move, ledger.Buyer, fx); err != nil {
				return err
			}
			if err := release(ctx, tx, r); err != nil {
				return err
			}
		}
		return m.write(ctx, tx, fx)
	})
}
