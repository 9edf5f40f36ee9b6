package market_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/market"
)

// crowd fills the database as years do: 20,000 rentals, a tenth of them not
// over, with payments, 100,000 events in the ledger, 50,000 jobs of which
// half wait, mails and events of Stripe. All agrees.
func (w *world) crowd() {
	w.t.Helper()
	for _, sql := range []string{
		`INSERT INTO persons DEFAULT VALUES`,
		`CREATE TEMP TABLE c AS SELECT n, 1000000 + n AS id, n <= 2000 AS open,
			(ARRAY['held', 'paying', 'paid', 'live', 'ended'])[n % 5 + 1] AS state FROM generate_series(1, 20000) AS n`,
		`INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, closed_reason, price_per_week, currency, counted_from,
				leased_until, email, paid_at, approve_by, live_from, ends_at, reserved_until, closed_at)
			SELECT id, 'k' || n, 'p' || n, 1, 'a', (n - 1) % 100, (n - 1) % 2000 / 100, 1, 1,
				CASE WHEN open THEN state ELSE 'closed' END, CASE WHEN NOT open THEN 'not_renewed' END, 10000, 'usd', now(),
				CASE WHEN open THEN now() + interval '1 hour' + n * interval '1 minute' END, 'a@b.example',
				CASE WHEN NOT open OR state IN ('paid', 'live', 'ended') THEN now() - interval '8 days' END,
				now() + interval '1 hour' + n * interval '1 minute',
				CASE WHEN NOT open OR state IN ('live', 'ended') THEN now() - interval '7 days' END,
				CASE WHEN NOT open OR state IN ('live', 'ended') THEN now() + interval '30 minutes' + n * interval '1 minute' END,
				NULL, CASE WHEN NOT open THEN now() END FROM c`,
		`UPDATE blocks b SET claim_id = r.id, leased_until = r.leased_until FROM rentals r WHERE r.state <> 'closed' AND r.x = b.x AND r.y = b.y`,
		`INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email, expires_at, session_id, payment_intent, paid_at)
			SELECT 'k' || n, id, 'new', 1, 10000, 'usd', s, CASE WHEN s = 'paid' THEN 'applied' END, 'i' || n, '', now() + n * interval '1 minute', 's' || n, 'pi' || n,
				CASE WHEN s = 'paid' THEN now() END
			FROM c, LATERAL (SELECT CASE WHEN NOT open OR state IN ('paid', 'live', 'ended') THEN 'paid' WHEN state = 'paying' THEN 'open' ELSE 'expired' END AS s) AS l`,
		`INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key, stripe_id, created_at)
			SELECT 'k' || p.id, p.id, 10000, 'usd', CASE WHEN p.id % 1000 = 0 THEN 'pending' ELSE 'succeeded' END, 'closed', 'r' || p.id,
				CASE WHEN p.id % 3000 <> 0 THEN 're' || p.id END, now() - interval '2 hours'
			FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.state = 'closed' AND p.id % 4 = 0`,
		`INSERT INTO ledger (kind, effective_at, claim_id, payment_id, refund_id, blocks, amount, currency, actor)
			SELECT 'hold.placed', now(), id, NULL::bigint, NULL::bigint, 1, 0, 'usd', 'x' FROM c
			UNION ALL SELECT 'rental.closed', now(), id, NULL, NULL, -1, 0, 'usd', 'x' FROM c WHERE NOT open
			UNION ALL SELECT 'payment.booked', now(), rental_id, id, NULL, 0, amount, 'usd', 'x' FROM payments WHERE state = 'paid'
			UNION ALL SELECT 'refund.made', now(), NULL, payment_id, id, 0, -amount, 'usd', 'x' FROM refunds
			UNION ALL SELECT 'hold.kept', now(), id, NULL, NULL, 0, 0, 'usd', 'x' FROM c, generate_series(1, 2)`,
		`INSERT INTO stripe_events (id, type, livemode, payload, applied_at)
			SELECT 'evt' || n, 'charge.refunded', false, '{}', CASE WHEN n > 50 THEN now() END FROM c`,
		`INSERT INTO mails (fact, kind, rental_id, recipient, subject, text_body, html_body, sent_at)
			SELECT 'f' || n, 'paid', id, '', '', '', '', CASE WHEN n > 500 THEN now() END FROM c`,
		`INSERT INTO anomalies (key, fact, kind, message) SELECT 'k' || n, 'job:' || n, 'job dead', '' FROM c WHERE n <= 2000`,
		`INSERT INTO findings (fact, kind, pass, over_at) SELECT 'f' || n, 'end missed', 0, now() FROM c WHERE n <= 5000`,
		`INSERT INTO river_job (kind, args, max_attempts, queue, state, scheduled_at, finalized_at)
			SELECT 'settle', jsonb_build_object('rental', id, 'why', 'ends'), 12, 'default', 'scheduled'::river_job_state,
				GREATEST(now(), CASE state WHEN 'paid' THEN COALESCE(live_from, approve_by) WHEN 'live' THEN ends_at ELSE leased_until END), NULL::timestamptz
				FROM rentals WHERE state <> 'closed'
			UNION ALL SELECT 'end_checkout', jsonb_build_object('payment', id), 14, 'stripe', 'scheduled', expires_at, NULL FROM payments WHERE state = 'open'
			UNION ALL SELECT 'make_refund', jsonb_build_object('refund', id), 14, 'stripe', 'available', now(), NULL FROM refunds WHERE state = 'pending' AND stripe_id IS NULL
			UNION ALL SELECT 'send_mail', jsonb_build_object('mail', id), 16, 'mail', 'available', now(), NULL FROM mails WHERE sent_at IS NULL
			UNION ALL SELECT 'apply_event', jsonb_build_object('event', id), 16, 'default', 'available', now(), NULL FROM stripe_events WHERE applied_at IS NULL
			UNION ALL SELECT 'send_mail', jsonb_build_object('mail', -n), 16, 'mail', 'available', now(), NULL FROM generate_series(1, 22000) AS n
			UNION ALL SELECT 'settle', jsonb_build_object('rental', id), 12, 'default', 'completed', now(), now() FROM c
			UNION ALL SELECT 'apply_event', jsonb_build_object('event', 'evt' || n), 12, 'default', 'discarded', now(), now() FROM c WHERE n > 15000`,
		`ANALYZE`,
	} {
		if _, err := w.gate.Exec(w.ctx(), `SET statement_timeout = 0`); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.gate.Exec(w.ctx(), sql); err != nil {
			w.t.Fatalf("%v: %s", err, sql)
		}
	}
}

