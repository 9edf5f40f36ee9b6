package market

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
	"tuval/internal/ledger"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// cleared is what a claim may empty, all of it locked.
type cleared struct {
	Now    time.Time
	Own    map[rental.ID]rental.Rental
	Others []turnstile.Lease // lapsed claims, closed in this transaction
}

// clear locks, together and by id, the rentals of own and whoever has blocks
// of the rect whose lease ran out, and closes the latter. It returns
// turnstile.ErrTaken when somebody else's lease runs, turnstile.ErrMoved when
// the owners changed between the look and the lock.
func (m *Market) clear(ctx context.Context, tx pgx.Tx, rect grid.Rect, own []rental.ID, fx *effects) (cleared, error) {
	owners, err := turnstile.Owners(ctx, tx, rect)
	if err != nil {
		return cleared{}, err
	}
	ids := slices.Clone(own)
	var displaced []rental.ID
	for _, o := range owners {
		id := rental.ID(o.Claim)
		if slices.Contains(own, id) {
			continue
		}
		if !o.Lapsed {
			return cleared{}, turnstile.ErrTaken
		}
		ids, displaced = append(ids, id), append(displaced, id)
	}
	return m.clearLocked(ctx, tx, ids, displaced, fx)
}

func (m *Market) clearLocked(ctx context.Context, tx pgx.Tx, ids, displaced []rental.ID, fx *effects) (cleared, error) {
	locked, err := rental.LockAll(ctx, tx, ids)
	if err != nil {
		return cleared{}, err
	}
	now, err := rental.Now(ctx, tx)
	if err != nil {
		return cleared{}, err
	}
	c := cleared{Now: now, Own: locked}
	for _, id := range displaced {
		r, isRental := locked[id]
		delete(locked, id)
		if !isRental {
			l, err := m.endBlocked(ctx, tx, int64(id), fx)
			if err != nil {
				return cleared{}, err
			}
			c.Others = append(c.Others, l)
			continue
		}
		if r.State == rental.Closed {
			return cleared{}, turnstile.ErrMoved
		}
		r, err := m.age(ctx, tx, r, now, fx)
		if err != nil {
			return cleared{}, err
		}
		if r.State != rental.Closed {
			return cleared{}, turnstile.ErrMoved
		}
		c.Others = append(c.Others, lease(r))
	}
	return c, nil
}

// endBlocked closes a blocked area whose time is over.
func (m *Market) endBlocked(ctx context.Context, tx pgx.Tx, id int64, fx *effects) (turnstile.Lease, error) {
	const sql = `
		UPDATE blocked_areas SET closed_at = until WHERE id = $1 AND closed_at IS NULL AND until <= now()
		RETURNING x, y, w, h, until`
	l, at := turnstile.Lease{Claim: turnstile.ClaimID(id)}, time.Time{}
	rows, err := tx.Query(ctx, sql, id)
	if err != nil {
		return l, fmt.Errorf("market: end a blocked area: %w", err)
	}
	if !rows.Next() {
		rows.Close()
		if err := rows.Err(); err != nil {
			return l, fmt.Errorf("market: end a blocked area: %w", err)
		}
		return l, turnstile.ErrMoved
	}
	err = rows.Scan(&l.Rect.X, &l.Rect.Y, &l.Rect.W, &l.Rect.H, &at)
	rows.Close()
	if err != nil {
		return l, fmt.Errorf("market: end a blocked area: %w", err)
	}
	fx.event(ledger.Event{
		Kind: ledger.AreaUnblocked, Claim: id, EffectiveAt: at, Rect: l.Rect, Blocks: -l.Rect.Area(),
		Currency: m.rules.Currency.Code, Actor: ledger.System,
	})
	return l, nil
}
