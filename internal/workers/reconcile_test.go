package workers_test

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"tuval/internal/jobs"
	"tuval/internal/rental"
	"tuval/internal/telemetry"
	"tuval/internal/workers"
)

// byTheClock starts workers that reconcile by the clock.
func (h *house) byTheClock(every time.Duration, pool *pgxpool.Pool) {
	h.t.Helper()
	client, err := workers.New(workers.Deps{
		Pool: pool, Market: h.m, Mail: h.post, Metrics: telemetry.New(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
		Sweep: func(context.Context) error { return nil }, ReconcileEvery: every,
	})
	must(h.t, err)
	ended, unsubscribe := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobCancelled, river.EventKindJobFailed, river.EventKindJobSnoozed)
	must(h.t, client.Start(context.WithoutCancel(h.t.Context())))
	h.client, h.ended = client, ended
	h.t.Cleanup(func() {
		unsubscribe()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = client.StopAndCancel(ctx)
	})
}

// Passes come by the clock, at the start and again, and mend what was lost.
func TestPassesComeByThemselves(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held, _ := h.hold(10)
	h.exec(`DELETE FROM river_job`)
	h.byTheClock(2*time.Second, h.pool)
	for range 2 {
		if e := h.await("reconcile"); e.Kind != river.EventKindJobCompleted {
			t.Fatalf("a pass: %s, %v", e.Kind, e.Job.Errors)
		}
	}
	if n := h.count(`SELECT count(*) FROM river_job WHERE kind = 'settle' AND state = 'scheduled'`); n != 1 {
		t.Errorf("%d jobs for the hold", n)
	}
	if n := h.count(`SELECT count(*) FROM reconciliations WHERE by = 'clock' AND trouble = ''`); n < 2 {
		t.Errorf("%d passes", n)
	}
	if r, err := rental.ByID(t.Context(), h.pool, held.ID); err != nil || r.State != rental.Held {
		t.Errorf("%+v, %v", r, err)
	}
}

// A pass that meets another one leaves it at that: no failure, no anomaly.
func TestPassThatMeetsAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	conn, err := h.pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(0x7475_7661_6c72_6563))
	must(t, err)
	h.put(jobs.Reconcile{By: "admin"})
	h.start()
	if e := h.await("reconcile"); e.Kind != river.EventKindJobCompleted {
		t.Errorf("%s, %v", e.Kind, e.Job.Errors)
	}
	if n := h.count(`SELECT count(*) FROM reconciliations`); n != 0 {
		t.Errorf("%d passes", n)
	}
	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`)
	must(t, err)
}

// statements notes what goes over a pool's connections.
type statements struct {
	mu  sync.Mutex
	all map[string][]any
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.all[d.SQL]; !known {
		s.all[d.SQL] = d.Args
	}
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// What upkeep and the queue itself ask by the clock does not read all jobs.
func TestUpkeepIsNarrow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at, finalized_at)
		SELECT 'settle', jsonb_build_object('rental', n), 12, s::river_job_state, now() + interval '3 days', CASE WHEN s = 'discarded' THEN now() END
		FROM generate_series(1, 50000) AS n, LATERAL (SELECT CASE WHEN n % 25 = 0 THEN 'discarded' ELSE 'scheduled' END AS s) AS l`)
	h.exec(`INSERT INTO anomalies (key, fact, kind, message) SELECT 'k' || id, 'job:' || id, 'job dead', '' FROM river_job WHERE state = 'discarded'`)
	h.exec(`ANALYZE`)
	config, heard := h.pool.Config(), &statements{all: map[string][]any{}}
	config.ConnConfig.Tracer = heard
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	h.byTheClock(0, pool)
	if e := h.await("upkeep"); e.Kind != river.EventKindJobCompleted {
		t.Fatalf("%s, %v", e.Kind, e.Job.Errors)
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	looked := 0
	for sql, args := range heard.all {
		i := strings.Index(sql, "river_job")
		words := strings.Fields(regexp.MustCompile(`--[^\n]*\n`).ReplaceAllString(sql, ""))
		if i < 0 || !slices.Contains([]string{"SELECT", "WITH", "UPDATE"}, strings.ToUpper(words[0])) {
			continue
		}
		looked++
		if plan := h.plan(sql, args); strings.Contains(plan, "Seq Scan on river_job") {
			t.Errorf("%s\n%s", sql, plan)
		}
	}
	if looked < 2 {
		t.Errorf("only %d plans were looked at", looked)
	}
}

func (h *house) plan(sql string, args []any) string {
	h.t.Helper()
	rows, err := h.pool.Query(h.t.Context(), `EXPLAIN `+sql, args...)
	must(h.t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		h.t.Fatalf("%v: %s", err, sql)
	}
	return strings.Join(lines, "\n")
}
