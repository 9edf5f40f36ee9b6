package api_test

import (
	"context"
	"io"
	"log/slog"
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
	"tuval/internal/board"
	"tuval/internal/capacity"
	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/limits"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/picture"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
	"tuval/internal/telemetry"
	"tuval/internal/testdb"
	"tuval/static"
	"tuval/web"
	"tuval/web/api"
)

const (
	stripeKey     = "sk_test_api"
	webhookSecret = "whsec_api"
	adminEmail    = "admin@example.com"
	adminPassword = "correct horse battery"
)

// stack is the API inside the whole site, over a database of its own, with
// the payment simulator beside it. Jobs are worked off by hand, by the tests.
type stack struct {
	t      *testing.T
	pool   *pgxpool.Pool
	market *market.Market
	admins *account.Admins
	sim    *stripesim.Sim
	simURL string
	server *httptest.Server
	spec   contract
}

// setup is what a test may change.
type setup struct {
	rules  market.Rules
	limits *limits.Set
}

func rules(base string) market.Rules {
	usd, _ := money.Lookup("usd")
	return market.Rules{
		Currency: usd, PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute, CheckoutTTL: 31 * time.Minute,
		CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour, RenewalWindow: 48 * time.Hour, MaxBlocks: 1000,
		Person:  market.Limits{Holds: 3, Blocks: 1000, BlockMinutes: 180_000, HoldMinutes: 300},
		Address: market.Limits{Holds: 100, Blocks: 10_000, BlockMinutes: 10_000_000}, MaxHeldShare: 1, BaseURL: base,
		Secret: []byte("a secret of the tests"),
	}
}

func newStack(t *testing.T, change ...func(*setup)) *stack {
	t.Helper()
	t.Parallel()
	s := &stack{t: t, spec: loadContract(t)}
	s.openPool()
	s.server = httptest.NewUnstartedServer(nil)
	base := "http://" + s.server.Listener.Addr().String()
	u := &setup{rules: rules(base), limits: limits.New(false)}
	for _, c := range change {
		c(u)
	}
	s.startSim(base)
	queue := must(jobs.NewQueue(s.pool))
	stripe := gateway.New(gateway.Settings{SecretKey: stripeKey, URL: s.simURL, Timeout: 5 * time.Second}, false)
	s.market = market.New(s.pool, queue, stripe, u.rules, logger())
	s.admins = account.NewAdmins(s.pool, account.Cost{MemoryKiB: 8, Passes: 1, Lanes: 1}, false)
	studio := picture.NewStudio(picture.DefaultLimits())
	pages := capacity.NewMemory(s.pool, u.rules.Launch, capacity.Options{Clock: time.Now, Idle: time.Hour}) // looks at every question
	s.market.Measure(pages)
	canvas := board.New(s.pool, rental.Terms{RenewalWindow: u.rules.RenewalWindow})
	s.server.Config.Handler = must(web.New(web.Deps{
		Pool: s.pool, Market: s.market, Board: canvas, Queue: queue, Admins: s.admins, Limits: u.limits, Studio: studio,
		Assets: assets(), Metrics: telemetry.New(prometheus.NewRegistry()), Log: logger(),
		Ready: func(context.Context) error { return nil },
		API: api.New(api.Deps{
			Pool: s.pool, Market: s.market, Board: canvas, Admins: s.admins, Limits: u.limits, Studio: studio, Log: logger(),
			Capacity: pages,
		}),
		Settings: web.Settings{
			BaseURL: base, Development: true, Secret: []byte("secret"), WebhookSecrets: []string{webhookSecret}, CheckoutOrigins: []string{s.simURL},
		},
	}))
	s.server.Start()
	t.Cleanup(s.server.Close)
	return s
}

// assets are compressed when they are made, which is most of the work of a
// stack; all tests share them.
var assets = sync.OnceValue(func() *static.Assets { return must(static.New()) })

// openPool opens connections as production does.
func (s *stack) openPool() {
	s.t.Helper()
	s.pool = must(db.Open(context.Background(), db.Settings{URL: testdb.URL(s.t), Name: "api test", MaxConns: 16}))
	s.t.Cleanup(s.pool.Close)
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

// adminToken is a token of an admin that the test made.
func (s *stack) adminToken() string {
	s.t.Helper()
	if _, err := s.admins.EnsureAdmin(s.ctx(), adminEmail, adminPassword); err != nil {
		s.t.Fatal(err)
	}
	return must(s.admins.Token(s.ctx(), adminEmail))
}
