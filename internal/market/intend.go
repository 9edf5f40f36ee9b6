package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// intend writes down what is about to be asked of Stripe, with its key, and
// sees to it that the blocks are kept until the answer. It returns the rental's
// open payment when that offers the same.
func (m *Market) intend(ctx context.Context, want payment.Payment) (payment.Payment, error) {
	var p payment.Payment
	err := db.InTx(ctx, m.pool, "begin a checkout", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		p, err = m.intendTx(ctx, tx, want)
		return err
	})
	return p, err
}

func (m *Market) intendTx(ctx context.Context, tx pgx.Tx, want payment.Payment) (p payment.Payment, err error) {
	fx := &effects{}
	r, now, err := lockNow(ctx, tx, want.Rental)
	if err != nil {
		return p, err
	}
	if err := m.mayBuy(r, want.Purpose, now); err != nil {
		return p, err
	}
	if err := mayStart(want.GoLiveAt, now); err != nil {
		return p, err
	}
	if r, err = m.catchUp(ctx, tx, r, now, fx); err != nil {
		return p, err
	}
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return p, err
	}
	p, again, err := m.openPayment(ctx, tx, ps, want, now)
	if err != nil {
		return p, err
	}
	if again {
		return p, m.write(ctx, tx, fx)
	}
	if err := m.mayBegin(r, want.Purpose, now); err != nil {
		return p, err
	}
	want.Key, want.IdempotencyKey = ident.New(), "tuval-checkout-"+ident.New()
	if p, err = payment.Insert(ctx, tx, want, m.rules.CheckoutTTL); err != nil {
		return p, err
	}
	fx.choose(r, p, now)
	return p, m.awaitAnswer(ctx, tx, r, p, now, fx)
}

// mayBegin judges whether there is time left to begin a new payment.
func (m *Market) mayBegin(r rental.Rental, purpose payment.Purpose, now time.Time) error {
	switch {
	case purpose == payment.New && !now.Before(m.rules.checkoutBy(r.CountedFrom)):
		return fault.New(fault.Gone, "The time to begin paying for this hold is over. Please choose the blocks again.")
	case purpose == payment.Renew && !now.Before(*r.ReservedUntil):
		return errNoRenewal(r)
	}
	return nil
}

// openPayment finds the rental's open payment: the same purchase is offered
// again, a call that was never answered is repeated for a while and then
// given up.
func (m *Market) openPayment(ctx context.Context, tx pgx.Tx, ps []payment.Payment, want payment.Payment, now time.Time) (payment.Payment, bool, error) {
	for _, p := range ps {
		switch {
		case p.State == payment.Processing:
			return p, false, errProcessing()
		case p.State != payment.Open:
			continue
		case p.SessionID == nil && now.Sub(p.CreatedAt) >= payment.RepeatFor:
			if _, err := payment.Expire(ctx, tx, p.ID); err != nil {
				return p, false, err
			}
		case !p.SamePurchase(want), p.SessionID != nil && !now.Before(p.ExpiresAt):
			return p, false, errOpening()
		default:
			return p, true, nil
		}
	}
	return payment.Payment{}, false, nil
}

func errOpening() *fault.Error {
	return fault.New(fault.Conflict, "Another payment for this is just being opened. Please try again in a minute.")
}

// awaitAnswer keeps the blocks until Stripe has had its chance to answer, and
// leaves a job for the end of the page.
func (m *Market) awaitAnswer(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, now time.Time, fx *effects) error {
	fx.jobAt(p.ExpiresAt.Add(m.rules.askAfter()), jobs.EndCheckout{Payment: int64(p.ID)})
	after := r
	if p.Purpose == payment.New {
		after.Email, after.GoLiveAt = &p.Email, p.GoLiveAt
	}
	longer, err := m.lengthen(ctx, tx, r, after, now.Add(minLease), fx)
	if err != nil {
		return err
	}
	if longer {
		fx.event(about(r, ledger.HoldProlonged, ledger.System))
	}
	return m.write(ctx, tx, fx)
}

// lengthen writes a locked rental whose lease is to last at least until then
// for the sake of a payment, but not longer than such a lease may. It reports
// whether the lease changed; whoever shows it must be told by an event then.
func (m *Market) lengthen(ctx context.Context, tx pgx.Tx, was, r rental.Rental, until time.Time, fx *effects) (bool, error) {
	until = earliest(until, m.rules.longest(r))
	if !until.After(*r.LeasedUntil) {
		return false, rental.Write(ctx, tx, was, r)
	}
	r.LeasedUntil = &until
	fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: leaseEnds(r)})
	return true, m.prolong(ctx, tx, was, r)
}

// leaseEnds names the deadline at which the rental's lease runs out.
func leaseEnds(r rental.Rental) string {
	if r.Unpaid() {
		return jobs.HoldLapses
	}
	return jobs.RenewalCloses
}

// longest is the end of the longest lease that open payments may give: of a
// hold, counted from its beginning; of a renewal, its session, the grace after
// it and one time of waiting for Stripe more than the reservation.
func (r Rules) longest(of rental.Rental) time.Time {
	switch of.State {
	case rental.Held, rental.Paying:
		return of.CountedFrom.Add(r.HoldMax)
	case rental.Ended:
		return of.ReservedUntil.Add(r.CheckoutTTL + r.CheckoutGrace + stripePatience)
	case rental.Paid, rental.Live, rental.Closed:
	}
	return *of.LeasedUntil // it outlasts any page
}
