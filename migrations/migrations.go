package migrations

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Files are the migrations in goose's format, oldest first by name.
//
//go:embed *.sql
var Files embed.FS

// lockKey is the advisory lock under which a schema is changed.
const lockKey = 0x7475_7661_6c00

// Apply brings the schema to the newest version. It waits for another process
// that is at it, and does nothing when there is nothing to do.
func Apply(ctx context.Context, pool *pgxpool.Pool) error {
	return locked(ctx, pool, func() error {
		if err := ours(ctx, pool); err != nil {
			return err
		}
		return rivers(ctx, pool)
	})
}

// Pending reports whether a migration is still to be applied.
func Pending(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	sql := stdlib.OpenDBFromPool(pool)
	defer sql.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, sql, Files)
	if err != nil {
		return false, fmt.Errorf("migrations: read files: %w", err)
	}
	pending, err := p.HasPending(ctx)
	if err != nil {
		return false, fmt.Errorf("migrations: compare versions: %w", err)
	}
	return pending, nil
}

func locked(ctx context.Context, pool *pgxpool.Pool, fn func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("migrations: connect: %w", err)
	}
	defer conn.Release()
	// Another process may need longer than a statement usually may.
	if _, err := conn.Exec(ctx, "SET lock_timeout = 0; SET statement_timeout = 0"); err != nil {
		return fmt.Errorf("migrations: lift limits: %w", err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockKey)); err != nil {
		return fmt.Errorf("migrations: wait for the lock: %w", err)
	}
	defer func() {
		// The connection carries lifted limits and a lock: it ends here.
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
	}()
	return fn()
}

func ours(ctx context.Context, pool *pgxpool.Pool) error {
	sql := stdlib.OpenDBFromPool(pool)
	defer sql.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, sql, Files)
	if err != nil {
		return fmt.Errorf("migrations: read files: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrations: apply: %w", err)
	}
	return nil
}

func rivers(ctx context.Context, pool *pgxpool.Pool) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fmt.Errorf("migrations: job queue: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrations: apply the job queue's: %w", err)
	}
	return nil
}
