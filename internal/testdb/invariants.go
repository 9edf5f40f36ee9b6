package testdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/check"
)

// invariants is the one place where every test's database is judged after the
// test. It returns one line a violation. What depends on workers is left out:
// most tests have none.
func invariants(ctx context.Context, address string) ([]string, error) {
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("open the test's database: %w", err)
	}
	defer pool.Close()
	return check.Structure(ctx, pool)
}
