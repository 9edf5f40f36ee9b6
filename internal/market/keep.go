package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/fault"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// Find reads a rental the viewer may see. Unknown and somebody else's are the
// same NotFound.
func (m *Market) Find(ctx context.Context, key string, v rental.Viewer) (rental.Rental, error) {
	r, err := rental.ByKey(ctx, m.pool, key)
	if err != nil {
		return r, err
	}
	if !r.OwnedBy(v) && !v.Admin {
		return rental.Rental{}, rental.NotFound()
	}
	return r, nil
}

// mine is Find for what only the buyer does.
func (m *Market) mine(ctx context.Context, key string, v rental.Viewer) (rental.Rental, error) {
	v.Admin = false
	return m.Find(ctx, key, v)
}

// ErrHoldOver is the answer to every click on a hold that is over.
func ErrHoldOver() *fault.Error {
	return fault.New(fault.Gone, "Your hold has ended. Nothing was charged. Please choose the blocks again.")
}

// Keep prolongs a hold by its length, once, while it is held. It returns the
// hold with its new lease; Gone when the hold is over, Conflict when it was
// kept before or is being paid.
func (m *Market) Keep(ctx context.Context, who Who, key string, req Request) (Held, error) {
	found, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return Held{}, err
	}
	return once(ctx, m, "keep", req, func(ctx context.Context, tx pgx.Tx) (Held, error) {
		r, now, err := lockNow(ctx, tx, found.ID)
		if err != nil {
			return Held{}, err
		}
		if err := m.mayKeep(r, now); err != nil {
			return Held{}, err
		}
		was, until := r, earliest(r.LeasedUntil.Add(m.rules.HoldTTL), r.CountedFrom.Add(m.rules.HoldMax))
		r.Kept, r.LeasedUntil = true, &until
		fx := &effects{}
		fx.event(about(r, ledger.HoldKept, ledger.Buyer))
		fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.HoldLapses})
		if err := m.prolong(ctx, tx, was, r); err != nil {
			return Held{}, err
		}
		return m.held(r), m.write(ctx, tx, fx)
	})
}

func (m *Market) mayKeep(r rental.Rental, now time.Time) error {
	switch seen := r.At(now, m.terms()); {
	case seen.State == rental.Closed:
		return ErrHoldOver()
	case seen.State != rental.Held:
		return fault.New(fault.Conflict, "This is no longer a hold: its payment has begun.")
	case r.Kept:
		return fault.New(fault.Conflict, "This hold was kept once already. It cannot be kept again.")
	}
	return nil
}

// prolong writes a locked rental with a new lease and gives its blocks the
// same.
func (m *Market) prolong(ctx context.Context, tx pgx.Tx, was, r rental.Rental) error {
	if err := rental.Write(ctx, tx, was, r); err != nil {
		return err
	}
	return turnstile.Extend(ctx, tx, lease(r), *r.LeasedUntil)
}
