package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// NotYet is what a job gets that came before its time.
type NotYet struct{ Wait time.Duration }

// Error says how long to wait.
func (n NotYet) Error() string { return fmt.Sprintf("not due for another %s", n.Wait) }

// jobPatience is how long a job waits for Stripe; its client has a time limit
// for each call.
const jobPatience = time.Minute

// expireAtStripe makes the payment's page unpayable. When its buyer was done
// with it already, the money is booked, and what came of that is returned;
// else the outcome is empty. try names the attempt: the answer to one must not
// be replayed for the next. Stripe is waited for as long as patience lasts;
// money that it tells of is booked in any case.
func (m *Market) expireAtStripe(ctx context.Context, p payment.Payment, try string, patience time.Duration) (BookOutcome, error) {
	asking, stop := context.WithTimeout(ctx, patience)
	defer stop()
	s, err := m.stripe.Expire(asking, *p.SessionID, p.IdempotencyKey+":expire:"+try)
	if err == nil && s.Status == gateway.SessionExpired {
		return "", nil
	}
	if err != nil && !errors.Is(err, gateway.ErrRefused) {
		return "", err
	}
	// It was not open any more: ask what it is.
	if s, err = m.stripe.Get(asking, *p.SessionID); err != nil {
		return m.lost(ctx, p, err)
	}
	if s.Status == gateway.SessionOpen {
		return "", fault.Away("The payment page cannot be closed at the moment. Please try again.", time.Second).
			Because(fmt.Errorf("market: session %s is open and does not expire", s.ID))
	}
	return m.bookSession(ctx, s)
}

// bookSession books a session that is not open any more, if it was completed.
func (m *Market) bookSession(ctx context.Context, s gateway.Session) (BookOutcome, error) {
	if !s.Paid() && !s.Processing() {
		return "", nil
	}
	return m.Book(ctx, proofOf(s))
}

// lost takes a page of which Stripe knows nothing for one that nobody can pay,
// and tells an admin. Other errors are returned.
func (m *Market) lost(ctx context.Context, p payment.Payment, err error) (BookOutcome, error) {
	if !errors.Is(err, gateway.ErrRefused) {
		return "", err
	}
	return "", m.Report(ctx, Anomaly{
		Kind: "session unknown", Fact: "session unknown:" + p.Key, Rental: p.Rental, Payment: p.ID,
		Message: "Stripe does not know the page of this payment. It was taken for over.",
		Action:  "Check whether the keys of another Stripe account are configured; money may arrive there.",
	})
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
	_, err = m.expireAtStripe(ctx, p, fmt.Sprint(try), jobPatience)
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
		outcome, err := m.askAndExpire(ctx, p, try)
		if err != nil {
			return errors.Join(err, m.waitForStripe(ctx, p.Rental))
		}
		switch outcome {
		case Booked, Known, Returned, Pending:
			return nil
		case Foreign, Mismatched: // not what we asked for: nothing was bought
		}
	}
	return m.CheckoutOver(ctx, p.ID)
}

func (m *Market) askAndExpire(ctx context.Context, p payment.Payment, try int) (BookOutcome, error) {
	s, err := m.stripe.Get(ctx, *p.SessionID)
	if err != nil {
		return m.lost(ctx, p, err)
	}
	if s.Status == gateway.SessionOpen {
		return m.expireAtStripe(ctx, p, fmt.Sprint(try), jobPatience)
	}
	return m.bookSession(ctx, s)
}

// stripePatience is by how much a lease is prolonged while Stripe is silent.
const stripePatience = 10 * time.Minute

// waitForStripe keeps the blocks of a payment whose outcome is not known, as
// long as such a lease may last. A lease that is over stays over: somebody may
// be about to take the blocks. A rental that is live has a longer one.
func (m *Market) waitForStripe(ctx context.Context, id rental.ID) error {
	return db.InTx(ctx, m.pool, "wait for stripe", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, id)
		if err != nil {
			return err
		}
		if r, err = m.catchUp(ctx, tx, r, now, fx); err != nil {
			return err
		}
		if _, over := r.Next(now); over || r.State != rental.Paying && r.State != rental.Ended {
			return m.write(ctx, tx, fx)
		}
		longer, err := m.lengthen(ctx, tx, r, r, now.Add(stripePatience), fx)
		if err != nil {
			return err
		}
		if longer {
			fx.event(about(r, ledger.HoldProlonged, ledger.System))
		}
		return m.write(ctx, tx, fx)
	})
}

