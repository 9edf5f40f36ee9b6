package market

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/creative"
	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/mailtext"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// Settle brings a rental to the state it should have now. It is the only
// place where time moves a rental; running it any number of times, in
// parallel, changes nothing more.
func (m *Market) Settle(ctx context.Context, id rental.ID) error {
	return db.InTx(ctx, m.pool, "settle", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := m.settleLocked(ctx, tx, r, now, fx); err != nil {
			return err
		}
		return m.write(ctx, tx, fx)
	})
}

// lockNow locks a rental and reads the transaction's time.
func lockNow(ctx context.Context, tx pgx.Tx, id rental.ID) (rental.Rental, time.Time, error) {
	r, err := rental.Lock(ctx, tx, id)
	if err != nil {
		return r, time.Time{}, err
	}
	now, err := rental.Now(ctx, tx)
	return r, now, err
}

// settleLocked applies to a locked rental all that time has made due, and
// frees its blocks when that closed it.
func (m *Market) settleLocked(ctx context.Context, tx pgx.Tx, r rental.Rental, now time.Time, fx *effects) (rental.Rental, error) {
	was := r.State
	r, err := m.age(ctx, tx, r, now, fx)
	if err != nil || was == rental.Closed || r.State != rental.Closed {
		return r, err
	}
	return r, release(ctx, tx, r)
}

func release(ctx context.Context, tx pgx.Tx, r rental.Rental) error {
	if err := turnstile.Release(ctx, tx, lease(r)); err != nil {
		return fmt.Errorf("market: rental %d closes: %w", r.ID, err)
	}
	return nil
}

// age applies time to a locked rental, all but its blocks: a takeover empties
// those itself.
func (m *Market) age(ctx context.Context, tx pgx.Tx, r rental.Rental, now time.Time, fx *effects) (rental.Rental, error) {
	was := r.State
	r, err := m.catchUp(ctx, tx, r, now, fx)
	if err != nil {
		return r, err
	}
	move, due := r.Next(now)
	if !due {
		return r, nil
	}
	if move.Reason == rental.NotRenewed && was != rental.Ended {
		m.mailOver(r, fx) // nobody could tell the renter in time that it ended
	}
	return m.closing(ctx, tx, r, move, ledger.System, fx)
}

// catchUp applies to a locked rental what time has made due short of closing
// it: it goes live and it ends.
func (m *Market) catchUp(ctx context.Context, tx pgx.Tx, r rental.Rental, now time.Time, fx *effects) (rental.Rental, error) {
	for {
		move, due := r.Next(now)
		if !due || move.To == rental.Closed {
			return r, nil
		}
		var err error
		if r, err = m.turning(ctx, tx, r, move, now, fx); err != nil {
			return r, err
		}
	}
}

// turning goes live or ends. What is past already when it is written down is
// mailed to nobody.
func (m *Market) turning(ctx context.Context, tx pgx.Tx, r rental.Rental, move rental.Move, now time.Time, fx *effects) (rental.Rental, error) {
	after := r.After(move, m.terms())
	if err := rental.Write(ctx, tx, r, after); err != nil {
		return r, err
	}
	kind := ledger.RentalLive
	if move.To == rental.Ended {
		kind = ledger.RentalEnded
		fx.jobAt(*after.LeasedUntil, jobs.Settle{Rental: int64(r.ID), Why: jobs.RenewalCloses})
		m.remindOfClosing(after, now, fx)
		m.mailEnded(after, now, fx)
	} else {
		m.mailLive(after, now, fx)
	}
	e := about(r, kind, ledger.System)
	e.EffectiveAt = move.At
	fx.event(e)
	return after, nil
}

// closing closes a locked rental, all but its blocks: its row, the picture
// that waits, the money that must go back, the payment page that must end.
func (m *Market) closing(ctx context.Context, tx pgx.Tx, r rental.Rental, move rental.Move, actor string, fx *effects) (rental.Rental, error) {
	after := r.After(move, m.terms())
	if err := rental.Write(ctx, tx, r, after); err != nil {
		return r, err
	}
	if r.PaidAt != nil {
		fx.outdate(r, uploadReminder, live, endsSoon, ended, renewalCloses)
		if err := creative.Supersede(ctx, tx, r.ID); err != nil {
			return r, err
		}
	}
	if err := m.closingMoney(ctx, tx, r, move.Reason, fx); err != nil {
		return r, err
	}
	fx.vacate(r, move, actor)
	e := about(r, ledger.RentalClosed, actor)
	e.EffectiveAt, e.Blocks = move.At, -r.Rect.Area()
	fx.event(e)
	return after, nil
}

// closingMoney returns what was paid when the reason says so, and ends what
// could still be paid.
func (m *Market) closingMoney(ctx context.Context, tx pgx.Tx, r rental.Rental, reason rental.Reason, fx *effects) error {
	if r.State == rental.Held && r.Email == nil {
		return nil // no checkout was ever begun
	}
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	if reason == rental.Expired && r.Unpaid() {
		return nil // the job of its checkout asks Stripe first
	}
	if err := dropOpen(ctx, tx, ps, fx); err != nil {
		return err
	}
	if reason != rental.Unapproved {
		return nil
	}
	total, err := m.refundAll(ctx, tx, ps, payment.ReasonUnapproved, ledger.System, fx)
	if err != nil {
		return err
	}
	m.mailCancelled(r, ps, total, mailtext.Unapproved, "", fx)
	return nil
}

// dropOpen ends what is open of a rental's payments and makes its page
// unpayable by a job. A page that is just being made is dropped when it comes.
func dropOpen(ctx context.Context, tx pgx.Tx, ps []payment.Payment, fx *effects) error {
	for _, p := range ps {
		if p.State != payment.Open {
			continue
		}
		if _, err := payment.Expire(ctx, tx, p.ID); err != nil {
			return err
		}
		if p.SessionID != nil {
			fx.job(jobs.ExpireSession{Payment: int64(p.ID)})
		}
	}
	return nil
}

func lastPaid(ps []payment.Payment) string {
	key := ""
	for _, p := range ps {
		if p.State == payment.Paid {
			key = p.Key
		}
	}
	return key
}

func (m *Market) rentalURL(r rental.Rental) string { return m.rules.BaseURL + "/rentals/" + r.Key }
