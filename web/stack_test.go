package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"tuval/internal/account"
	"tuval/internal/age"
	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/limits"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/picture"
	"tuval/internal/stripesim"
	"tuval/internal/telemetry"
	"tuval/internal/testdb"
	"tuval/static"
	"tuval/web"
)

const (
	stripeKey     = "sk_test_web"
	webhookSecret = "whsec_web"
	adminEmail    = "admin@example.com"
	adminPassword = "correct horse battery"
)

// assets are the same for every site of the tests; compressing them takes
// longer than most tests do.
var assets = sync.OnceValues(static.New)

// stack is the whole site over a database of its own, with the payment
// simulator beside it. Jobs are worked off by hand, by the tests.
type stack struct {
	t      *testing.T
	pool   *pgxpool.Pool
	market *market.Market
	sim    *stripesim.Sim
	simURL string
	deps   web.Deps
	server *httptest.Server
}

func rules(base string) market.Rules {
	usd, _ := money.Lookup("usd")
	return market.Rules{
		Currency: usd, PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute, CheckoutTTL: 31 * time.Minute,
		CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour, RenewalWindow: 48 * time.Hour, MaxBlocks: 1000,
		Person:  market.Limits{Holds: 3, Blocks: 1000, BlockMinutes: 180_000, HoldMinutes: 300},
		Address: market.Limits{Holds: 100, Blocks: 5000, BlockMinutes: 1_000_000}, MaxHeldShare: 1, BaseURL: base, Secret: []byte("a secret of the tests"),
	}
}

// newStack starts a site. change may alter what it stands on.
func newStack(t *testing.T, change ...func(*web.Deps)) *stack {
	t.Helper()
	t.Parallel()
	s := &stack{t: t, pool: testdb.New(t)}
	s.server = httptest.NewUnstartedServer(nil)
	base := "http://" + s.server.Listener.Addr().String()
	queue := must(jobs.NewQueue(s.pool))
	s.startSim(base)
	s.market = market.New(s.pool, queue, s.stripe(), rules(base), slog.New(slog.DiscardHandler))
	s.deps = web.Deps{
		Pool: s.pool, Market: s.market, Board: s.board(), Queue: queue, Limits: limits.New(false),
		Admins: account.NewAdmins(s.pool, account.Cost{MemoryKiB: 8, Passes: 1, Lanes: 1}, false),
		Studio: picture.NewStudio(picture.DefaultLimits()), Assets: must(assets()), Log: logger(),
		Metrics: telemetry.New(prometheus.NewRegistry()), Ready: func(context.Context) error { return nil },
		Settings: web.Settings{
			BaseURL: base, Development: true, Mailbox: true, MetricsHere: true, Secret: []byte("secret"),
			WebhookSecrets: []string{"whsec_old", webhookSecret}, CheckoutOrigins: []string{s.simURL},
		},
	}
	for _, c := range change {
		c(&s.deps)
	}
	s.server.Config.Handler = must(web.New(s.deps))
	s.server.Start()
	t.Cleanup(s.server.Close)
	return s
}

// logger is silent unless somebody wants to see what happens.
func logger() *slog.Logger {
	if os.Getenv("TUVAL_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(io.Discard, nil))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// startSim runs the payment simulator until the test ends.
func (s *stack) startSim(base string) {
	s.t.Helper()
	if err := stripesim.Migrate(s.ctx(), s.pool); err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	s.sim = must(stripesim.New(stripesim.Options{
		Pool: s.pool, SecretKey: stripeKey, WebhookURL: base + "/webhooks/stripe", WebhookSecrets: []string{webhookSecret},
		BaseURL: "http://" + server.Listener.Addr().String(), Logger: slog.New(slog.DiscardHandler), Poll: 20 * time.Millisecond,
	}))
	server.Config.Handler = s.sim.Handler()
	server.Start()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.sim.Run(ctx)
	}()
	s.t.Cleanup(func() {
		stop()
		<-done
		server.Close()
	})
	s.simURL = server.URL
}

func (s *stack) stripe() market.Stripe {
	return gateway.New(gateway.Settings{SecretKey: stripeKey, URL: s.simURL, Timeout: 5 * time.Second}, false)
}

func (s *stack) ctx() context.Context { return s.t.Context() }

// applyEvents waits for the webhooks that are due and applies what they
// brought, as a worker would.
func (s *stack) applyEvents() {
	s.t.Helper()
	if err := s.sim.Idle(s.ctx()); err != nil {
		s.t.Fatal(err)
	}
	rows := must(s.pool.Query(s.ctx(), `SELECT id FROM stripe_events WHERE applied_at IS NULL ORDER BY received_at`))
	for _, id := range must(pgx.CollectRows(rows, pgx.RowTo[string])) {
		if _, _, err := s.market.ApplyEvent(s.ctx(), id); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stack) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.ctx(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// age lets time pass.
func (s *stack) age(by time.Duration) {
	s.t.Helper()
	if err := age.Move(s.ctx(), s.pool, by); err != nil {
		s.t.Fatal(err)
	}
}

// count asks the database for a number.
func (s *stack) count(sql string, args ...any) int {
	s.t.Helper()
	var n int
	if err := s.pool.QueryRow(s.ctx(), sql, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *stack) addAdmin() {
	s.t.Helper()
	if _, err := s.deps.Admins.AddAdmin(s.ctx(), adminEmail, adminPassword); err != nil {
		s.t.Fatal(err)
	}
}

// admin is a browser that is signed in as an admin.
func (s *stack) admin() *browser {
	s.t.Helper()
	s.addAdmin()
	b := s.browser()
	b.post("/admin/login", "email", adminEmail, "password", adminPassword).wants(http.StatusSeeOther)
	return b
}