// CheckoutOver ends a payment that can no longer be paid, and frees the
// blocks of its rental at once when nothing else of it can be.
func (m *Market) CheckoutOver(ctx context.Context, id payment.ID) error {
	return m.endPayment(ctx, id, ending{payment.Expire, rental.Expired, ledger.CheckoutEnded})
}

// PaymentFailed is CheckoutOver for money that was under way and did not
// arrive. The buyer is told.
func (m *Market) PaymentFailed(ctx context.Context, id payment.ID) error {
	return m.endPayment(ctx, id, ending{payment.Fail, rental.PaymentFailed, ledger.PaymentFailed})
}

// ending is how a payment ends that is not paid, and why its rental then does.
type ending struct {
	move func(context.Context, pgx.Tx, payment.ID) (bool, error)
	why  rental.Reason
	kind ledger.Kind
}

func (m *Market) endPayment(ctx context.Context, id payment.ID, end ending) error {
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
		changed, err := end.move(ctx, tx, p.ID)
		if err != nil || !changed {
			return err
		}
		e := about(r, end.kind, ledger.Stripe)
		e.Payment = int64(p.ID)
		fx.event(e)
		if nothingLeft(ps, p.ID, now) {
			if err := m.afterPayment(ctx, tx, r, p, end.why, now, fx); err != nil {
				return err
			}
		}
		return m.write(ctx, tx, fx)
	})
}

// afterPayment brings a rental to where it is without the payment that was not
// paid: a checkout closes, more weeks give the lease back that they had.
func (m *Market) afterPayment(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, why rental.Reason, now time.Time, fx *effects) error {
	if why == rental.PaymentFailed {
		m.mailNotPaid(r, p, now, fx)
	}
	if r.State == rental.Paying {
		return m.endRental(ctx, tx, r, why, now, fx)
	}
	r, err := m.catchUp(ctx, tx, r, now, fx)
	if err != nil || p.Purpose == payment.New {
		return err
	}
	if r, err = m.giveLeaseBack(ctx, tx, r, now, fx); err != nil {
		return err
	}
	_, err = m.settleLocked(ctx, tx, r, now, fx)
	return err
}

// giveLeaseBack ends what a payment added to a lease. One that was over
// before is over at this moment.
func (m *Market) giveLeaseBack(ctx context.Context, tx pgx.Tx, r rental.Rental, now time.Time, fx *effects) (rental.Rental, error) {
	was := r
	var until time.Time
	switch r.State {
	case rental.Live:
		until = r.EndsAt.Add(m.rules.RenewalWindow)
	case rental.Ended:
		until = latest(now, *r.ReservedUntil)
		fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.RenewalCloses})
	case rental.Held, rental.Paying, rental.Paid, rental.Closed:
		return r, nil
	}
	if !until.Before(*r.LeasedUntil) {
		return r, nil
	}
	r.LeasedUntil = &until
	return r, m.prolong(ctx, tx, was, r)
}

// endRental closes a checkout that cannot be paid any more.
func (m *Market) endRental(ctx context.Context, tx pgx.Tx, r rental.Rental, why rental.Reason, now time.Time, fx *effects) error {
	move := rental.Move{To: rental.Closed, Reason: why, At: earliest(now, *r.LeasedUntil)}
	r, err := m.closing(ctx, tx, r, move, ledger.Stripe, fx)
	if err != nil {
		return err
	}
	return release(ctx, tx, r)
}

// nothingLeft reports whether no payment of the rental but the one that ends
// can still be paid. A page that its buyer gave up before its time is about to
// be exchanged for another one.
func nothingLeft(ps []payment.Payment, ends payment.ID, now time.Time) bool {
	for _, p := range ps {
		if p.ID == ends {
			if p.EndedAt != nil && now.Before(p.ExpiresAt) {
				return false
			}
			continue
		}
		if p.State == payment.Open || p.State == payment.Processing {
			return false
		}
	}
	return true
}
