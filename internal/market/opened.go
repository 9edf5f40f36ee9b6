package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// opened stores the page and turns the hold into a checkout, if it still is
// a hold; else the page is made unpayable by a job.
func (m *Market) opened(ctx context.Context, p payment.Payment, s gateway.Session) (Offer, error) {
	var late error
	err := db.InTx(ctx, m.pool, "open a checkout", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		p, late, err = m.openedTx(ctx, tx, p, s)
		return err
	})
	if err == nil {
		err = late
	}
	p.SessionURL = &s.URL
	return offer(p), err
}

// openedTx returns the payment as it is now, and why its page came too late if
// it did.
func (m *Market) openedTx(ctx context.Context, tx pgx.Tx, p payment.Payment, s gateway.Session) (_ payment.Payment, late, err error) {
	r, now, err := lockNow(ctx, tx, p.Rental)
	if err != nil {
		return p, nil, err
	}
	stored, err := payment.SetSession(ctx, tx, p.ID, s.ID, s.URL)
	if err != nil {
		return p, nil, err
	}
	if p, err = payment.ByID(ctx, tx, p.ID); err != nil {
		return p, nil, err
	}
	switch {
	case p.State == payment.Paid:
		return p, nil, nil // the money was faster than the answer
	case !stillWanted(r.At(now, m.terms()), p.Purpose):
		return p, m.tooLate(r, p, now), m.abandon(ctx, tx, p, s)
	case !stored:
		return p, errOpening(), m.abandon(ctx, tx, p, s)
	case p.Purpose == payment.New:
		return p, nil, m.nowPaying(ctx, tx, r, p)
	}
	return p, nil, m.keepFor(ctx, tx, r, p, now)
}

// stillWanted reports whether a page that is just there can be used: an
// extension was begun while the rental was live and may be paid after its end.
func stillWanted(seen rental.Rental, purpose payment.Purpose) bool {
	switch purpose {
	case payment.New:
		return seen.Unpaid()
	case payment.Extend:
		return seen.State == rental.Live || seen.State == rental.Ended
	case payment.Renew:
	}
	return seen.State == rental.Ended
}

func (m *Market) tooLate(r rental.Rental, p payment.Payment, now time.Time) error {
	if err := m.mayBuy(r, p.Purpose, now); err != nil {
		return err
	}
	return errOpening()
}

// keepFor keeps the blocks of a rental until the end of a page for more weeks
// and the grace after it.
func (m *Market) keepFor(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, now time.Time) error {
	fx := &effects{}
	r, err := m.catchUp(ctx, tx, r, now, fx)
	if err != nil {
		return err
	}
	if _, err := m.lengthen(ctx, tx, r, r, p.ExpiresAt.Add(m.rules.CheckoutGrace), fx); err != nil {
		return err
	}
	e := about(r, ledger.CheckoutBegun, ledger.Buyer)
	e.Payment = int64(p.ID)
	fx.event(e)
	return m.write(ctx, tx, fx)
}

// nowPaying turns the hold into a checkout, and gives it the lease of one.
func (m *Market) nowPaying(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment) error {
	fx := &effects{}
	was := r
	r.State = rental.Paying
	longer, err := m.lengthen(ctx, tx, was, r, p.ExpiresAt.Add(m.rules.CheckoutGrace), fx)
	if err != nil {
		return err
	}
	e := about(r, ledger.CheckoutBegun, ledger.Buyer)
	e.Payment = int64(p.ID)
	switch {
	case was.State == rental.Held:
		fx.event(e)
	case longer:
		fx.event(about(r, ledger.HoldProlonged, ledger.Buyer))
	}
	return m.write(ctx, tx, fx)
}

// abandon ends a page that came too late to be used.
func (m *Market) abandon(ctx context.Context, tx pgx.Tx, p payment.Payment, s gateway.Session) error {
	if err := payment.NoteSession(ctx, tx, p.ID, s.ID, s.URL); err != nil {
		return err
	}
	fx := &effects{}
	fx.job(jobs.ExpireSession{Payment: int64(p.ID)})
	return m.write(ctx, tx, fx)
}
