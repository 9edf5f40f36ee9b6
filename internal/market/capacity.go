package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/capacity"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// placing is a change of a rental's place in the limits of capacity, written
// at the end of its transaction.
type placing struct {
	rental rental.Rental
	change capacity.Change
	actor  string
}

func (fx *effects) place(r rental.Rental, actor string, c capacity.Change) {
	c.Rental, c.Blocks = int64(r.ID), r.Rect.Area()
	fx.places = append(fx.places, placing{r, c, actor})
}

// choose reserves the go-live time that a payment asks for, in place of the one
// that the rental has. Only a chosen time is bound by the limits.
func (fx *effects) choose(r rental.Rental, want payment.Payment, now time.Time) {
	if want.Purpose == payment.New && (r.GoLiveAt != nil || want.GoLiveAt != nil) {
		fx.place(r, ledger.Buyer, capacity.Change{Due: want.GoLiveAt, At: now, Limited: true})
	}
}

// bought sees to it that a rental that was just paid has the place that its
// payment asked for: another page than the last may have been paid, or a
// closed rental be had again. Money that is there is not refused for a limit,
// and a time that has passed means at the approval.
func (fx *effects) bought(was, r rental.Rental, p payment.Payment, now time.Time) {
	if p.Purpose != payment.New || was.GoLiveAt == nil && r.GoLiveAt == nil {
		return
	}
	due := r.GoLiveAt
	if due != nil && !due.After(now) {
		due = nil
	}
	fx.place(r, ledger.Stripe, capacity.Change{Due: due, At: now})
}

// approved enters a rental at its first approval, unless it has a place since
// its checkout.
func (fx *effects) approved(r rental.Rental, now time.Time) {
	fx.place(r, ledger.System, capacity.Change{Due: &now, At: now, Unless: r.GoLiveAt})
}

// vacate gives the place of a rental back that closes before it is due.
func (fx *effects) vacate(r rental.Rental, move rental.Move, actor string) {
	if r.GoLiveAt != nil && r.GoLiveAt.After(move.At) {
		fx.place(r, actor, capacity.Change{At: move.At})
	}
}

// occupy writes the changes of places and tells the ledger what moved.
func (m *Market) occupy(ctx context.Context, tx pgx.Tx, fx *effects) error {
	if len(fx.places) == 0 {
		return nil
	}
	changes := make([]capacity.Change, len(fx.places))
	for i, p := range fx.places {
		changes[i] = p.change
	}
	moved, err := capacity.Apply(ctx, tx, m.rules.Launch, changes)
	if err != nil {
		return err
	}
	for _, v := range moved {
		kind := capacity.SlotTaken
		if v.Back {
			kind = capacity.SlotReturned
		}
		p := fx.places[v.Change]
		e := about(p.rental, kind, p.actor)
		e.EffectiveAt = v.Due
		fx.events = append(fx.events, e) // no word of an admin goes with it
	}
	return nil
}

// mayChoose looks whether a chosen time is still to be had, before an open page
// is given up for it.
func (m *Market) mayChoose(ctx context.Context, r rental.Rental, want payment.Payment, now time.Time) error {
	if want.GoLiveAt == nil || want.Purpose != payment.New {
		return nil
	}
	return capacity.Look(ctx, m.pool, m.rules.Launch, capacity.Change{
		Rental: int64(r.ID), Blocks: r.Rect.Area(), Due: want.GoLiveAt, At: now, Limited: true,
	})
}

// Measure makes new payment pages be counted by a memory of capacity, which
// refuses them with the code "limit" when there are very many. It is set before
// the first checkout.
func (m *Market) Measure(pages *capacity.Memory) { m.pages = pages }

// mayStartOne judges whether one more payment may be begun by anybody. Going on
// with one that was begun is no beginning.
func (m *Market) mayStartOne(ctx context.Context, r rental.Rental, want payment.Payment, now time.Time) error {
	if m.pages == nil || r.State == rental.Paying {
		return nil
	}
	ps, err := payment.OfRental(ctx, m.pool, r.ID)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if p.State == payment.Open && p.SamePurchase(want) && now.Before(p.ExpiresAt) {
			return nil
		}
	}
	return m.pages.Start(ctx)
}
