package market

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// JobFact is how one job about a rental fares, or one mail to its buyer. Of
// mails Why is the kind of mail, and they are known for ever; finished jobs are
// forgotten by the queue after a while.
type JobFact struct {
	Kind, Why            string
	State                string    // as the queue says; of a mail "completed" when it was sent, "cancelled" when it never will be
	At                   time.Time // when it is to be worked, or tried again
	DoneAt               *time.Time
	Attempt, MaxAttempts int
	LastError            string
	Payment              payment.ID       // 0: not about one
	Refund               payment.RefundID // 0: not about one
}

// The most jobs and mails that are read of a rental, the newest ones.
const (
	maxJobFacts  = 200
	maxMailFacts = 100
)

// JobsOf lists the jobs about a rental, of each step the newest, and its
// mails, the oldest first. It reads the queue by the index on what jobs carry.
func (m *Market) JobsOf(ctx context.Context, id rental.ID) ([]JobFact, error) {
	wanted, err := m.carried(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := jobFacts(ctx, m.pool, wanted)
	if err != nil {
		return nil, err
	}
	mails, err := mailFacts(ctx, m.pool, id)
	return append(found, mails...), err
}

// carried is what jobs about the rental carry: its id, those of its payments
// and refunds.
func (m *Market) carried(ctx context.Context, id rental.ID) ([]string, error) {
	wanted := []string{carries("rental", int64(id))}
	ps, err := payment.OfRental(ctx, m.pool, id)
	if err != nil {
		return nil, err
	}
	ids := make([]payment.ID, len(ps))
	for i, p := range ps {
		ids[i] = p.ID
		wanted = append(wanted, carries("payment", int64(p.ID)))
		if p.PaymentIntent != nil {
			wanted = append(wanted, carries("payment_intent", *p.PaymentIntent))
		}
	}
	rs, err := payment.RefundsOf(ctx, m.pool, ids...)
	for _, r := range rs {
		wanted = append(wanted, carries("refund", int64(r.ID)))
	}
	return wanted, err
}

func carries(name string, id any) string {
	text, _ := json.Marshal(map[string]any{name: id}) // numbers and strings always can be
	return string(text)
}

// sqlJobFacts asks for each thing by the index on args: one look each, never
// the whole queue. The looks stand apart from the order that follows, so that
// the planner is not led to walk through all jobs for it.
const sqlJobFacts = `
	WITH found AS MATERIALIZED (
		SELECT j.id, j.kind, j.args, j.state, j.scheduled_at, j.finalized_at, j.attempt, j.max_attempts, j.errors[array_upper(j.errors, 1)] AS failure
		FROM unnest(@wanted::jsonb[]) AS w (args) JOIN river_job j ON j.args @> w.args
	)
	SELECT DISTINCT ON (f.kind, f.args) f.kind, COALESCE(f.args->>'why', ''), f.state::text, f.scheduled_at, f.finalized_at,
	       f.attempt, f.max_attempts, COALESCE(f.failure->>'error', ''),
	       COALESCE((f.args->>'payment')::bigint, p.id, 0), COALESCE((f.args->>'refund')::bigint, 0)
	FROM found f LEFT JOIN payments p ON p.payment_intent = f.args->>'payment_intent'
	WHERE f.kind = ANY(@kinds)
	ORDER BY f.kind, f.args, f.id DESC
	LIMIT @most`

func jobFacts(ctx context.Context, q db.Querier, wanted []string) ([]JobFact, error) {
	rows, err := q.Query(ctx, sqlJobFacts, jobFactArgs(wanted))
	if err != nil {
		return nil, db.Explain("market: read a rental's jobs", err)
	}
	facts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (JobFact, error) {
		var j JobFact
		return j, row.Scan(&j.Kind, &j.Why, &j.State, &j.At, &j.DoneAt, &j.Attempt, &j.MaxAttempts, &j.LastError, &j.Payment, &j.Refund)
	})
	return facts, db.Explain("market: read a rental's jobs", err)
}

func jobFactArgs(wanted []string) pgx.NamedArgs {
	return pgx.NamedArgs{"wanted": wanted, "kinds": kindsOfRentals(), "most": maxJobFacts}
}

// kindsOfRentals are the kinds of jobs that are about one rental.
func kindsOfRentals() []string {
	return []string{
		jobs.Settle{}.Kind(), jobs.Remind{}.Kind(), jobs.EndCheckout{}.Kind(), jobs.ExpireSession{}.Kind(),
		jobs.MakeRefund{}.Kind(), jobs.SyncRefunds{}.Kind(),
	}
}

// sqlMailFacts reads the outbox, with the job of each mail that still waits.
const sqlMailFacts = `
	WITH letters AS MATERIALIZED (
		SELECT id, kind, created_at, sent_at, dropped_at, dropped_why FROM mails WHERE rental_id = @rental ORDER BY id DESC LIMIT @most
	), found AS MATERIALIZED (
		SELECT l.id AS letter, j.id, j.kind, j.state, j.scheduled_at, j.attempt, j.max_attempts, j.errors[array_upper(j.errors, 1)] AS failure
		FROM letters l JOIN river_job j ON j.args @> jsonb_build_object('mail', l.id)
		WHERE l.sent_at IS NULL
	)
	SELECT l.kind, l.created_at, l.sent_at, l.dropped_at, l.dropped_why, j.state::text, j.scheduled_at, COALESCE(j.attempt, 0),
	       COALESCE(j.max_attempts, 0), COALESCE(j.failure->>'error', '')
	FROM letters l LEFT JOIN (SELECT DISTINCT ON (letter) * FROM found WHERE kind = @kind ORDER BY letter, id DESC) j ON j.letter = l.id
	ORDER BY l.id`

func mailFacts(ctx context.Context, q db.Querier, id rental.ID) ([]JobFact, error) {
	rows, err := q.Query(ctx, sqlMailFacts, mailFactArgs(id))
	if err != nil {
		return nil, db.Explain("market: read a rental's mails", err)
	}
	facts, err := pgx.CollectRows(rows, scanMailFact)
	return facts, db.Explain("market: read a rental's mails", err)
}

func mailFactArgs(id rental.ID) pgx.NamedArgs {
	return pgx.NamedArgs{"rental": int64(id), "kind": jobs.SendMail{}.Kind(), "most": maxMailFacts}
}

func scanMailFact(row pgx.CollectableRow) (JobFact, error) {
	j := JobFact{Kind: jobs.SendMail{}.Kind()}
	var dropped, due *time.Time
	var state *string
	var why string
	err := row.Scan(&j.Why, &j.At, &j.DoneAt, &dropped, &why, &state, &due, &j.Attempt, &j.MaxAttempts, &j.LastError)
	switch {
	case err != nil:
		return j, fmt.Errorf("scan a mail: %w", err)
	case j.DoneAt != nil:
		j.State, j.LastError = "completed", ""
	case dropped != nil:
		j.State, j.DoneAt = "cancelled", dropped
		if why == "refused" && j.LastError == "" {
			j.LastError = "refused by the mail server"
		}
	case state == nil:
		j.State = "available" // its job is being put in, or was lost: the reconciliation says so
	default:
		j.State, j.At = *state, *due
	}
	return j, nil
}
