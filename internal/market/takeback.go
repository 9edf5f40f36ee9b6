package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/ledger"
	"tuval/internal/mailtext"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// takeBack takes back what a payment bought that has gone back in full: of the
// first one the rental, with what is left of its other payments; of another
// one its weeks. On a closed rental only the money moves. It is called once a
// payment, by whoever unwound it.
func (m *Market) takeBack(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, ps []payment.Payment, now time.Time, actor, words string, fx *effects) error {
	r, err := m.settleLocked(ctx, tx, r, now, fx)
	if err != nil || r.State == rental.Closed {
		return err
	}
	if p.Purpose == payment.New {
		return m.closeRefunded(ctx, tx, r, p, ps, now, actor, words, fx)
	}
	return m.shorten(ctx, tx, r, p, now, actor, words, fx)
}

func (m *Market) closeRefunded(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, ps []payment.Payment, now time.Time, actor, words string, fx *effects) error {
	total, err := m.refundAll(ctx, tx, others(ps, p.ID), payment.ReasonClosed, actor, fx)
	if err != nil {
		return err
	}
	move := rental.Move{To: rental.Closed, Reason: rental.Refunded, At: now}
	if r, err = m.closing(ctx, tx, r, move, actor, fx); err != nil {
		return err
	}
	cause := mailtext.RefundedAway
	if actor != ledger.Stripe {
		cause = mailtext.ClosedByUs
	}
	m.mailCancelled(r, ps, p.Amount.Amount+total, cause, words, fx)
	return release(ctx, tx, r)
}

// shorten takes the weeks of an extension or renewal off the end of a rental
// that is live, never into the past. One that has ended has had its weeks.
func (m *Market) shorten(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, now time.Time, actor, words string, fx *effects) error {
	if r.State != rental.Live {
		return nil
	}
	was := r
	r = liveUntil(r, latest(now, r.EndsAt.Add(-time.Duration(p.Weeks)*week)), m.rules)
	if err := m.prolong(ctx, tx, was, r); err != nil {
		return err
	}
	e := about(r, ledger.RentalShortened, actor)
	e.Payment = int64(p.ID)
	fx.event(e)
	m.endDeadlines(r, now, fx)
	m.mailShortened(was, r, p, words, now, fx)
	_, err := m.settleLocked(ctx, tx, r, now, fx)
	return err
}
