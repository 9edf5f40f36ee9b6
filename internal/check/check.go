package check

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

// invariant is one thing that is always true. Its query returns a text a
// violation.
type invariant struct {
	name string
	sql  string
}

// Run checks every invariant and returns one line a violation.
func Run(ctx context.Context, pool db.Beginner) ([]string, error) {
	all := append(structure(), punctuality()...)
	return run(ctx, pool, append(all, workload()...))
}

// Structure checks what holds even when no worker runs.
func Structure(ctx context.Context, pool db.Beginner) ([]string, error) {
	return run(ctx, pool, structure())
}

func run(ctx context.Context, pool db.Beginner, all []invariant) ([]string, error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	tx, err := pool.BeginTx(ctx, snapshot)
	if err != nil {
		return nil, fmt.Errorf("check: begin: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	var found []string
	for _, i := range all {
		rows, err := tx.Query(ctx, i.sql)
		if err != nil {
			return nil, fmt.Errorf("check: %s: %w", i.name, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("check: %s: %w", i.name, err)
		}
		for _, line := range lines {
			found = append(found, i.name+": "+line)
		}
	}
	return found, nil
}
