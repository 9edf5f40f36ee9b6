package market

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/creative"
	"tuval/internal/db"
	"tuval/internal/ledger"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Detail is everything a buyer or an admin sees of a rental, at one instant.
type Detail struct {
	Rental     rental.Rental // as it is at Now, whether or not a job wrote it down
	Now        time.Time
	CheckoutBy time.Time
	Weeks      int // bought and not refunded in full
	Payments   []payment.Payment
	Refunds    []payment.Refund
	Disputes   []payment.Dispute
	Creatives  []creative.Creative // the newest first
	ExtraPrice money.Money         // what a week more costs today; nothing when it cannot be sold
	Events     []Event
}

// Event is one line of a rental's history.
type Event struct {
	Kind   ledger.Kind
	At     time.Time
	Blocks int
	Amount int64
	Actor  string
	Note   string // what an admin wrote to the buyer
}

// Reason is what an admin wrote when the picture was hidden or the rental
// taken down, if that is how it is now.
func (d Detail) Reason() string {
	for _, e := range slices.Backward(d.Events) {
		closed := e.Kind == ledger.RentalClosed && d.Rental.State == rental.Closed
		if hidden := e.Kind == ledger.RentalHidden && d.Rental.Hidden; closed || hidden {
			return e.Note
		}
	}
	return ""
}

// OpenPayment is the payment whose page can still be paid, if there is one.
func (d Detail) OpenPayment() *payment.Payment {
	for i, p := range d.Payments {
		if p.State == payment.Open && p.SessionURL != nil && d.Now.Before(p.ExpiresAt) {
			return &d.Payments[i]
		}
	}
	return nil
}

// MayExtend reports whether weeks can be added now.
func (d Detail) MayExtend() bool { return d.Rental.State == rental.Live && d.ExtraPrice.Amount > 0 }

// MayRenew reports whether a renewal can be begun now.
func (d Detail) MayRenew() bool {
	return d.Rental.State == rental.Ended && d.Now.Before(*d.Rental.ReservedUntil) && d.ExtraPrice.Amount > 0
}

// MayWithdraw reports whether the buyer can still have all the money back.
func (d Detail) MayWithdraw() bool { return mayWithdraw(d.Rental) }

// MayCorrectContact reports whether the contact address can be changed: nobody
// has confirmed it.
func (d Detail) MayCorrectContact() bool { return mayCorrect(d.Rental) == nil }

// Processing reports whether money for the rental is under way.
func (d Detail) Processing() bool {
	for _, p := range d.Payments {
		if p.State == payment.Processing {
			return true
		}
	}
	return false
}

// Latest is the newest revision, or nil.
func (d Detail) Latest() *creative.Creative {
	if len(d.Creatives) == 0 {
		return nil
	}
	return &d.Creatives[0]
}

// Approved is the revision that shows, or nil.
func (d Detail) Approved() *creative.Creative {
	for i, c := range d.Creatives {
		if c.State == creative.Approved {
			return &d.Creatives[i]
		}
	}
	return nil
}

// Look reads everything about a rental the viewer may see, in one snapshot.
// It writes nothing and waits for no job.
func (m *Market) Look(ctx context.Context, key string, v rental.Viewer) (Detail, error) {
	found, err := m.Find(ctx, key, v)
	if err != nil {
		return Detail{}, err
	}
	var d Detail
	read := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	tx, err := m.pool.BeginTx(ctx, read)
	if err != nil {
		return d, db.Explain("look at a rental", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	d, err = m.lookTx(ctx, tx, found.ID)
	return d, db.Explain("look at a rental", err)
}

func (m *Market) lookTx(ctx context.Context, tx pgx.Tx, id rental.ID) (Detail, error) {
	var d Detail
	var err error
	if d.Rental, err = rental.ByID(ctx, tx, id); err != nil {
		return d, err
	}
	if d.Now, err = rental.Now(ctx, tx); err != nil {
		return d, err
	}
	d.Rental = d.Rental.At(d.Now, m.terms())
	d.CheckoutBy = m.rules.checkoutBy(d.Rental.CountedFrom)
	d.ExtraPrice, _ = m.price(d.Rental.Rect) // the rules may have changed so that it cannot be sold any more
	if d.Payments, err = payment.OfRental(ctx, tx, id); err != nil {
		return d, err
	}
	ids := make([]payment.ID, len(d.Payments))
	for i, p := range d.Payments {
		ids[i] = p.ID
	}
	if d.Refunds, err = payment.RefundsOf(ctx, tx, ids...); err != nil {
		return d, err
	}
	if d.Disputes, err = payment.DisputesOf(ctx, tx, ids...); err != nil {
		return d, err
	}
	d.Weeks = paidWeeks(d.Payments)
	if d.Creatives, err = creative.OfRental(ctx, tx, id); err != nil {
		return d, err
	}
	d.Events, err = history(ctx, tx, id)
	return d, err
}

func history(ctx context.Context, tx pgx.Tx, id rental.ID) ([]Event, error) {
	const sql = `SELECT kind, effective_at, blocks, amount, actor, note FROM ledger WHERE claim_id = $1 ORDER BY id`
	rows, err := tx.Query(ctx, sql, int64(id))
	if err != nil {
		return nil, db.Explain("market: read the history", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Event, error) {
		var e Event
		return e, row.Scan(&e.Kind, &e.At, &e.Blocks, &e.Amount, &e.Actor, &e.Note)
	})
}

// Return is what the page after Stripe does: it asks Stripe about the
// rental's own open payment, whatever the address said, and books it when it
// is paid, so that no buyer waits for a webhook. It has a short patience and
// no answer changes nothing.
func (m *Market) Return(ctx context.Context, who Who, key string) error {
	r, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return err
	}
	ps, err := payment.OfRental(ctx, m.pool, r.ID)
	if err != nil {
		return err
	}
	asking, stop := context.WithTimeout(ctx, cancelPatience)
	defer stop()
	for _, p := range ps {
		if p.SessionID == nil || p.State != payment.Open && p.State != payment.Processing {
			continue
		}
		s, err := m.stripe.Get(asking, *p.SessionID)
		if err != nil {
			m.log.InfoContext(ctx, "stripe not asked on return", "payment", p.ID, "error", err)
			return nil
		}
		if s.Paid() || s.Processing() {
			if _, err := m.Book(ctx, proofOf(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Mine lists the viewer's rentals as they are now, the newest first.
func (m *Market) Mine(ctx context.Context, v rental.Viewer, limit int) ([]rental.Rental, time.Time, error) {
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return nil, now, err
	}
	rs, err := rental.Of(ctx, m.pool, v, limit)
	return m.seen(rs, now), now, err
}

// Rentals lists rentals for an admin as they are now, the newest first.
func (m *Market) Rentals(ctx context.Context, state rental.State, below rental.ID, limit int) ([]rental.Rental, time.Time, error) {
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return nil, now, err
	}
	rs, err := rental.List(ctx, m.pool, state, below, limit)
	return m.seen(rs, now), now, err
}

func (m *Market) seen(rs []rental.Rental, now time.Time) []rental.Rental {
	for i, r := range rs {
		rs[i] = r.At(now, m.terms())
	}
	return rs
}
