package market

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/creative"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/mailtext"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// week is exact: no clock change moves an end.
const week = 168 * time.Hour

// Decision is a moderator's word on one exact revision.
type Decision struct {
	Creative string // its key
	Revision int    // the one on the screen
	By       string // the admin
	Approve  bool
	Reason   string // of a rejection, for the buyer
}

// Decide approves or rejects the exact revision that was on the screen. It
// returns the revision as it is now, a Conflict when it is no longer the one
// that waits, or when time closed its rental first.
func (m *Market) Decide(ctx context.Context, d Decision) (creative.Creative, error) {
	c, err := creative.ByKey(ctx, m.pool, d.Creative)
	if err != nil {
		return c, err
	}
	if c.Revision != d.Revision {
		return c, errChanged()
	}
	// What time has made due is written down first, in its own transaction:
	// a refusal below must not undo it.
	if err := m.Settle(ctx, c.Rental); err != nil {
		return c, err
	}
	err = db.InTx(ctx, m.pool, "decide", func(ctx context.Context, tx pgx.Tx) error {
		return m.decideTx(ctx, tx, c, d)
	})
	if err != nil {
		return c, err
	}
	return creative.ByKey(ctx, m.pool, d.Creative)
}

func errChanged() *fault.Error {
	return fault.New(fault.Conflict, "This has changed since you looked: a newer picture waits, or it was decided already.")
}

func (m *Market) decideTx(ctx context.Context, tx pgx.Tx, c creative.Creative, d Decision) error {
	fx := &effects{}
	r, now, err := lockNow(ctx, tx, c.Rental)
	if err != nil {
		return err
	}
	if _, due := r.Next(now); due || r.State == rental.Closed {
		return fault.New(fault.Conflict, "The rental was closed before this decision: "+closedWords(r)+".")
	}
	if d.Approve {
		err = m.approveTx(ctx, tx, r, c, d, now, fx)
	} else {
		err = m.rejectTx(ctx, tx, r, c, d, fx)
	}
	if err != nil {
		return err
	}
	return m.write(ctx, tx, fx)
}

func closedWords(r rental.Rental) string {
	if r.ClosedReason == nil {
		return "its time is over"
	}
	return string(*r.ClosedReason)
}

func (m *Market) rejectTx(ctx context.Context, tx pgx.Tx, r rental.Rental, c creative.Creative, d Decision, fx *effects) error {
	done, err := creative.Reject(ctx, tx, c, d.Reason, d.By)
	if err != nil {
		return err
	}
	if !done {
		return errChanged()
	}
	fx.event(about(r, ledger.CreativeRejected, d.By))
	text := mailtext.Rejection{RentalURL: m.rentalURL(r), Title: c.Title, Reason: d.Reason, StillShown: r.LiveFrom != nil}
	if r.LiveFrom == nil {
		text.ApproveBy = *r.ApproveBy
	}
	fx.mail(r, "rejected", fmt.Sprintf("%s:%d", r.Key, c.Revision), mailtext.Rejected(text))
	return nil
}

// approveTx approves the revision; the first approval of a rental starts its
// paid time.
func (m *Market) approveTx(ctx context.Context, tx pgx.Tx, r rental.Rental, c creative.Creative, d Decision, now time.Time, fx *effects) error {
	done, err := creative.Approve(ctx, tx, c, d.By)
	if err != nil {
		return err
	}
	if !done {
		return errChanged()
	}
	first := r.LiveFrom == nil
	if first {
		if r, err = m.start(ctx, tx, r, now, fx); err != nil {
			return err
		}
	}
	fx.event(about(r, ledger.CreativeApproved, d.By))
	fx.mail(r, "approved", fmt.Sprintf("%s:%d", r.Key, c.Revision), mailtext.Approved(mailtext.Approval{
		RentalURL: m.rentalURL(r), Title: c.Title, Rect: r.Rect, LiveFrom: *r.LiveFrom, EndsAt: *r.EndsAt,
		Scheduled: r.LiveFrom.After(now), Replacement: !first,
	}))
	return nil
}

// start fixes when the rental's paid time begins and ends, and gives its
// lease the renewal reservation after it.
func (m *Market) start(ctx context.Context, tx pgx.Tx, r rental.Rental, now time.Time, fx *effects) (rental.Rental, error) {
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return r, err
	}
	weeks := paidWeeks(ps)
	from := now
	if r.GoLiveAt != nil {
		from = latest(now, *r.GoLiveAt)
	}
	ends := from.Add(time.Duration(weeks) * week)
	until := ends.Add(m.rules.RenewalWindow)
	was := r
	r.LiveFrom, r.EndsAt, r.LeasedUntil = &from, &ends, &until
	e := about(r, ledger.RentalApproved, ledger.System)
	e.EffectiveAt = from
	fx.event(e)
	if !from.After(now) {
		r.State = rental.Live
		e.Kind = ledger.RentalLive
		fx.event(e)
	} else {
		fx.jobAt(from, jobs.Settle{Rental: int64(r.ID), Why: jobs.GoesLive})
	}
	fx.approved(r, now)
	m.endDeadlines(r, now, fx)
	return r, m.prolong(ctx, tx, was, r)
}

// paidWeeks are the weeks that were bought and not refunded in full.
func paidWeeks(ps []payment.Payment) int {
	weeks := 0
	for _, p := range ps {
		if p.Counts() {
			weeks += p.Weeks
		}
	}
	return weeks
}

// Reviews lists the revisions that wait, the one whose window closes first
// first.
func (m *Market) Reviews(ctx context.Context, limit int) ([]creative.Review, error) {
	return creative.Queue(ctx, m.pool, limit)
}