// heard notes every statement that goes over a connection.
type heard struct {
	mu  sync.Mutex
	all map[string][]any
}

func (h *heard) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.all[d.SQL]; !known {
		h.all[d.SQL] = d.Args
	}
	return ctx
}

func (*heard) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// listening makes a market whose statements are heard.
func (w *world) listening() (*market.Market, *heard) {
	w.t.Helper()
	h := &heard{all: map[string][]any{}}
	config := w.pool.Config()
	config.ConnConfig.Tracer = h
	pool, err := pgxpool.NewWithConfig(w.ctx(), config)
	w.must(err)
	w.t.Cleanup(pool.Close)
	queue, err := jobs.NewQueue(pool)
	w.must(err)
	stripe := gateway.New(gateway.Settings{SecretKey: stripeKey, URL: w.simURL, Timeout: 10 * time.Second}, false)
	return market.New(pool, queue, stripe, rules(), logger()), h
}

// What is asked by the clock reads no large table from end to end, whatever
// plan PostgreSQL prefers: neither for these arguments nor for any.
func TestWhatTheClockAsksIsNarrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{unchecked: true})
	w.crowd()
	m, asked := w.listening()
	r, err := m.Reconcile(w.ctx(), "clock")
	w.must(err)
	t.Logf("%v for a pass; found %+v", r.Took, r.Tallies)
	if r.Trouble != "" {
		t.Errorf("%+v", r)
	}
	for range 12 { // until the whole ledger was read
		if r, err = m.Reconcile(w.ctx(), "clock"); err != nil || r.Trouble != "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for _, tally := range r.Tallies {
		if strings.Contains(tally.Kind, "differ") || strings.Contains(tally.Kind, "missing") {
			t.Errorf("%+v", tally)
		}
	}
	t.Logf("%v for a pass without news", r.Took)
	w.must(m.Beat(w.ctx()))
	w.must(m.ForgetRequests(w.ctx()))
	w.must(m.SweepPictures(w.ctx()))
	w.must(m.WebhookRefused(w.ctx(), "the test"))
	w.exec(`UPDATE heartbeat SET beat_at = now() - interval '1 hour'`)
	_, err = m.Wake(w.ctx())
	w.must(err)
	large := regexp.MustCompile(`Seq Scan on (rentals|payments|refunds|ledger|river_job|stripe_events|mails)\b|river_job_kind`)
	looked := 0
	for sql, args := range asked.all {
		if !slices.Contains([]string{"SELECT", "UPDATE", "DELETE", "WITH"}, strings.ToUpper(strings.Fields(sql)[0])) {
			continue
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := w.planOf(mode, sql, args)
			if looked++; large.MatchString(plan) {
				t.Errorf("%s:\n%s\n%s", mode, sql, plan)
			}
		}
	}
	if looked < 40 {
		t.Errorf("only %d plans were looked at", looked)
	}
}

// planOf is how PostgreSQL would answer.
func (w *world) planOf(mode, sql string, args []any) string {
	w.t.Helper()
	tx, err := w.gate.Begin(w.ctx())
	w.must(err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(w.ctx())) }()
	_, err = tx.Exec(w.ctx(), `SET LOCAL plan_cache_mode = `+mode)
	w.must(err)
	rows, err := tx.Query(w.ctx(), `EXPLAIN `+sql, args...)
	w.must(err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatalf("%v: %s", err, fmt.Sprint(sql, args))
	}
	return strings.Join(lines, "\n")
}
