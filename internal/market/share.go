package market

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// share bounds the blocks that all people together hold without paying. It is
// never exceeded, however many hold at once, and yet holds need not queue for
// one counter:
//
// While less than half of it is used, a small hold takes one of a few slots
// and is judged by what is committed. Those that hold the other slots cannot
// be seen yet, but together they are not larger than the other half. A hold
// that is large, or comes when more than half is used, takes all slots: then
// nobody else is at it, and what it sees is exact.
type share struct{ most int }

func (m *Market) mostHeld() share {
	return share{int(math.Floor(m.rules.MaxHeldShare * grid.Blocks))}
}

// slots is how many small holds can be at it at once.
const slots = 32

func (s share) half() int  { return s.most / 2 }
func (s share) small() int { return s.half() / slots }

const (
	sqlHeldByAll = `SELECT COALESCE(sum(w * h), 0) FROM rentals
		WHERE state IN ('held', 'paying') AND leased_until > now() AND id <> ALL (@replaced)`

	// sqlSlot takes all slots, in their order, or a free one.
	sqlSlot = `
		WITH held AS MATERIALIZED (
			SELECT COALESCE(sum(w * h), 0) AS n FROM rentals WHERE state IN ('held', 'paying') AND leased_until > now()
		), alone AS MATERIALIZED (
			SELECT @area::int > @small::int OR n + @area::int > @half::int AS yes FROM held
		), every AS MATERIALIZED (
			SELECT pg_advisory_xact_lock(7003, s) FROM generate_series(1, @slots::int) AS s WHERE (SELECT yes FROM alone)
		), one AS MATERIALIZED (
			SELECT s FROM generate_series(1, @slots::int) AS s
			WHERE NOT (SELECT yes FROM alone) AND pg_try_advisory_xact_lock(7003, s) LIMIT 1
		)
		SELECT (SELECT yes FROM alone), (SELECT count(*) FROM every) + (SELECT count(*) FROM one)`
	sqlWaitSlot = `SELECT pg_advisory_xact_lock(7003, @slot::int)`
)

// enterShare takes the slot or slots that a hold of the rect needs, and
// reports whether it is alone now.
func (m *Market) enterShare(ctx context.Context, tx pgx.Tx, who Who, rect grid.Rect) (alone bool, err error) {
	s := m.mostHeld()
	var got int
	args := pgx.NamedArgs{"area": rect.Area(), "small": s.small(), "half": s.half(), "slots": slots, "slot": 1 + who.Person()%slots}
	if err := tx.QueryRow(ctx, sqlSlot, args).Scan(&alone, &got); err != nil {
		return false, fmt.Errorf("market: take a slot: %w", err)
	}
	if got == 0 { // all are in use: wait for one
		if _, err := tx.Exec(ctx, sqlWaitSlot, args); err != nil {
			return false, fmt.Errorf("market: wait for a slot: %w", err)
		}
	}
	return alone, nil
}

// judge refuses what would be too much. A small hold that finds more than half
// of the share used starts over, to be judged alone.
func (s share) judge(held int, alone bool) error {
	switch {
	case !alone && held > s.half():
		return turnstile.ErrMoved
	case held > s.most:
		return fault.Limit(fmt.Sprintf("Too much of the canvas is being held at the moment: at most %d blocks can be unpaid at once. Please try again in a minute.", s.most), time.Minute)
	}
	return nil
}
