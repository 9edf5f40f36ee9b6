package market

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/creative"
	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// deadline is what a renter is reminded of.
type deadline string

// The three deadlines that a renter should not miss.
const (
	approval deadline = "approval"
	end      deadline = "end"
	closing  deadline = "closing"
)

// reminder is a mail before a deadline: how long before, and how long before
// it the next word about the same deadline comes, which makes this one stale.
type reminder struct {
	why    string
	of     deadline
	before time.Duration
	stale  time.Duration
}

const day = 24 * time.Hour

func reminders() []reminder {
	return []reminder{
		{"7 days to the approval deadline", approval, 7 * day, 2 * day},
		{"2 days to the approval deadline", approval, 2 * day, 0},
		{"7 days to the end", end, 7 * day, day},
		{"24 hours to the end", end, day, 0},
		{"12 hours to renew", closing, 12 * time.Hour, 0},
	}
}

func reminderOf(why string) reminder {
	for _, w := range reminders() {
		if w.why == why {
			return w
		}
	}
	return reminder{}
}

// spread is by how much reminders of one instant are drawn apart, so that the
// rentals sold by the week end do not all write at once.
const spread = 10 * time.Minute

// fresh is how long after its beginning nobody needs to be told that a rental
// of one week ends in a week.
const fresh = day

// remind leaves the jobs of a deadline's reminders, those that come after an
// instant.
func remind(r rental.Rental, of deadline, when, after time.Time, fx *effects) {
	for _, w := range reminders() {
		if at := when.Add(-w.before); w.of == of && at.After(after) {
			fx.jobAt(at.Add(rand.N(min(spread, w.before/4))), jobs.Remind{Rental: int64(r.ID), Why: w.why})
		}
	}
}

// firstDeadlines leaves the jobs of a rental that was just paid.
func (m *Market) firstDeadlines(r rental.Rental, now time.Time, fx *effects) {
	fx.jobAt(*r.ApproveBy, jobs.Settle{Rental: int64(r.ID), Why: jobs.ApprovalCloses})
	remind(r, approval, *r.ApproveBy, now, fx)
}

// endDeadlines leaves the jobs of a rental whose end is fixed or has moved.
// Those of its old end find nothing to do, and mails about it are not sent.
func (m *Market) endDeadlines(r rental.Rental, now time.Time, fx *effects) {
	fx.outdate(r, uploadReminder, endsSoon, ended, renewalCloses)
	fx.jobAt(*r.EndsAt, jobs.Settle{Rental: int64(r.ID), Why: jobs.Ends})
	remind(r, end, *r.EndsAt, latest(now, *r.LiveFrom).Add(fresh), fx)
}

func (m *Market) remindOfClosing(r rental.Rental, now time.Time, fx *effects) {
	remind(r, closing, *r.ReservedUntil, now, fx)
}

// due reports whether it is this reminder's time: not earlier, as after an
// extension, and not when the next word is due already or the deadline past,
// as after an outage.
func (w reminder) due(when, now time.Time) bool {
	left := when.Sub(now)
	return left <= w.before && left > w.stale
}

// Remind mails a renter before a deadline, if it still lies ahead and there
// still is something to do about it. A job.
func (m *Market) Remind(ctx context.Context, id rental.ID, why string) error {
	return db.InTx(ctx, m.pool, "remind", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, id)
		if err != nil {
			return err
		}
		r = r.At(now, m.terms())
		if err := m.remindTx(ctx, tx, r, now, why, fx); err != nil {
			return err
		}
		return m.write(ctx, tx, fx)
	})
}

func (m *Market) remindTx(ctx context.Context, tx pgx.Tx, r rental.Rental, now time.Time, why string, fx *effects) error {
	ps, err := payment.OfRental(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	// Once for each end: a word about the end before the extension is another.
	fact := fmt.Sprintf("%s:%s:%d", why, r.Key, counting(ps))
	w := reminderOf(why)
	switch {
	case r.State == rental.Paid && r.LiveFrom == nil && w.of == approval && w.due(*r.ApproveBy, now):
		cs, err := creative.OfRental(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		m.mailUpload(r, cs, ps, w, fact, fx)
	case r.State == rental.Live && w.of == end && w.due(*r.EndsAt, now):
		m.mailEndsSoon(r, w, fact, fx)
	case r.State == rental.Ended && w.of == closing && w.due(*r.ReservedUntil, now):
		m.mailClosesSoon(r, fact, fx)
	}
	return nil
}

// counting is how many payments of the rental count.
func counting(ps []payment.Payment) int {
	n := 0
	for _, p := range ps {
		if p.Counts() {
			n++
		}
	}
	return n
}
