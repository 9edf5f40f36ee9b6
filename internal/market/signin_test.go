package market_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"tuval/internal/account"
	"tuval/internal/db"
)

// Somebody signs in, which gives the account all rentals of its address, while
// the account takes over one of them that has lapsed: nobody waits in a circle.
func TestSigningInAgainstATakeoverSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 12})
	for round := range long(t, 8, 60) {
		b := w.buyer()
		signIn := func() (id int64, err error) {
			err = db.InTx(w.ctx(), w.pool, "sign in", func(ctx context.Context, tx pgx.Tx) error {
				id, err = account.SignIn(ctx, tx, "buyer@example.com", b.person())
				return err
			})
			return id, err
		}
		old := b.hold(rect(10, 10, 6, 4))
		b.checkout(old.Key, 1) // with the account's address
		w.lapse(old.Key)
		id, err := signIn()
		w.must(err)
		w.exec(`UPDATE rentals SET account_id = NULL`)
		owner := w.buyer()
		owner.who.Account = id
		errs := together(6, func(i int) error {
			if i%2 == 0 {
				_, err := signIn()
				return err
			}
			_, err := owner.tryHold(rect(12+i, 12, 6, 4))
			return err
		})
		for _, err := range errs {
			if deadlock(err) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		winners(t, errs)
		w.intact()
		w.clear()
	}
	w.settled()
	w.noDeadlocks()
}
