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
	taken, err := turnstile.Taken(ctx, o.pool, l.Rect, l.Claim)
	if err != nil || taken {
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

func (o ours) release(ctx context.Context, l turnstile.Lease) (int, error) {
	err := db.InTx(ctx, o.pool, "release", func(ctx context.Context, tx pgx.Tx) error {
		return turnstile.Release(ctx, tx, l)
	})
	return l.Rect.Area(), err // all, or an error
}
