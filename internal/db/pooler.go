package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrPooled says that the database is reached through a pooler that gives each
// transaction another session.
var ErrPooled = errors.New("the database is behind a pooler in transaction mode (PgBouncer or alike): " +
	"Tuval needs sessions of its own, for prepared statements, locks and LISTEN; " +
	"connect directly, or set the pooler to session mode")

// Pooled adds ErrPooled to an error of a first connection that only a pooler
// gives.
func Pooled(err error) error {
	if err != nil && strings.Contains(err.Error(), "unsupported startup parameter") {
		return errors.Join(err, ErrPooled)
	}
	return err
}

// tries is how often a pooler is given the occasion to show itself.
const tries = 3

// Direct returns ErrPooled when the sessions of the pool are not its own. It
// looks at start, so that nothing fails at random later: one connection leaves
// a mark in its session, another one begins a transaction, and the first looks
// for its mark. A pooler that lends sessions by the transaction hands the session
// it got back last to whoever asks next, so the mark is gone.
func Direct(ctx context.Context, pool *pgxpool.Pool) error {
	for i := range tries {
		kept, err := keepsMark(ctx, pool, fmt.Sprintf("mark %d", i))
		if err != nil {
			return fmt.Errorf("db: look for a pooler: %w", err)
		}
		if !kept {
			return ErrPooled
		}
	}
	return nil
}

func keepsMark(ctx context.Context, pool *pgxpool.Pool, mark string) (bool, error) {
	a, err := pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer a.Release()
	b, err := pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer b.Release()
	// The simple protocol works through any pooler.
	if _, err := a.Exec(ctx, `SELECT set_config('tuval.mark', $1, false)`, pgx.QueryExecModeSimpleProtocol, mark); err != nil {
		return false, err
	}
	if _, err := b.Exec(ctx, `BEGIN`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return false, err
	}
	defer func() {
		_, _ = b.Exec(context.WithoutCancel(ctx), `ROLLBACK`, pgx.QueryExecModeSimpleProtocol) // nothing was done
	}()
	var found string
	err = a.QueryRow(ctx, `SELECT coalesce(current_setting('tuval.mark', true), '')`, pgx.QueryExecModeSimpleProtocol).Scan(&found)
	return found == mark, err
}
