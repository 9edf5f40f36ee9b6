package market

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// unworked is true of a job that will still run; dead of one that was given
// up, which an admin sees as an anomaly: nothing is put in beside it.
const (
	unworked = `j.state IN ('available', 'scheduled', 'retryable', 'running', 'pending')`
	dead     = `j.state IN ('discarded', 'cancelled')`
)

// jobsAbout counts the jobs about one thing, by the index on what jobs carry. A
// count, not an EXISTS: that would be planned as a scan of all jobs. The kind
// is no plain column, or all jobs of it would be looked up each time.
func jobsAbout(kind, arg, id, which string) string {
	return `(SELECT count(*) FROM river_job j WHERE j.args @> jsonb_build_object('` + arg + `', ` + id + `)
		AND j.kind || '' = '` + kind + `' AND (` + which + `))`
}

// lookups are the questions for jobs that should be there and are not. Each
// walks an index of what is unfinished, a batch at a time, and says of every
// row whether its job is missing.
func lookups() []lookup {
	inTime := unworked + ` AND j.scheduled_at <= GREATEST(r.due, now()) + interval '15 minutes'
		AND (j.scheduled_at >= r.due OR j.state <> 'scheduled')`
	return []lookup{
		{"settle", `
			SELECT r.id, r.state, r.due, r.id, 0::bigint, ` + jobsAbout("settle", "rental", "r.id", inTime) + ` = 0 FROM (
				SELECT id, state, ` + due + ` AS due FROM rentals
				WHERE state <> 'closed' AND (state, id) > ($1, $2) ORDER BY state, id LIMIT $3) r ORDER BY r.state, r.id`},
		{"unblock", `
			SELECT a.id, '', a.until, a.id, 0::bigint, ` + jobsAbout("unblock", "area", "a.id", unworked) + ` = 0 FROM (
				SELECT id, until FROM blocked_areas
				WHERE closed_at IS NULL AND $1 = '' AND id > $2 ORDER BY id LIMIT $3) a ORDER BY a.id`},
		{"make_refund", `
			SELECT f.id, '', now(), p.rental_id, f.payment_id, ` + jobsAbout("make_refund", "refund", "f.id", unworked+` OR `+dead) + ` = 0 FROM (
				SELECT id, payment_id FROM refunds
				WHERE state = 'pending' AND stripe_id IS NULL AND $1 = '' AND id > $2 ORDER BY id LIMIT $3) f
			JOIN payments p ON p.id = f.payment_id ORDER BY f.id`},
		{"send_mail", `
			SELECT m.id, '', now(), COALESCE(m.rental_id, 0), 0::bigint, ` + jobsAbout("send_mail", "mail", "m.id", unworked+` OR `+dead) + ` = 0 FROM (
				SELECT id, rental_id FROM mails
				WHERE sent_at IS NULL AND dropped_at IS NULL AND $1 = '' AND id > $2 ORDER BY id LIMIT $3) m ORDER BY m.id`},
	}
}

// lookup is one of them. Its rows are in the order in which it reads on.
type lookup struct{ kind, sql string }

// jobless is a row of a lookup.
type jobless struct {
	ID      int64
	State   string // of a rental
	Due     time.Time
	Claim   int64
	Payment int64
	Missing bool
}

// missingJobs puts in what every state needs and has not. Reminders are left
// out: better none than one that is late.
func (p *pass) missingJobs(ctx context.Context) error {
	// Lookups by arguments would read whatever the index has not sorted in yet.
	if _, err := p.pool.Exec(ctx, `SELECT gin_clean_pending_list('river_job_args_index')`); err != nil {
		p.log.InfoContext(ctx, "index of jobs not tidied", "error", err) // only its owner may
	}
	for _, l := range lookups() {
		if err := p.lookup(ctx, l); err != nil {
			return err
		}
	}
	return p.unapplied(ctx)
}

func (p *pass) lookup(ctx context.Context, l lookup) error {
	last := jobless{}
	for {
		rows, err := list[jobless](ctx, p.pool, l.sql, last.State, last.ID, batch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		last = rows[len(rows)-1]
		for _, r := range rows {
			if !r.Missing {
				continue
			}
			if err := p.note(ctx, p.lostJob(l.kind, r)); err != nil {
				return err
			}
		}
	}
}

// lostJob is a job that should be there.
func (p *pass) lostJob(kind string, r jobless) found {
	f := found{kind: findJob, fact: fmt.Sprintf("job missing:%s:%d", kind, r.ID), claim: r.Claim, payment: payment.ID(r.Payment)}
	var job jobs.Request
	switch kind {
	case "settle":
		job = jobs.Request{Args: jobs.Settle{Rental: r.ID, Why: deadlineOf(rental.State(r.State))}, At: r.Due}
	case "unblock":
		job = jobs.Request{Args: jobs.Unblock{Area: r.ID}, At: r.Due}
	case "make_refund":
		job, f.refund = jobs.Request{Args: jobs.MakeRefund{Refund: r.ID}}, payment.RefundID(r.ID)
	case "send_mail":
		job = jobs.Request{Args: jobs.SendMail{Mail: r.ID}}
	}
	f.repair = func(ctx context.Context) (string, error) { return "put in", p.putIn(ctx, job) }
	return f
}

// deadlineOf names what happens next to a rental in a state.
func deadlineOf(s rental.State) string {
	switch s {
	case rental.Paid:
		return jobs.ApprovalCloses
	case rental.Live:
		return jobs.Ends
	case rental.Ended:
		return jobs.RenewalCloses
	case rental.Held, rental.Paying, rental.Closed:
	}
	return jobs.HoldLapses
}

func (p *pass) putIn(ctx context.Context, requests ...jobs.Request) error {
	return db.InTx(ctx, p.pool, "put jobs in", func(ctx context.Context, tx pgx.Tx) error {
		return p.queue.Put(ctx, tx, requests...)
	})
}

// sqlUnapplied walks the events that are stored and not applied. A day after
// its job was given up, an event is tried again.
func sqlUnapplied() string {
	return `
	SELECT e.id, e.received_at, ` + jobsAbout("apply_event", "event", "e.id", unworked+` OR `+dead+` AND j.finalized_at > now() - interval '1 day'`) + ` = 0
	FROM (SELECT id, received_at FROM stripe_events WHERE applied_at IS NULL AND (received_at, id) > ($1, $2)
	      ORDER BY received_at, id LIMIT $3) e ORDER BY e.received_at, e.id`
}

type unappliedEvent struct {
	ID      string
	At      time.Time
	Missing bool
}

func (p *pass) unapplied(ctx context.Context) error {
	last := unappliedEvent{At: time.Unix(0, 0)}
	for {
		es, err := list[unappliedEvent](ctx, p.pool, sqlUnapplied(), last.At, last.ID, batch)
		if err != nil {
			return err
		}
		if len(es) == 0 {
			return nil
		}
		last = es[len(es)-1]
		for _, e := range es {
			if !e.Missing {
				continue
			}
			f := found{kind: findUnapplied, fact: findUnapplied + ":" + e.ID}
			f.repair = func(ctx context.Context) (string, error) {
				return "its job was put in", p.putIn(ctx, jobs.Request{Args: jobs.ApplyEvent{Event: e.ID}})
			}
			if err := p.note(ctx, f); err != nil {
				return err
			}
		}
	}
}
