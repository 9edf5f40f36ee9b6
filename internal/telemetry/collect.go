package telemetry

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Market is the state of the whole canvas, the same in every process.
type Market struct {
	HoldsLive  int
	Blocks     map[string]int // by state: free, held, taken, reserved, blocked
	Anomalies  map[string]int // unresolved, by kind
	Findings   map[string]int // of reconciliation, not over, by kind
	Reconciled time.Duration  // age of the last pass that looked at everything; 0: none yet
	Refunds    map[string]int // by state
	LedgerLag  time.Duration  // age of the oldest event that readers cannot see yet
}

// ReadMarket reads the state of the canvas. It is called for each scrape, with
// a context that ends soon.
type ReadMarket func(ctx context.Context) (Market, error)

// scrapeLimit is less than a scraper's usual patience.
const scrapeLimit = 3 * time.Second

type marketCollector struct {
	read                                   ReadMarket
	holds, blocks, anomalies, refunds, lag *prometheus.Desc
	findings, reconciled                   *prometheus.Desc
}

func newMarketCollector(read ReadMarket) *marketCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &marketCollector{
		read:       read,
		holds:      desc("tuval_holds_live", "Unpaid holds whose lease runs."),
		blocks:     desc("tuval_blocks", "Blocks of the canvas, by state.", "state"),
		anomalies:  desc("tuval_anomalies", "Unresolved anomalies, by kind.", "kind"),
		findings:   desc("tuval_findings", "What the last reconciliation found and is not over, by kind.", "kind"),
		reconciled: desc("tuval_reconciled_seconds", "Age of the last reconciliation that could look at everything."),
		refunds:    desc("tuval_refunds", "Refunds, by state.", "state"),
		lag:        desc("tuval_ledger_lag_seconds", "Age of the oldest ledger event that readers cannot see yet."),
	}
}

func (c *marketCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.holds, c.blocks, c.anomalies, c.refunds, c.lag, c.findings, c.reconciled} {
		ch <- d
	}
}

func (c *marketCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), scrapeLimit)
	defer stop()
	m, err := c.read(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.holds, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(c.holds, float64(m.HoldsLive))
	gauge(c.lag, m.LedgerLag.Seconds())
	if m.Reconciled > 0 {
		gauge(c.reconciled, m.Reconciled.Seconds())
	}
	for d, by := range map[*prometheus.Desc]map[string]int{c.blocks: m.Blocks, c.anomalies: m.Anomalies, c.refunds: m.Refunds, c.findings: m.Findings} {
		for label, n := range by {
			gauge(d, float64(n), label)
		}
	}
}

// poolCollector reads a pool's own counters.
type poolCollector struct {
	pool    *pgxpool.Pool
	metrics []poolMetric
}

type poolMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*pgxpool.Stat) float64
}

func newPoolCollector(pool *pgxpool.Pool) *poolCollector {
	c := &poolCollector{pool: pool}
	add := func(name, help string, kind prometheus.ValueType, read func(*pgxpool.Stat) float64) {
		c.metrics = append(c.metrics, poolMetric{prometheus.NewDesc("tuval_pool_"+name, help, nil, nil), kind, read})
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	add("connections_max", "Most connections the pool may open.", gauge, func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) })
	add("connections_open", "Connections that are open.", gauge, func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) })
	add("connections_used", "Connections in use.", gauge, func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) })
	add("acquires_total", "Connections that were asked for and given.", counter, func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) })
	add("acquires_waited_total", "Those that had to wait for one.", counter, func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) })
	add("acquires_cancelled_total", "Those that gave up waiting.", counter, func(s *pgxpool.Stat) float64 { return float64(s.CanceledAcquireCount()) })
	add("acquire_wait_seconds_total", "Time spent waiting for a connection.", counter, func(s *pgxpool.Stat) float64 { return s.EmptyAcquireWaitTime().Seconds() })
	return c
}

func (c *poolCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		ch <- m.desc
	}
}

func (c *poolCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.pool.Stat()
	for _, m := range c.metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.read(s))
	}
}
