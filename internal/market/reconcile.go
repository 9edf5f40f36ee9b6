package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Report is one pass of reconciliation.
type Report struct {
	ID       int64
	By       string // an admin's name, or "clock"
	Started  time.Time
	Took     time.Duration // zero while it runs
	Tallies  []Tally
	Trouble  string // what could not be looked at, for people; empty when all was
	Finished bool
}

// Tally is how much of one kind a pass found, and what it did about it.
type Tally struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Done  string `json:"done"`
}

// Found is the number of all findings of the pass.
func (r Report) Found() int {
	n := 0
	for _, t := range r.Tallies {
		n += t.Count
	}
	return n
}

// reconcileLock lets one pass run at a time, in all processes together.
const reconcileLock = 0x7475_7661_6c72_6563

// ErrReconciling says that a pass is under way.
func ErrReconciling() *fault.Error {
	f := fault.New(fault.Conflict, "A comparison is under way already. Please look again in a minute.")
	f.Code = "reconciling"
	return f
}

// Reconcile compares what should be with what is, at Stripe and here, and
// repairs by calling what the main path calls: it settles, books, and puts in
// jobs that are missing. What cannot be repaired becomes an anomaly. Running
// it again changes nothing more.
//
// One pass runs at a time; another is refused with a Conflict, code
// reconciling, and nothing is lost: what it would have found, the next finds.
// A part that fails is named in Report.Trouble and does not keep the others
// from being looked at. The error is non-nil only when nothing could be done.
func (m *Market) Reconcile(ctx context.Context, by string) (Report, error) {
	conn, err := m.pool.Acquire(ctx)
	if err != nil {
		return Report{}, db.Explain("reconcile", err)
	}
	defer conn.Release()
	var mine bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(reconcileLock)).Scan(&mine); err != nil {
		return Report{}, db.Explain("reconcile", err)
	}
	if !mine {
		return Report{}, ErrReconciling()
	}
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, int64(reconcileLock)); err != nil {
			_ = conn.Conn().Close(ctx) // the lock goes with its connection
		}
	}()
	return m.reconcile(ctx, by)
}

// pass is one run.
type pass struct {
	*Market
	id      int64
	tallies []Tally
	trouble []error
}

// step is one comparison, with the kinds it may find.
type step struct {
	name  string
	kinds []string
	run   func(*pass, context.Context) error
}

// steps are in the order of what must be known before what: Stripe's word
// first, then what time has made due, then what is to be done and is not.
func steps() []step {
	return []step{
		{"Stripe's events", []string{findEvents}, (*pass).eventsMissed},
		{"payments", []string{findUnfinished, findProcessing}, (*pass).payments},
		{"deadlines", []string{findUnpaid, findApproval, findGoLive, findEnd, findRenewal, findBlocked}, (*pass).overdue},
		{"refunds", []string{findRefundWaits, findRefundFailed}, (*pass).refunds},
		{"jobs", []string{findJob, findUnapplied}, (*pass).missingJobs},
		{"blocks and ledger", []string{findBlocks, findLedgerBlocks, findLedgerMoney}, (*pass).sums},
		{"counters of capacity", []string{findCounter}, (*pass).counters},
	}
}

