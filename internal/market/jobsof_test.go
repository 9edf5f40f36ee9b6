package market_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/market"
	"tuval/internal/rental"
)

// crowd fills the queue as many rentals do: each with its deadlines, a
// checkout, a refund now and then, and mails, most of it long done.
const crowd = `
	INSERT INTO river_job (kind, args, state, priority, queue, attempt, max_attempts, scheduled_at, finalized_at, attempted_at, created_at)
	SELECT kind, args, CASE WHEN done THEN 'completed' ELSE 'scheduled' END::river_job_state, 1, 'default', 0, 12, now() + make_interval(hours => n),
	       CASE WHEN done THEN now() END, CASE WHEN done THEN now() END, now()
	FROM (SELECT 1000000 + g / 8 AS n, g % 3 > 0 AS done, CASE g % 8 WHEN 5 THEN 'end_checkout' WHEN 6 THEN 'make_refund' WHEN 7 THEN 'send_mail' ELSE 'settle' END AS kind,
	        CASE g % 8 WHEN 5 THEN jsonb_build_object('payment', 1000000 + g / 8) WHEN 6 THEN jsonb_build_object('refund', 1000000 + g / 8) WHEN 7 THEN jsonb_build_object('mail', 1000000 + g / 8)
	            ELSE jsonb_build_object('rental', 1000000 + g / 8, 'why', (ARRAY['hold lapses', 'approval window closes', 'goes live', 'ends', 'renewal window closes'])[1 + g % 8]) END AS args
	      FROM generate_series(1, 20000) AS g) jobs`

func (w *world) jobsOf(key string) []market.JobFact {
	w.t.Helper()
	js, err := w.m.JobsOf(w.ctx(), rental.ID(w.count(`SELECT id FROM rentals WHERE key = $1`, key)))
	w.must(err)
	return js
}

func find(js []market.JobFact, kind, why string) *market.JobFact {
	i := slices.IndexFunc(js, func(j market.JobFact) bool { return j.Kind == kind && j.Why == why })
	if i < 0 {
		return nil
	}
	return &js[i]
}

// All that is about a rental is listed: deadlines, checkout, refund and mails,
// with the last error of what failed; nothing of another rental.
func TestJobsOfARental(t *testing.T) {
	w := newWorld(t, options{unchecked: true})
	ids := w.aRental()
	w.exec(crowd)
	w.exec(`INSERT INTO river_job (kind, args, state, priority, queue, attempt, max_attempts, errors) VALUES
		('settle', jsonb_build_object('rental', $1::bigint, 'why', 'hold lapses'), 'available', 1, 'default', 0, 12, NULL),
		('settle', jsonb_build_object('rental', $1::bigint, 'why', 'hold lapses'), 'retryable', 1, 'default', 2, 12, ARRAY['{"error":"first"}', '{"error":"second"}']::jsonb[]),
		('settle', jsonb_build_object('rental', $1::bigint + 1, 'why', 'ends'), 'available', 1, 'default', 0, 12, NULL),
		('settle', jsonb_build_object('rental', $1::bigint, 'why', 'ends'), 'available', 1, 'default', 0, 12, NULL),
		('end_checkout', jsonb_build_object('payment', $2::bigint), 'available', 1, 'stripe', 0, 14, NULL),
		('sync_refunds', jsonb_build_object('payment_intent', 'pi_mine'), 'available', 1, 'stripe', 0, 14, NULL),
		('unblock', jsonb_build_object('area', $1::bigint), 'available', 1, 'default', 0, 12, NULL)`, ids.rental, ids.payment)
	w.exec(`INSERT INTO river_job (kind, args, state, priority, queue, attempt, max_attempts, errors, finalized_at) VALUES
		('make_refund', jsonb_build_object('refund', $1::bigint), 'discarded', 1, 'stripe', 14, 14, ARRAY['{"error":"no answer"}']::jsonb[], now()),
		('send_mail', jsonb_build_object('mail', $2::bigint), 'available', 1, 'mail', 3, 16, ARRAY['{"error":"451"}']::jsonb[], NULL)`, ids.refund, ids.waiting)
	js := w.jobsOf(ids.key)
	if len(js) != 8 {
		t.Errorf("%d facts, want 8: %+v", len(js), js)
	}
	if j := find(js, "settle", "hold lapses"); j == nil || j.State != "retryable" || j.LastError != "second" || j.Attempt != 2 {
		t.Errorf("the newest of two: %+v", j)
	}
	if j := find(js, "end_checkout", ""); j == nil || int(j.Payment) != ids.payment {
		t.Errorf("checkout: %+v", j)
	}
	if j := find(js, "sync_refunds", ""); j == nil || int(j.Payment) != ids.payment {
		t.Errorf("refunds of the intent: %+v", j)
	}
	if j := find(js, "make_refund", ""); j == nil || int(j.Refund) != ids.refund || j.State != "discarded" || j.LastError != "no answer" {
		t.Errorf("refund: %+v", j)
	}
	if j := find(js, "send_mail", "paid"); j == nil || j.State != "completed" || j.DoneAt == nil {
		t.Errorf("a mail that was sent, its job forgotten: %+v", j)
	}
	if j := find(js, "send_mail", "rejected"); j == nil || j.State != "available" || j.Attempt != 3 || j.LastError != "451" {
		t.Errorf("a mail that waits: %+v", j)
	}
	if j := find(js, "send_mail", "approved"); j == nil || j.State != "cancelled" || j.LastError == "" {
		t.Errorf("a mail that was refused: %+v", j)
	}
}

