package board

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/rental"
)

// Board keeps the canvas of one process current.
type Board struct {
	pool     *pgxpool.Pool
	terms    rental.Terms
	reading  sync.Mutex // one full read at a time
	mu       sync.Mutex // guards last
	last     *Snapshot
	pictures *pictures
}

// New makes a board over the pool's database. It reads nothing yet.
func New(pool *pgxpool.Pool, terms rental.Terms) *Board {
	return &Board{pool: pool, terms: terms, pictures: newPictures(pool)}
}

// Snapshot is the canvas now: never older than the call. It returns a fault of
// kind Unavailable when the database is away.
func (b *Board) Snapshot(ctx context.Context) (*Snapshot, error) {
	if s, ok, err := b.current(ctx); ok || err != nil {
		return s, db.Explain("board: look", err)
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	// Whoever was ahead may have read what this caller waits for.
	if s, ok, err := b.current(ctx); ok || err != nil {
		return s, db.Explain("board: look", err)
	}
	s, err := b.read(ctx)
	if err != nil {
		return nil, db.Explain("board: read", err)
	}
	b.pictures.know(s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = s
	return s, nil
}

// sqlChanged asks whether the ledger has events that a snapshot did not see,
// whatever order they were committed in.
const sqlChanged = `
SELECT now(), (SELECT count(*) FROM clock_shifts),
       EXISTS (SELECT FROM ledger WHERE xid >= pg_snapshot_xmin($1::text::pg_snapshot)
               AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot))`

// current is the kept board, if it still is the canvas.
func (b *Board) current(ctx context.Context) (*Snapshot, bool, error) {
	b.mu.Lock()
	s := b.last
	b.mu.Unlock()
	if s == nil {
		return nil, false, nil
	}
	var now time.Time
	var shifts int64
	var changed bool
	if err := b.pool.QueryRow(ctx, sqlChanged, s.seen).Scan(&now, &shifts, &changed); err != nil {
		return nil, false, err
	}
	changed = changed || shifts != s.shifts || s.changes != nil && !now.Before(*s.changes)
	return s, !changed, nil
}

const (
	sqlMoment = `SELECT now(), pg_current_snapshot()::text, (SELECT count(*) FROM clock_shifts)`

	sqlRentals = `
		SELECT r.public_id, r.x, r.y, r.w, r.h, r.state, r.leased_until, r.approve_by, r.live_from, r.ends_at, r.hidden,
		       COALESCE(c.title, ''), COALESCE(c.alt, ''), COALESCE(c.link, ''), COALESCE(c.link_host, ''),
		       COALESCE(c.picture, ''), COALESCE(c.picture_2x, '')
		FROM rentals r LEFT JOIN creatives c ON c.rental_id = r.id AND c.state = 'approved'
		WHERE r.state <> 'closed' ORDER BY r.id`

	sqlBlocked = `SELECT x, y, w, h, until FROM blocked_areas WHERE closed_at IS NULL AND until > now() ORDER BY id`
)

// read reads the canvas in one snapshot of the database.
func (b *Board) read(ctx context.Context) (*Snapshot, error) {
	tx, err := b.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	s := &Snapshot{Areas: []Area{}}
	if err := tx.QueryRow(ctx, sqlMoment).Scan(&s.At, &s.seen, &s.shifts); err != nil {
		return nil, err
	}
	if err := b.readRentals(ctx, tx, s); err != nil {
		return nil, fmt.Errorf("rentals: %w", err)
	}
	if err := readBlocked(ctx, tx, s); err != nil {
		return nil, fmt.Errorf("blocked areas: %w", err)
	}
	s.finish()
	return s, nil
}

func (b *Board) readRentals(ctx context.Context, tx pgx.Tx, s *Snapshot) error {
	rows, err := tx.Query(ctx, sqlRentals)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		a := &r.area
		err := rows.Scan(&r.PublicID, &r.Rect.X, &r.Rect.Y, &r.Rect.W, &r.Rect.H, &r.State, &r.LeasedUntil, &r.ApproveBy,
			&r.LiveFrom, &r.EndsAt, &r.Hidden, &a.Title, &a.Alt, &a.Link, &a.LinkHost, &a.Picture, &a.Picture2x)
		if err != nil {
			return err
		}
		for _, at := range []*time.Time{r.LeasedUntil, r.ApproveBy, r.LiveFrom, r.EndsAt} {
			s.soon(at)
		}
		if area, is := r.areaOf(s.At, b.terms); is {
			s.Areas = append(s.Areas, area)
		}
	}
	return rows.Err()
}

func readBlocked(ctx context.Context, tx pgx.Tx, s *Snapshot) error {
	rows, err := tx.Query(ctx, sqlBlocked)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		a := Area{State: Blocked, Until: new(time.Time)}
		if err := rows.Scan(&a.X, &a.Y, &a.W, &a.H, a.Until); err != nil {
			return err
		}
		s.soon(a.Until)
		s.Areas = append(s.Areas, a)
	}
	return rows.Err()
}