func (m *Market) reconcile(ctx context.Context, by string) (Report, error) {
	p := &pass{Market: m}
	if err := m.pool.QueryRow(ctx, `INSERT INTO reconciliations (by) VALUES ($1) RETURNING id`, by).Scan(&p.id); err != nil {
		return Report{}, db.Explain("reconcile: begin", err)
	}
	for _, s := range steps() {
		err := s.run(p, ctx)
		if err == nil {
			err = p.over(ctx, s.kinds)
		}
		if err != nil {
			m.log.ErrorContext(ctx, "reconciliation of a part failed", "part", s.name, "error", err)
			p.trouble = append(p.trouble, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return p.end(context.WithoutCancel(ctx))
}

// end writes the pass down and forgets old ones.
func (p *pass) end(ctx context.Context) (Report, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	tallies, err := json.Marshal(append([]Tally{}, p.tallies...))
	if err != nil {
		return Report{}, fmt.Errorf("market: reconcile: %w", err)
	}
	const sql = `UPDATE reconciliations SET ended_at = clock_timestamp(), tallies = $2, trouble = $3 WHERE id = $1`
	if _, err := p.pool.Exec(ctx, sql, p.id, tallies, p.words()); err != nil {
		return Report{}, db.Explain("reconcile: end", err)
	}
	if _, err := p.pool.Exec(ctx, `DELETE FROM reconciliations WHERE started_at < now() - interval '30 days'`); err != nil {
		return Report{}, db.Explain("reconcile: forget", err)
	}
	if _, err := p.pool.Exec(ctx, `DELETE FROM findings WHERE over_at < now() - interval '90 days' AND last_seen < now() - interval '90 days'`); err != nil {
		return Report{}, db.Explain("reconcile: forget", err)
	}
	if err := p.incomplete(ctx); err != nil {
		return Report{}, err
	}
	r, _, err := readPass(ctx, p.pool, `WHERE id = $1`, p.id)
	return r, err
}

// words says for people what could not be looked at. Causes are in the log.
func (p *pass) words() string {
	var parts []string
	for _, err := range p.trouble {
		part, _, _ := strings.Cut(err.Error(), ":")
		if f := (*fault.Error)(nil); errors.As(err, &f) && f.Kind == fault.Unavailable {
			part += " (no answer)"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// incomplete tells an admin when for an hour no pass could look at everything.
func (p *pass) incomplete(ctx context.Context) error {
	if len(p.trouble) == 0 {
		return nil
	}
	const sql = `SELECT NOT EXISTS (SELECT FROM reconciliations WHERE trouble = '' AND ended_at > now() - interval '1 hour')
		AND EXISTS (SELECT FROM reconciliations WHERE started_at < now() - interval '1 hour')`
	var long bool
	if err := p.pool.QueryRow(ctx, sql).Scan(&long); err != nil || !long {
		return db.Explain("reconcile: look at earlier passes", err)
	}
	return again(ctx, p.pool, Anomaly{
		Kind: "reconciliation incomplete", Fact: "reconciliation incomplete",
		Message: "For more than an hour no comparison could look at everything. Not looked at: " + p.words() + ".",
		Action:  "See the log for the cause. Payments whose webhooks were lost are not booked until this works again.",
	})
}

// LastPass is the newest pass, and false when there was none. One that was
// broken off is not Finished.
func (m *Market) LastPass(ctx context.Context) (Report, bool, error) {
	return readPass(ctx, m.pool, `ORDER BY id DESC LIMIT 1`)
}

func readPass(ctx context.Context, q db.Querier, which string, args ...any) (Report, bool, error) {
	sql := `SELECT id, by, started_at, COALESCE(ended_at, started_at), ended_at IS NOT NULL, tallies, trouble FROM reconciliations ` + which
	var r Report
	var ended time.Time
	err := q.QueryRow(ctx, sql, args...).Scan(&r.ID, &r.By, &r.Started, &ended, &r.Finished, &r.Tallies, &r.Trouble)
	if errors.Is(err, pgx.ErrNoRows) {
		return Report{}, false, nil
	}
	r.Took = ended.Sub(r.Started)
	return r, err == nil, db.Explain("market: read a pass", err)
}

// SinceReconciled is the age of the last pass that could look at everything,
// and 0 when there was none.
func SinceReconciled(ctx context.Context, q db.Querier) (time.Duration, error) {
	const sql = `SELECT clock_timestamp() - ended_at FROM reconciliations WHERE trouble = '' AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1`
	var age time.Duration
	err := q.QueryRow(ctx, sql).Scan(&age)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return age, db.Explain("market: read the last pass", err)
}