// aRental is a rental with a payment, a refund and three mails.
type ofRental struct {
	key                              string
	rental, payment, refund, waiting int
}

func (w *world) aRental() ofRental {
	w.t.Helper()
	w.exec(`INSERT INTO persons DEFAULT VALUES`)
	w.exec(`INSERT INTO rentals (key, public_id, person_id, address, x, y, w, h, state, closed_reason, closed_at, price_per_week, currency, counted_from)
		SELECT 'r', 'r', id, '', 0, 0, 1, 1, 'closed', 'unapproved', now(), 1, 'usd', now() FROM persons LIMIT 1`)
	w.exec(`INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email, expires_at, paid_at, payment_intent)
		SELECT 'p', id, 'new', 1, 100, 'usd', 'paid', 'applied', 'p', 'a@example.com', now(), now(), 'pi_mine' FROM rentals`)
	w.exec(`INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key) SELECT 'f', id, 100, 'usd', 'pending', 'unapproved', 'f' FROM payments`)
	w.exec(`INSERT INTO mails (fact, kind, rental_id, recipient, subject, text_body, html_body, sent_at, dropped_at, dropped_why)
		SELECT k, k, id, 'a@example.com', '', '', '', CASE k WHEN 'paid' THEN now() END, CASE k WHEN 'approved' THEN now() END, CASE k WHEN 'approved' THEN 'refused' ELSE '' END
		FROM rentals, unnest(ARRAY['paid', 'approved', 'rejected']) AS k`)
	return ofRental{
		key: "r", rental: w.count(`SELECT id FROM rentals`), payment: w.count(`SELECT id FROM payments`), refund: w.count(`SELECT id FROM refunds`),
		waiting: w.count(`SELECT id FROM mails WHERE kind = 'rejected'`),
	}
}

// With many jobs and mails of others, neither is read through: what is read is
// counted by the database itself.
func TestJobsOfARentalReadsByIndex(t *testing.T) {
	w := newWorld(t, options{unchecked: true})
	ids := w.aRental()
	w.exec(crowd)
	w.exec(`INSERT INTO rentals (key, public_id, person_id, address, x, y, w, h, state, closed_reason, closed_at, price_per_week, currency, counted_from)
		SELECT 'o' || g, 'o' || g, person_id, '', 0, 0, 1, 1, 'closed', 'expired', now(), 1, 'usd', now() FROM rentals, generate_series(1, 3000) AS g`)
	w.exec(`INSERT INTO mails (fact, kind, rental_id, recipient, subject, text_body, html_body, sent_at)
		SELECT 'm' || id || ':' || g, 'paid', id, 'o@example.com', '', '', '', now() FROM rentals, generate_series(1, 5) AS g WHERE key <> 'r'`)
	w.exec(`ANALYZE river_job, mails, rentals`)
	for name, q := range market.JobQueries(rental.ID(ids.rental), []string{
		fmt.Sprintf(`{"rental": %d}`, ids.rental), fmt.Sprintf(`{"payment": %d}`, ids.payment), `{"payment_intent": "pi_mine"}`, fmt.Sprintf(`{"refund": %d}`, ids.refund),
	}) {
		plan := w.plan(q.SQL, q.Args)
		if strings.Contains(plan, "Seq Scan on river_job") || strings.Contains(plan, "Seq Scan on mails") {
			t.Errorf("%s reads a table through:\n%s", name, plan)
		}
		if !strings.Contains(plan, "river_job_args_index") {
			t.Errorf("%s does not use the index on args:\n%s", name, plan)
		}
	}
	before := time.Now()
	w.jobsOf(ids.key)
	if took := time.Since(before); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func (w *world) plan(sql string, args pgx.NamedArgs) string {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx(), `EXPLAIN (ANALYZE, TIMING OFF) `+sql, args)
	w.must(err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	return strings.Join(lines, "\n")
}
