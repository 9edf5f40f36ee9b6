package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// BeatEvery is how often a running server says that it is there.
const BeatEvery = 20 * time.Second

// outage is how old the last beat is at least when nobody was there.
const outage = time.Minute

// Beat says that a server is there.
func (m *Market) Beat(ctx context.Context) error {
	_, err := m.pool.Exec(ctx, `UPDATE heartbeat SET beat_at = now()`)
	return db.Explain("market: beat", err)
}

// Outage is what a start found.
type Outage struct {
	Was       bool
	Since     time.Time // the last beat
	Prolonged int       // leases
}

// Wake is called by every server before it lets anybody in and before it
// works. When no server was there for more than a minute, the blocks of
// everybody who may have paid meanwhile are kept for ten minutes, once and
// within the longest possession, so that Stripe can be asked before somebody
// takes them; and a pass of reconciliation is put in. Of several that start at
// once, one does it and the others wait.
func (m *Market) Wake(ctx context.Context) (Outage, error) {
	var o Outage
	err := db.InTx(ctx, m.pool, "wake", func(ctx context.Context, tx pgx.Tx) error {
		// Others may be at it: that is worth waiting for at a start.
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '60s'`); err != nil {
			return fmt.Errorf("market: wait at the start: %w", err)
		}
		// clock_timestamp: another start may just have gone before.
		const look = `SELECT beat_at, clock_timestamp() - beat_at > $1::interval FROM heartbeat FOR UPDATE`
		o = Outage{}
		if err := tx.QueryRow(ctx, look, outage).Scan(&o.Since, &o.Was); err != nil {
			return fmt.Errorf("market: read the last beat: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE heartbeat SET beat_at = clock_timestamp()`); err != nil {
			return fmt.Errorf("market: beat: %w", err)
		}
		if !o.Was {
			return nil
		}
		return m.wakeTx(ctx, tx, &o)
	})
	return o, err
}

// sqlMayHavePaid finds the rentals of whoever could pay while nobody was
// there, and whose lease ended meanwhile or will before Stripe can be asked.
// Held, because the answer about the page may have been lost.
const sqlMayHavePaid = `
	SELECT r.id FROM payments p JOIN rentals r ON r.id = p.rental_id
	WHERE p.state IN ('open', 'processing') AND p.state = 'open' AND p.session_id IS NOT NULL AND p.created_at <= $1
	  AND r.state <> 'closed' AND r.leased_until > $1 AND r.leased_until < now() + $2::interval`

func (m *Market) wakeTx(ctx context.Context, tx pgx.Tx, o *Outage) error {
	ids, err := list[struct{ ID rental.ID }](ctx, tx, sqlMayHavePaid, o.Since, stripePatience)
	if err != nil {
		return err
	}
	var all []rental.ID
	for _, i := range ids {
		all = append(all, i.ID)
	}
	locked, err := rental.LockAll(ctx, tx, all)
	if err != nil {
		return err
	}
	now, err := rental.Now(ctx, tx)
	if err != nil {
		return err
	}
	fx := &effects{}
	for _, id := range all {
		longer, err := m.holdOn(ctx, tx, locked[id], now, fx)
		if err != nil {
			return err
		}
		if longer {
			o.Prolonged++
		}
	}
	fx.job(jobs.Reconcile{By: "start"})
	return m.write(ctx, tx, fx)
}

// holdOn prolongs a locked rental's lease, lapsed or not, if its blocks are
// still its own. It reports whether it did.
func (m *Market) holdOn(ctx context.Context, tx pgx.Tx, was rental.Rental, now time.Time, fx *effects) (bool, error) {
	if was.State == rental.Closed {
		return false, nil
	}
	r, until := was, earliest(now.Add(stripePatience), m.rules.longest(was))
	if !until.After(*was.LeasedUntil) || !until.After(now) {
		return false, nil
	}
	err := turnstile.Extend(ctx, tx, lease(r), until)
	if errors.Is(err, turnstile.ErrLost) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.LeasedUntil = &until
	if err := rental.Write(ctx, tx, was, r); err != nil {
		return false, err
	}
	fx.event(about(r, ledger.HoldProlonged, ledger.System))
	fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: leaseEnds(r)})
	return true, nil
}
