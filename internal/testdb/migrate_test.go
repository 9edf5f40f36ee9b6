package testdb_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"tuval/internal/testdb"
	"tuval/migrations"
)

// TestMigrationsOnEmpty lets several processes' worth of callers migrate the same
// empty database at once, and once more.
func TestMigrationsOnEmpty(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Empty: true})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := migrations.Apply(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	current(t, pool)
	if err := migrations.Apply(t.Context(), pool); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestMigrationsOnPrevious brings each earlier schema to the newest, one database
// a version, as an upgrade does.
func TestMigrationsOnPrevious(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			pool := testdb.New(t, testdb.Options{Empty: true})
			upTo(t, pool, version)
			pending, err := migrations.Pending(t.Context(), pool)
			if err != nil {
				t.Fatal(err)
			}
			if latest := versions(t); pending == (version == latest[len(latest)-1]) {
				t.Errorf("version %d: pending is %v", version, pending)
			}
			if err := migrations.Apply(t.Context(), pool); err != nil {
				t.Errorf("from version %d: %v", version, err)
			}
			current(t, pool)
		})
	}
}

// current checks that nothing is left to do.
func current(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pending, err := migrations.Pending(t.Context(), pool)
	if err != nil || pending {
		t.Errorf("pending %v, error %v", pending, err)
	}
	if _, err := pool.Exec(t.Context(), "SELECT FROM river_job"); err != nil {
		t.Errorf("the job queue: %v", err)
	}
}

func provider(t *testing.T, pool *pgxpool.Pool) *goose.Provider {
	t.Helper()
	db := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { db.Close() })
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations.Files)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func versions(t *testing.T) (all []int64) {
	t.Helper()
	for _, s := range provider(t, testdb.New(t, testdb.Options{Empty: true})).ListSources() {
		all = append(all, s.Version)
	}
	return all
}

func upTo(t *testing.T, pool *pgxpool.Pool, version int64) {
	t.Helper()
	if _, err := provider(t, pool).UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}
