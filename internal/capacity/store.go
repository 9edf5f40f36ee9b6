package capacity

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Moved is an entry that a change took, or gave back.
type Moved struct {
	Change int // its place in the list of changes
	Due    time.Time
	Back   bool
}

// Apply makes changes in the transaction of their reason, late in it, since
// counters are shared by everybody who goes live on the same day: it returns
// what moved, for the ledger. A limited change that does not fit is refused
// with the code "full" (details metric, used, limit and at), and the
// transaction must end then. The rentals must be locked.
func Apply(ctx context.Context, tx pgx.Tx, limits Limits, changes []Change) ([]Moved, error) {
	var steps []step
	var moved []Moved
	limited := false
	for i, c := range changes {
		s, err := enter(ctx, tx, c)
		if err != nil {
			return nil, err
		}
		for _, e := range s.gives {
			moved = append(moved, Moved{i, e.Due, true})
		}
		if s.takes != nil {
			moved = append(moved, Moved{i, s.takes.Due, false})
			limited = limited || c.Limited
		}
		steps = append(steps, s)
	}
	for _, d := range deltas(steps) {
		if err := count(ctx, tx, limits, d, limited); err != nil {
			return nil, about(err, changes)
		}
	}
	return moved, nil
}

// Look judges a limited change without making it, by what is committed. It is
// for whoever must give something up before the change can be tried.
func Look(ctx context.Context, q db.Querier, limits Limits, c Change) error {
	have, err := entries(ctx, q, c.Rental)
	if err != nil {
		return err
	}
	for _, d := range deltas([]step{plan(have, c)}) {
		limit := limits.Of(d.metric)
		if d.n <= 0 || limit == 0 {
			continue
		}
		used, err := counted(ctx, q, d)
		if err != nil {
			return err
		}
		if u := (Use{d.metric, used, limit}); !u.Fits(d.n) {
			return about(full(u), []Change{c})
		}
	}
	return nil
}

func entries(ctx context.Context, q db.Querier, rental int64) ([]Entry, error) {
	rows, err := q.Query(ctx, `SELECT due, blocks FROM capacity_entries WHERE rental_id = $1 ORDER BY due`, rental)
	if err != nil {
		return nil, db.Explain("capacity: read the entries", err)
	}
	have, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Entry])
	return have, db.Explain("capacity: read the entries", err)
}

// enter writes what a change does to the entries of its rental.
func enter(ctx context.Context, tx pgx.Tx, c Change) (step, error) {
	have, err := entries(ctx, tx, c.Rental)
	if err != nil {
		return step{}, err
	}
	s := plan(have, c)
	for _, e := range s.gives {
		if _, err := tx.Exec(ctx, `DELETE FROM capacity_entries WHERE rental_id = $1 AND due = $2`, c.Rental, e.Due); err != nil {
			return s, fmt.Errorf("capacity: give back: %w", err)
		}
	}
	if s.takes == nil {
		return s, nil
	}
	const sql = `INSERT INTO capacity_entries (rental_id, due, blocks) VALUES ($1, $2, $3)`
	if _, err := tx.Exec(ctx, sql, c.Rental, s.takes.Due, s.takes.Blocks); err != nil {
		return s, fmt.Errorf("capacity: enter: %w", err)
	}
	return s, nil
}

const (
	sqlCount = `
		INSERT INTO capacity_counters AS c (metric, bucket, used) VALUES (@metric, @bucket, @n::bigint)
		ON CONFLICT (metric, bucket) DO UPDATE SET used = c.used + @n`

	// sqlCountWithin is the limit: whoever waited for the row is judged by what
	// it is then.
	sqlCountWithin = `
		INSERT INTO capacity_counters AS c (metric, bucket, used) SELECT @metric, @bucket, @n::bigint WHERE @n <= @limit::bigint
		ON CONFLICT (metric, bucket) DO UPDATE SET used = c.used + @n WHERE c.used + @n <= @limit`
)

// count adds to one counter. What gives back, and what is not limited, always
// may.
func count(ctx context.Context, tx pgx.Tx, limits Limits, d delta, limited bool) error {
	sql, limit := sqlCount, limits.Of(d.metric)
	if limited && d.n > 0 && limit != 0 {
		sql = sqlCountWithin
	}
	args := pgx.NamedArgs{"metric": d.metric, "bucket": d.bucket, "n": d.n, "limit": limit}
	if sql == sqlCount && d.n < 0 {
		sql = `UPDATE capacity_counters SET used = used + @n WHERE metric = @metric AND bucket = @bucket`
	}
	tag, err := tx.Exec(ctx, sql, args)
	switch {
	case err != nil:
		return fmt.Errorf("capacity: count: %w", err)
	case tag.RowsAffected() == 1:
		return nil
	case d.n < 0:
		return fmt.Errorf("capacity: %s at %s was never counted", d.metric, d.bucket)
	}
	used, err := counted(ctx, tx, d)
	if err != nil {
		return err
	}
	return full(Use{d.metric, used, limit})
}

func counted(ctx context.Context, q db.Querier, d delta) (used int64, err error) {
	const sql = `SELECT COALESCE(sum(used), 0)::bigint FROM capacity_counters WHERE metric = $1 AND bucket = $2`
	err = q.QueryRow(ctx, sql, d.metric, d.bucket).Scan(&used)
	return used, db.Explain("capacity: read a counter", err)
}

// full refuses a go-live time.
func full(u Use) *fault.Error {
	msg := "That hour is full: all that moderators can look at in it is taken. Choose another hour, or leave the time empty to go live at the approval."
	if u.Metric == LaunchPixels {
		msg = "That day has not enough room left for so many pixels. Choose another day, or leave the time empty to go live at the approval."
	}
	return &fault.Error{
		Kind: fault.Conflict, Code: "full", Field: "go_live_at", Msg: msg,
		Details: map[string]any{"metric": u.Metric, "used": u.Used, "limit": u.Limit},
	}
}

// about adds to a refusal which time was asked for.
func about(err error, changes []Change) error {
	refusal := fault.As(err)
	if refusal.Code != "full" {
		return err
	}
	for _, c := range changes {
		if c.Limited && c.Due != nil {
			return refusal.With("at", c.Due.UTC())
		}
	}
	return refusal
}

// RebuildSQL makes the counters anew from the entries; they must be locked
// against changes. It is for whoever moved the entries.
func RebuildSQL() []string {
	return []string{
		`DELETE FROM capacity_counters`,
		`INSERT INTO capacity_counters (metric, bucket, used) ` + SumSQL,
	}
}

// SumSQL is what the counters should be: metric, bucket and used of everything
// that is entered.
const SumSQL = `
	SELECT 'review.images' AS metric, date_trunc('hour', due, 'UTC') AS bucket, count(*) AS used FROM capacity_entries GROUP BY 2
	UNION ALL
	SELECT 'launch.pixels', date_trunc('day', due, 'UTC'), sum(blocks) * 100 FROM capacity_entries GROUP BY 2`
