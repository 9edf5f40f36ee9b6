package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/turnstile"
)

// ours is the product's way: look without locks, then claim in a transaction.
type ours struct {
	pool  *pgxpool.Pool
	until time.Time // an instant of the database, far off
}

func newOurs(ctx context.Context, pool *pgxpool.Pool) (ours, error) {
	o := ours{pool: pool}
	return o, pool.QueryRow(ctx, `SELECT date_trunc('second', now()) + interval '1 day'`).Scan(&o.until)
}

func (o ours) claim(ctx context.Context, l turnstile.Lease) (bool, error) {
	owners, err := turnstile.Owners(ctx, o.pool, l.Rect)
	if err != nil || len(owners) > 0 {
		return false, err
	}
	err = db.InTx(ctx, o.pool, "claim", func(ctx context.Context, tx pgx.Tx) error {
		return turnstile.Claim(ctx, tx, l, o.until, nil)
	})
	if errors.Is(err, turnstile.ErrTaken) {
		return false, nil
	}
	return err == nil, err
}

func (o ours) release(ctx context.Context, l turnstile.Lease) error {
	return db.InTx(ctx, o.pool, "release", func(ctx context.Context, tx pgx.Tx) error {
		return turnstile.Release(ctx, tx, l)
	})
}

func (o ours) owned(ctx context.Context, l turnstile.Lease) (n int, err error) {
	return n, countOwned(ctx, o.pool, "blocks", l).Scan(&n)
}

func countOwned(ctx context.Context, q db.Querier, table string, l turnstile.Lease) pgx.Row {
	r := l.Rect
	return q.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE y BETWEEN $2::int2 AND $3::int2 AND x BETWEEN $4::int2 AND $5::int2 AND claim_id = $1`,
		l.Claim, r.Y, r.Y+r.H-1, r.X, r.X+r.W-1)
}
