package account_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/db"
	"tuval/internal/fault"
)

// cheap makes a hash take less than a millisecond.
func cheap() account.Cost { return account.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1} }

// addRental makes a closed rental, which possesses nothing, of a person.
func addRental(t *testing.T, pool *pgxpool.Pool, person int64, email string) int64 {
	t.Helper()
	var id int64
	if err := pool.QueryRow(t.Context(), `SELECT nextval('claim_ids')`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	addRentalAs(t, pool, id, person, email)
	return id
}

func addRentalAs(t *testing.T, pool *pgxpool.Pool, id, person int64, email string) {
	t.Helper()
	exec(t, pool, `INSERT INTO rentals
		(id, key, public_id, person_id, address, x, y, w, h, state, closed_reason, closed_at, price_per_week, currency, counted_from, email)
		VALUES ($1, gen_random_uuid()::text, gen_random_uuid()::text, $2, '', 0, 0, 1, 1, 'closed', 'expired', now(), 10000, 'usd', now(), nullif($3, ''))`,
		id, person, email)
	// Held once, closed once: what every rental's history begins and ends with.
	exec(t, pool, `INSERT INTO ledger (kind, effective_at, claim_id, blocks, currency, actor)
		VALUES ('hold.placed', now(), $1, 1, 'usd', 'buyer'), ('rental.closed', now(), $1, -1, 'usd', 'system')`, id)
}

func addPerson(t *testing.T, pool *pgxpool.Pool) int64 {
	t.Helper()
	id, err := account.NewPerson(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// ownerOf returns the account that has a rental, 0 for none.
func ownerOf(t *testing.T, pool *pgxpool.Pool, rental int64) int64 {
	t.Helper()
	var id *int64
	if err := pool.QueryRow(t.Context(), `SELECT account_id FROM rentals WHERE id = $1`, rental).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if id == nil {
		return 0
	}
	return *id
}

func inTx[T any](ctx context.Context, pool *pgxpool.Pool, fn func(context.Context, pgx.Tx) (T, error)) (T, error) {
	var result T
	err := db.InTx(ctx, pool, "test", func(ctx context.Context, tx pgx.Tx) (err error) {
		result, err = fn(ctx, tx)
		return err
	})
	return result, err
}

func signIn(ctx context.Context, pool *pgxpool.Pool, email string, persons ...int64) (int64, error) {
	return inTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		return account.SignIn(ctx, tx, email, persons...)
	})
}

// exec runs SQL that moves a test's data.
func exec(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// atOnce runs n calls behind one barrier and returns their errors.
func atOnce(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if err == nil || fault.As(err).Kind != kind {
		t.Errorf("got %v (kind %d), want kind %d", err, fault.As(err).Kind, kind)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("test: %v", err))
	}
	return v
}
