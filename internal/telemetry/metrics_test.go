package telemetry_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"tuval/internal/telemetry"
)

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("answered %d, %v", w.Code, err)
	}
	return string(b)
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("%s is missing", line)
		}
	}
}

func TestEveryPromisedMetricIsThere(t *testing.T) {
	m := telemetry.New(prometheus.NewRegistry())
	m.Claims.WithLabelValues("taken").Inc()
	m.ClaimSeconds.Observe(0.002)
	m.Webhooks.WithLabelValues(telemetry.KnownEvent("charge.refunded"), "applied").Inc()
	m.Webhooks.WithLabelValues(telemetry.KnownEvent("made.up"), "noted").Inc()
	m.Jobs.WithLabelValues("settle", "done").Inc()
	m.JobLateness.WithLabelValues("settle").Observe(1)
	m.LiveClients.Set(3)
	m.Request("GET /{$}", "GET", 200, 3*time.Millisecond)
	m.Request("", "BREW", 405, time.Millisecond)
	m.WatchMarket(func(context.Context) (telemetry.Market, error) {
		return telemetry.Market{
			HoldsLive: 2, Blocks: map[string]int{"free": 9976, "held": 24}, LedgerLag: 1500 * time.Millisecond,
			Anomalies: map[string]int{"late": 1}, Refunds: map[string]int{"pending": 4},
			Findings: map[string]int{"end missed": 2}, Reconciled: 90 * time.Second,
		}, nil
	})
	pool, err := pgxpool.New(t.Context(), "host=/nowhere") // connects only when asked to
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	m.WatchPool(pool)
	has(t, scrape(t, m), `tuval_claims_total{outcome="taken"} 1`, "tuval_claim_seconds_count 1", "tuval_holds_live 2",
		`tuval_blocks{state="free"} 9976`, `tuval_webhooks_total{outcome="applied",type="charge.refunded"} 1`,
		`tuval_webhooks_total{outcome="noted",type="other"} 1`, `tuval_jobs_total{kind="settle",outcome="done"} 1`,
		`tuval_job_lateness_seconds_count{kind="settle"} 1`, `tuval_anomalies{kind="late"} 1`, `tuval_refunds{state="pending"} 4`,
		`tuval_findings{kind="end missed"} 2`, "tuval_reconciled_seconds 90",
		"tuval_ledger_lag_seconds 1.5", "tuval_live_clients 3", "tuval_pool_connections_max", "go_goroutines", "process_start_time_seconds",
		`tuval_http_request_seconds_count{method="GET",route="GET /{$}",status="200"} 1`,
		`tuval_http_request_seconds_count{method="other",route="other",status="405"} 1`)
}

func TestADatabaseThatIsAwayHidesOnlyItsOwnMetrics(t *testing.T) {
	m := telemetry.New(prometheus.NewRegistry())
	m.LiveClients.Set(1)
	m.WatchMarket(func(ctx context.Context) (telemetry.Market, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the read may take for ever")
		}
		return telemetry.Market{}, errors.New("away")
	})
	text := scrape(t, m)
	has(t, text, "tuval_live_clients 1")
	if strings.Contains(text, "tuval_holds_live ") {
		t.Error("a made up number of holds is shown")
	}
}
