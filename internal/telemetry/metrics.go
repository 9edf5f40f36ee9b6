package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is what this process counts and measures.
type Metrics struct {
	Claims       *prometheus.CounterVec   // attempts to take blocks; labels: outcome
	ClaimSeconds prometheus.Histogram     // one claim, seconds
	Webhooks     *prometheus.CounterVec   // labels: type (KnownEvent), outcome
	Jobs         *prometheus.CounterVec   // runs of jobs; labels: kind, outcome
	JobLateness  *prometheus.HistogramVec // seconds from scheduled to begun; labels: kind
	LiveClients  prometheus.Gauge         // open live streams of this process

	requests *prometheus.HistogramVec
	registry *prometheus.Registry
}

// New registers the metrics of the process, and those of the Go runtime, with
// a registry of their own.
func New(registry *prometheus.Registry) *Metrics {
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	in := promauto.With(registry)
	return &Metrics{
		registry: registry,
		Claims: in.NewCounterVec(prometheus.CounterOpts{
			Name: "tuval_claims_total", Help: "Attempts to take blocks, by outcome.",
		}, []string{"outcome"}),
		ClaimSeconds: in.NewHistogram(prometheus.HistogramOpts{
			Name: "tuval_claim_seconds", Help: "Duration of a claim.", Buckets: quick(),
		}),
		Webhooks: in.NewCounterVec(prometheus.CounterOpts{
			Name: "tuval_webhooks_total", Help: "Webhook deliveries, by event type and outcome.",
		}, []string{"type", "outcome"}),
		Jobs: in.NewCounterVec(prometheus.CounterOpts{
			Name: "tuval_jobs_total", Help: "Runs of jobs, by kind and outcome.",
		}, []string{"kind", "outcome"}),
		JobLateness: in.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tuval_job_lateness_seconds", Help: "Time from when a job was due to when it began.",
			Buckets: []float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600},
		}, []string{"kind"}),
		LiveClients: in.NewGauge(prometheus.GaugeOpts{
			Name: "tuval_live_clients", Help: "Browsers and programs that follow the canvas here.",
		}),
		requests: in.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tuval_http_request_seconds", Help: "Duration of requests, by route, method and status.", Buckets: quick(),
		}, []string{"route", "method", "status"}),
	}
}

// quick are the buckets of things that should take milliseconds.
func quick() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// Request notes one answered request. The route is its pattern, never the
// path that was asked for; empty means that none matched.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(orOther(route, route != ""), knownMethod(method), strconv.Itoa(status)).Observe(took.Seconds())
}

// Handler answers with every metric in the format that was asked for. A
// source that fails leaves its metrics out and the others in.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, Registry: m.registry})
}

// WatchPool adds the metrics of a connection pool.
func (m *Metrics) WatchPool(pool *pgxpool.Pool) { m.registry.MustRegister(newPoolCollector(pool)) }

// WatchMarket adds the metrics that are read from the database when somebody
// asks for them.
func (m *Metrics) WatchMarket(read ReadMarket) { m.registry.MustRegister(newMarketCollector(read)) }

// knownMethod keeps a stranger from making up labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return orOther(method, false)
}

// KnownEvent is the type of a Stripe event as a label: one of those we act
// on, or "other". Types come from outside and grow.
func KnownEvent(eventType string) string {
	switch eventType {
	case "checkout.session.completed", "checkout.session.expired", "checkout.session.async_payment_succeeded",
		"checkout.session.async_payment_failed", "payment_intent.succeeded", "charge.refunded", "refund.created",
		"refund.updated", "refund.failed", "charge.refund.updated", "charge.dispute.created", "charge.dispute.closed":
		return eventType
	}
	return orOther(eventType, false)
}

func orOther(value string, known bool) string {
	if known {
		return value
	}
	return "other"
}
