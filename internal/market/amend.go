package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/payment"
	"tuval/internal/rental"
)

// word is what an admin wrote about what they do.
type word struct{ by, text string }

// amendment is a rental that an admin acts on: locked with its payments, and
// as time has made it.
type amendment struct {
	rental   rental.Rental
	payments []payment.Payment
	now      time.Time
	fx       *effects
}

// amend settles a rental first, in a transaction of its own so that a refusal
// does not undo it, and then acts on it.
func (m *Market) amend(ctx context.Context, verb, key string, req Request, says word, act func(context.Context, pgx.Tx, *amendment) error) error {
	found, err := rental.ByKey(ctx, m.pool, key)
	if err != nil {
		return err
	}
	if err := m.Settle(ctx, found.ID); err != nil {
		return err
	}
	_, err = once(ctx, m, verb, req, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		return struct{}{}, m.amendTx(ctx, tx, found.ID, says, act)
	})
	return err
}

func (m *Market) amendTx(ctx context.Context, tx pgx.Tx, id rental.ID, says word, act func(context.Context, pgx.Tx, *amendment) error) error {
	a := &amendment{fx: &effects{}}
	var err error
	if a.rental, a.now, err = lockNow(ctx, tx, id); err != nil {
		return err
	}
	if a.rental, err = m.settleLocked(ctx, tx, a.rental, a.now, a.fx); err != nil {
		return err
	}
	if a.payments, err = payment.LockOfRental(ctx, tx, id); err != nil {
		return err
	}
	a.fx.says = says
	if err := act(ctx, tx, a); err != nil {
		return err
	}
	return m.write(ctx, tx, a.fx)
}
