package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/ident"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/turnstile"
)

// Blocked is an area an admin keeps from being rented, until an instant.
type Blocked struct {
	ID        int64     `json:"-"`
	Key       string    `json:"id"`
	Rect      grid.Rect `json:"rect"`
	Note      string    `json:"note"`
	Until     time.Time `json:"until"`
	CreatedAt time.Time `json:"created_at"`
}

// blockedFor is how long an area stays blocked when nobody says.
const blockedFor = 365 * 24 * time.Hour

// Block keeps all blocks of the rect from being rented. All must be free: it
// goes through the turnstile like everybody. Until defaults to one year.
func (m *Market) Block(ctx context.Context, by string, rect grid.Rect, note string, until *time.Time) (Blocked, error) {
	b := Blocked{Key: ident.New(), Rect: rect, Note: note}
	err := m.contend(ctx, "block", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		c, err := m.clear(ctx, tx, rect, nil, fx)
		if err != nil {
			return err
		}
		b.Until = c.Now.Add(blockedFor)
		if until != nil {
			b.Until = until.Truncate(time.Microsecond) // as it is stored
		}
		if !b.Until.After(c.Now) {
			return fault.Field("until", "until must be in the future")
		}
		const sql = `
			INSERT INTO blocked_areas (key, x, y, w, h, note, until, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, created_at`
		row := tx.QueryRow(ctx, sql, b.Key, rect.X, rect.Y, rect.W, rect.H, note, b.Until, by)
		if err := row.Scan(&b.ID, &b.CreatedAt); err != nil {
			return fmt.Errorf("market: write a blocked area: %w", err)
		}
		l := turnstile.Lease{Claim: turnstile.ClaimID(b.ID), Rect: rect}
		if err := turnstile.Claim(ctx, tx, l, b.Until, c.Others); err != nil {
			return err
		}
		fx.event(ledger.Event{
			Kind: ledger.AreaBlocked, Claim: b.ID, Rect: rect, Blocks: rect.Area(), Currency: m.rules.Currency.Code, Actor: by,
		})
		fx.jobAt(b.Until, jobs.Unblock{Area: b.ID})
		return m.write(ctx, tx, fx)
	})
	if errors.Is(err, turnstile.ErrTaken) {
		return b, fault.Taken("Some of these blocks are held, rented or blocked already.")
	}
	return b, err
}

// Unblock frees a blocked area at once. An area that is free already is not
// found.
func (m *Market) Unblock(ctx context.Context, by, key string) error {
	const sql = `UPDATE blocked_areas SET closed_at = now() WHERE key = $1 AND closed_at IS NULL RETURNING id, x, y, w, h`
	return m.unblock(ctx, by, sql, key)
}

// BlockOver frees a blocked area whose time is over. A job.
func (m *Market) BlockOver(ctx context.Context, id int64) error {
	const sql = `UPDATE blocked_areas SET closed_at = until WHERE id = $1 AND closed_at IS NULL AND until <= now()
		RETURNING id, x, y, w, h`
	err := m.unblock(ctx, ledger.System, sql, id)
	if fault.Is(err, "not_found") {
		return nil
	}
	return err
}

func (m *Market) unblock(ctx context.Context, by, sql string, which any) error {
	return m.contend(ctx, "unblock", func(ctx context.Context, tx pgx.Tx) error {
		var l turnstile.Lease
		err := tx.QueryRow(ctx, sql, which).Scan(&l.Claim, &l.Rect.X, &l.Rect.Y, &l.Rect.W, &l.Rect.H)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, "There is no such blocked area.")
		}
		if err != nil {
			return fmt.Errorf("market: end a blocked area: %w", err)
		}
		if err := turnstile.Release(ctx, tx, l); err != nil {
			return err
		}
		return ledger.Append(ctx, tx, ledger.Event{
			Kind: ledger.AreaUnblocked, Claim: int64(l.Claim), Rect: l.Rect, Blocks: -l.Rect.Area(),
			Currency: m.rules.Currency.Code, Actor: by,
		})
	})
}

// BlockedAreas lists what is blocked now, the newest first.
func (m *Market) BlockedAreas(ctx context.Context) ([]Blocked, error) {
	const sql = `SELECT id, key, x, y, w, h, note, until, created_at FROM blocked_areas
		WHERE closed_at IS NULL AND until > now() ORDER BY id DESC`
	rows, err := m.pool.Query(ctx, sql)
	if err != nil {
		return nil, db.Explain("market: list blocked areas", err)
	}
	bs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Blocked, error) {
		var b Blocked
		return b, row.Scan(&b.ID, &b.Key, &b.Rect.X, &b.Rect.Y, &b.Rect.W, &b.Rect.H, &b.Note, &b.Until, &b.CreatedAt)
	})
	if err != nil {
		return nil, db.Explain("market: list blocked areas", err)
	}
	return bs, nil
}
