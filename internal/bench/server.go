package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/localpg"
	"tuval/migrations"
)

// server is a private PostgreSQL with nothing turned off that costs time.
type server struct {
	cluster *localpg.Cluster
	version string
	n       int // databases made
}

func startServer(ctx context.Context, log io.Writer) (*server, error) {
	c, err := localpg.StartTemporary(ctx, localpg.Options{Log: log, Settings: map[string]string{
		"max_connections": "300", "max_wal_size": "4GB", "checkpoint_timeout": "30min",
		// As PostgreSQL comes: it decides how way B scans, and so whether it deadlocks.
		"random_page_cost": "4",
	}})
	if err != nil {
		return nil, err
	}
	return &server{cluster: c}, nil
}

func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_ = s.cluster.Stop(ctx)
}

// database makes a migrated database with the claims of a load, and returns its
// address. Each measurement has a fresh one: none pays for what another left.
func (s *server) database(ctx context.Context, l load) (string, error) {
	s.n++
	url, err := s.cluster.EnsureDatabase(ctx, fmt.Sprintf("bench%d", s.n))
	if err != nil {
		return "", err
	}
	pool, err := db.Open(ctx, db.Settings{URL: url, Name: "bench", MaxConns: 2})
	if err != nil {
		return "", err
	}
	defer pool.Close()
	if err := migrations.Apply(ctx, pool); err != nil {
		return "", err
	}
	sql, args := l.insertClaims()
	for _, step := range []struct {
		sql  string
		args []any
	}{{sql, args}, {"VACUUM (ANALYZE) blocks", nil}, {"VACUUM (ANALYZE) rentals", nil}, {"SHOW server_version", nil}} {
		if _, err := pool.Exec(ctx, step.sql, step.args...); err != nil {
			return "", fmt.Errorf("set up: %s: %w", step.sql, err)
		}
	}
	return url, pool.QueryRow(ctx, "SHOW server_version").Scan(&s.version)
}

func openPool(ctx context.Context, url string, clients int) (*pgxpool.Pool, error) {
	pool, err := db.Open(ctx, db.Settings{URL: url, Name: "bench", MaxConns: int32(clients)})
	if err != nil {
		return nil, err
	}
	// All connections at once, so that none is made while time is taken.
	conns := make([]*pgxpool.Conn, clients)
	for i := range conns {
		if conns[i], err = pool.Acquire(ctx); err != nil {
			pool.Close()
			return nil, err
		}
	}
	for _, c := range conns {
		c.Release()
	}
	return pool, nil
}

// calm brings the disk and the table to rest between two measurements.
func calm(ctx context.Context, pool *pgxpool.Pool) error {
	for _, sql := range []string{
		`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id IS NOT NULL`,
		`VACUUM blocks`, `CHECKPOINT`,
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// deadlocks is how many PostgreSQL met in the database so far, of connections
// that are closed.
func (s *server) deadlocks(ctx context.Context, url string) (n int, err error) {
	pool, err := db.Open(ctx, db.Settings{URL: url, Name: "bench", MaxConns: 1})
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	err = pool.QueryRow(ctx, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	return n, err
}
