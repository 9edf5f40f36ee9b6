package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/turnstile"
)

// lab is where other ways of claiming work: a table like blocks, with the same
// storage settings but without the guard, which would not let some of them
// live.
const labSetup = `
CREATE TABLE lab (LIKE blocks INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)
WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
INSERT INTO lab (y, x) SELECT y, x FROM blocks ORDER BY y, x;
ANALYZE lab`

const (
	inRect = `y BETWEEN $2::int2 AND $3::int2 AND x BETWEEN $4::int2 AND $5::int2`
	isFree = `(leased_until <= now() OR claim_id = $1)`
	area   = `(($3::int4 - $2::int4 + 1) * ($5::int4 - $4::int4 + 1))`
	taking = `UPDATE lab SET claim_id = $1, leased_until = now() + interval '1 day' WHERE ` + inRect
	giving = `UPDATE lab SET claim_id = NULL, leased_until = 'epoch' WHERE ` + inRect + ` AND claim_id = $1`

	givingInOrder = `WITH locked AS MATERIALIZED (
		SELECT FROM lab WHERE ` + inRect + ` ORDER BY y, x FOR UPDATE
	) ` + giving + ` AND (SELECT count(*) FROM locked) > 0`

	plainLook = `SELECT NOT EXISTS (SELECT FROM lab WHERE ` + inRect + ` AND NOT ` + isFree + `)`
)

// errLost makes a transaction roll back because the claim lost.
var errLost = errors.New("lost")

// tableTake is what a way does to take a rect.
type tableTake func(ctx context.Context, q db.Querier, l turnstile.Lease) (won bool, err error)

// tableWay is a way on the lab table: what it does inside a transaction.
type tableWay struct {
	pool    *pgxpool.Pool
	look    bool // a plain read turns losers away first
	alone   bool // take is one statement and needs no transaction around it
	ordered bool // giving back locks in order too
	take    tableTake
}

func args(l turnstile.Lease) []any {
	r := l.Rect
	return []any{int64(l.Claim), r.Y, r.Y + r.H - 1, r.X, r.X + r.W - 1}
}

func (w tableWay) claim(ctx context.Context, l turnstile.Lease) (won bool, err error) {
	if w.look {
		var free bool
		if err := w.pool.QueryRow(ctx, plainLook, args(l)...).Scan(&free); err != nil || !free {
			return false, err
		}
	}
	if w.alone {
		return w.take(ctx, w.pool, l)
	}
	err = db.InTx(ctx, w.pool, "claim", func(ctx context.Context, tx pgx.Tx) error {
		won, err := w.take(ctx, tx, l)
		if err == nil && !won {
			return errLost
		}
		return err
	})
	if errors.Is(err, errLost) {
		return false, nil
	}
	return err == nil, err
}

func (w tableWay) release(ctx context.Context, l turnstile.Lease) (blocks int, err error) {
	sql := giving
	if w.ordered {
		sql = givingInOrder
	}
	err = db.InTx(ctx, w.pool, "release", func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql, args(l)...)
		blocks = int(tag.RowsAffected())
		return err
	})
	return blocks, err
}

// countedUpdate is way A: one UPDATE whose WHERE counts the free blocks.
func countedUpdate(ctx context.Context, q db.Querier, l turnstile.Lease) (bool, error) {
	const sql = taking + ` AND (SELECT count(*) FROM lab WHERE ` + inRect + ` AND ` + isFree + `) = ` + area
	tag, err := q.Exec(ctx, sql, args(l)...)
	return tag.RowsAffected() > 0, err
}

// countedRows is way B: update what is free, and roll back if it was not all.
func countedRows(ctx context.Context, q db.Querier, l turnstile.Lease) (bool, error) {
	tag, err := q.Exec(ctx, taking+` AND `+isFree, args(l)...)
	return tag.RowsAffected() == int64(l.Rect.Area()), err
}

// lockedFirst is way C: lock in order until a block that is taken, write if
// there was none. Each block is touched twice, and a loser keeps its locks until
// its ROLLBACK.
func lockedFirst(ctx context.Context, q db.Querier, l turnstile.Lease) (bool, error) {
	const sql = `WITH locked AS MATERIALIZED (
		SELECT claim_id, leased_until FROM lab WHERE ` + inRect + ` ORDER BY y, x FOR UPDATE
	) ` + taking + ` AND NOT EXISTS (SELECT FROM locked WHERE NOT ` + isFree + `)`
	tag, err := q.Exec(ctx, sql, args(l)...)
	return tag.RowsAffected() > 0, err
}

// oneForAll is way D: one advisory lock for the whole canvas, then way B.
func oneForAll(ctx context.Context, q db.Querier, l turnstile.Lease) (bool, error) {
	if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock(4711)`); err != nil {
		return false, fmt.Errorf("lock the canvas: %w", err)
	}
	return countedRows(ctx, q, l)
}
