package testdb

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience limits what this package waits for: starting a server (it may have to
// be installed first), cloning, dropping.
const patience = 5 * time.Minute

// Options change what [New] and [URL] give. At most one is passed.
type Options struct {
	// Durable asks for a server that writes as in production (fsync on), for
	// tests of crashes and for measurements. It is private to the test process.
	Durable bool

	// MaxConns is the size of the pool, 16 unless set.
	MaxConns int32

	// Unchecked leaves the invariants out, for tests that break them on purpose.
	Unchecked bool

	// Empty gives a database without any schema, and leaves the invariants out.
	Empty bool
}

// New returns a pool on a fresh migrated database. When the test has ended it
// checks the invariants, closes the pool and drops the database; the test's own
// clean-ups, registered later, run before. pool.Config().ConnString() is the
// database's address.
func New(t testing.TB, opts ...Options) *pgxpool.Pool {
	t.Helper()
	o := only(opts)
	return open(t, URL(t, o), o)
}

// URL returns the address of a fresh migrated database, for processes that the
// test starts and ends itself. It is checked and dropped like that of [New].
func URL(t testing.TB, opts ...Options) string {
	t.Helper()
	o := only(opts)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	srv, err := server(ctx, o.Durable)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	template := ""
	if !o.Empty {
		if template, err = srv.template(ctx); err != nil {
			t.Fatalf("testdb: %v", err)
		}
	}
	name := "tuval_test_" + strings.ToLower(rand.Text()[:16])
	if err := srv.create(ctx, name, template); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	address := withDatabase(srv.url, name)
	t.Cleanup(func() { finish(t, srv, name, address, o) })
	return address
}

func only(opts []Options) Options {
	if len(opts) == 0 {
		return Options{}
	}
	return opts[0]
}

// open connects to a database of the test's.
func open(t testing.TB, address string, o Options) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	config.MaxConns = 16
	if o.MaxConns > 0 {
		config.MaxConns = o.MaxConns
	}
	config.ConnConfig.RuntimeParams["application_name"] = t.Name()[:min(len(t.Name()), 63)]
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	t.Cleanup(func() { closePool(t, pool) })
	return pool
}

// closePool does not wait for ever for a connection that the test never gave
// back: that is an error of the test's.
func closePool(t testing.TB, pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Errorf("testdb: %d connections were never given back to the pool (rows not closed, transaction not ended?)", pool.Stat().AcquiredConns())
	}
}

// finish looks the database over and drops it.
func finish(t testing.TB, srv *postgres, name, address string, o Options) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !o.Unchecked && !o.Empty && !t.Skipped() {
		violations, err := invariants(ctx, address)
		if err != nil {
			t.Errorf("testdb: check the invariants: %v", err)
		}
		for _, v := range violations {
			t.Errorf("testdb: invariant violated: %s", v)
		}
	}
	if err := srv.exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name)+" WITH (FORCE)"); err != nil {
		t.Errorf("testdb: drop the test's database: %v", err)
	}
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// withDatabase returns address with another database in its path.
func withDatabase(address, name string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return fmt.Sprintf("%s dbname=%s", address, name) // key=value form: the last one counts
	}
	u.Path = "/" + name
	return u.String()
}
