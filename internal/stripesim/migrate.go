package stripesim

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

//go:embed schema.sql
var schemaSQL string

// migrationLock is the advisory lock that lets one process migrate at a time.
const migrationLock = 0x7475_7661_6c5f_7373

// Migrate brings the schema "stripesim" to its newest version. Any number of
// processes may call it at once, any number of times.
func Migrate(ctx context.Context, pool db.Beginner) error {
	return db.InTx(ctx, pool, "stripesim: migrate", func(ctx context.Context, tx pgx.Tx) error {
		// A crowd at the door is normal at start; only one of them works.
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '60s'`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		return migrateTx(ctx, tx)
	})
}

// migrateTx applies the versions that are missing; the lock is held.
func migrateTx(ctx context.Context, tx pgx.Tx) error {
	const prepare = `
		CREATE SCHEMA IF NOT EXISTS stripesim;
		CREATE TABLE IF NOT EXISTS stripesim.versions (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`
	if _, err := tx.Exec(ctx, prepare); err != nil {
		return err
	}
	var have int
	if err := tx.QueryRow(ctx, `SELECT COALESCE(max(version), 0) FROM stripesim.versions`).Scan(&have); err != nil {
		return err
	}
	for i, sql := range []string{schemaSQL} {
		if i < have {
			continue
		}
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("version %d: %w", i+1, err)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO stripesim.versions (version) VALUES ($1)`, i+1); err != nil {
			return err
		}
	}
	return nil
}
