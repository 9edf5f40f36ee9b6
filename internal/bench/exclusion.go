package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/turnstile"
)

// exclusionSetup is a table of reservations in which PostgreSQL itself refuses
// two that overlap in space and time. Boxes that touch would overlap, so they
// are drawn a little smaller.
const exclusionSetup = `
CREATE TABLE reservations (
    claim_id bigint PRIMARY KEY,
    place    box NOT NULL,
    during   tstzrange NOT NULL,
    EXCLUDE USING gist (place WITH &&, during WITH &&)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0)`

// exclusion is the way without blocks: a row for each claim. A lease that is
// prolonged, or a lapsed one that is taken over, would be further statements.
type exclusion struct{ pool *pgxpool.Pool }

const placed = `box(point($2::float8 + 0.25, $3::float8 + 0.25), point($2::float8 + $4::float8 - 0.25, $3::float8 + $5::float8 - 0.25))`

func (e exclusion) claim(ctx context.Context, l turnstile.Lease) (bool, error) {
	const look = `SELECT NOT EXISTS (SELECT FROM reservations WHERE claim_id <> $1 AND place && ` + placed + ` AND during && tstzrange(now(), 'infinity'))`
	const take = `
		INSERT INTO reservations (claim_id, place, during) VALUES ($1, ` + placed + `, tstzrange(now(), now() + interval '1 day'))
		ON CONFLICT DO NOTHING`
	r := l.Rect
	a := []any{int64(l.Claim), r.X, r.Y, r.W, r.H}
	var free bool
	if err := e.pool.QueryRow(ctx, look, a...).Scan(&free); err != nil || !free {
		return false, err
	}
	tag, err := e.pool.Exec(ctx, take, a...)
	return tag.RowsAffected() == 1, err
}

func (e exclusion) release(ctx context.Context, l turnstile.Lease) (int, error) {
	tag, err := e.pool.Exec(ctx, `DELETE FROM reservations WHERE claim_id = $1`, l.Claim)
	return int(tag.RowsAffected()) * l.Rect.Area(), err
}
