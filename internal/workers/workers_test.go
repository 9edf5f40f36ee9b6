package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"tuval/internal/age"
	"tuval/internal/check"
	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/grid"
	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
	"tuval/internal/telemetry"
	"tuval/internal/testdb"
	"tuval/internal/workers"
)

// house is a market with real workers.
type house struct {
	t      *testing.T
	pool   *pgxpool.Pool
	m      *market.Market
	queue  *jobs.Queue
	sim    *stripesim.Sim
	post   *post
	client *river.Client[pgx.Tx]
	ended  <-chan *river.Event
}

// post takes mails, or refuses them.
type post struct {
	mu     sync.Mutex
	sent   []int64
	refuse error
}

func (p *post) Send(_ context.Context, m mail.Mail) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m.ID)
	return p.refuse
}

func (*post) Keeps() bool { return false }

func (p *post) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

func newHouse(t *testing.T) *house {
	t.Helper()
	url := testdb.URL(t)
	pool, err := db.Open(t.Context(), db.Settings{URL: url, Name: "workers test", MaxConns: 20})
	must(t, err)
	t.Cleanup(pool.Close)
	must(t, stripesim.Migrate(t.Context(), pool))
	sim, err := stripesim.New(stripesim.Options{Pool: pool, SecretKey: "sk_test_1", Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	queue, err := jobs.NewQueue(pool)
	must(t, err)
	usd, _ := money.Lookup("usd")
	most := market.Limits{Holds: 1000, Blocks: 1 << 20, BlockMinutes: 1 << 30, HoldMinutes: 1 << 30}
	m := market.New(pool, queue, gateway.New(gateway.Settings{SecretKey: "sk_test_1", URL: server.URL}, false), market.Rules{
		Currency: usd, PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute, CheckoutTTL: 31 * time.Minute,
		CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour, RenewalWindow: 48 * time.Hour, MaxBlocks: 1000,
		Person: most, Address: most, MaxHeldShare: 1, Secret: []byte("secret"), BaseURL: "http://127.0.0.1:8080",
	}, slog.New(slog.DiscardHandler))
	return &house{t: t, pool: pool, m: m, queue: queue, sim: sim, post: &post{}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts the workers; stop stops them.
func (h *house) start() {
	h.t.Helper()
	client, err := workers.New(workers.Deps{
		Pool: h.pool, Market: h.m, Mail: h.post, Metrics: telemetry.New(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
		Sweep: func(context.Context) error { return nil }, Pace: workers.Pace{JobTimeout: 2 * time.Second, RescueAfter: 2 * time.Second},
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

// await waits until a job of the kind has ended a run, and how.
func (h *house) await(kind string) *river.Event {
	h.t.Helper()
	for {
		select {
		case e := <-h.ended:
			if e.Job.Kind == kind {
				return e
			}
		case <-time.After(40 * time.Second):
			h.t.Fatalf("no job %s ended", kind)
		}
	}
}

func (h *house) count(sql string) (n int) {
	h.t.Helper()
	must(h.t, h.pool.QueryRow(h.t.Context(), sql).Scan(&n))
	return n
}

// until waits until the database counts n.
func (h *house) until(sql string, n int) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), time.Minute)
	defer stop()
	for h.count(sql) != n {
		must(h.t, ctx.Err())
	}
}

func (h *house) exec(sql string) {
	h.t.Helper()
	_, err := h.pool.Exec(h.t.Context(), sql)
	must(h.t, err)
}

func (h *house) hold(x int) (market.Held, market.Who) {
	h.t.Helper()
	who := market.Who{Address: []byte{byte(x)}}
	held, err := h.m.Hold(h.t.Context(), who, grid.Rect{X: x, Y: 1, W: 4, H: 4}, market.Request{})
	must(h.t, err)
	who.Persons = []int64{held.Person}
	return held, who
}

func (h *house) put(args jobs.Args) {
	h.t.Helper()
	must(h.t, db.InTx(h.t.Context(), h.pool, "put", func(ctx context.Context, tx pgx.Tx) error {
		return h.queue.Put(ctx, tx, jobs.Request{Args: args})
	}))
}

// The end of a hold and the end of a checkout come by themselves, and late
// jobs find nothing to do.
func TestDeadlinesComeByThemselves(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held, _ := h.hold(1)
	paying, who := h.hold(10)
	_, err := h.m.Checkout(t.Context(), who, paying.Key, market.Purchase{Weeks: 1, Email: "buyer@example.com"})
	must(t, err)
	must(t, age.Move(t.Context(), h.pool, 33*time.Minute))
	h.start()
	h.until(`SELECT count(*) FROM rentals WHERE state <> 'closed'`, 0)
	h.until(`SELECT count(*) FROM river_job WHERE kind <> 'upkeep' AND finalized_at IS NULL AND scheduled_at <= now()`, 0)
	if n := h.count(`SELECT count(*) FROM blocks WHERE claim_id IS NOT NULL`); n != 0 {
		t.Errorf("%d blocks are not free", n)
	}
	if n := h.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open' AND expires_at > now()`); n != 0 {
		t.Errorf("%d pages can be paid", n)
	}
	before := h.count(`SELECT count(*) FROM ledger`)
	for _, id := range []rental.ID{held.ID, paying.ID} {
		h.put(jobs.Settle{Rental: int64(id), Why: jobs.HoldLapses})
	}
	h.until(`SELECT count(*) FROM river_job WHERE kind = 'settle' AND finalized_at IS NULL AND scheduled_at <= now()`, 0)
	if after := h.count(`SELECT count(*) FROM ledger`); after != before {
		t.Error("a late job did something")
	}
	if found, err := check.Run(t.Context(), h.pool); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// Paid, told by an event, confirmed by mail, refunded in the dashboard: the
// whole chain of jobs.
func TestChainOfJobs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	held, who := h.hold(1)
	_, err := h.m.Checkout(t.Context(), who, held.Key, market.Purchase{Weeks: 1, Email: "buyer@example.com"})
	must(t, err)
	var session, key string
	must(t, h.pool.QueryRow(t.Context(), `SELECT session_id, key FROM payments`).Scan(&session, &key))
	_, err = h.sim.Pay(t.Context(), session, stripesim.Payment{})
	must(t, err)
	payload := []byte(`{"id":"evt_1","type":"checkout.session.completed","livemode":false,"data":{"object":{"id":"` + session + `","object":"checkout.session",
		"status":"complete","payment_status":"paid","amount_total":160000,"currency":"usd","client_reference_id":"` + key + `","metadata":{"payment_id":"` + key + `"}}}}`)
	e, err := gateway.Parse(payload)
	must(t, err)
	must(t, h.m.Receive(t.Context(), e, payload))
	if end := h.await("apply_event"); end.Kind != river.EventKindJobCompleted {
		t.Fatalf("%+v", end)
	}
	h.await("send_mail")
	if n := h.count(`SELECT count(*) FROM rentals WHERE state = 'paid'`); n != 1 || h.post.count() != 1 {
		t.Errorf("%d rentals are paid, %d mails were sent", n, h.post.count())
	}
	if found, err := check.Run(t.Context(), h.pool); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// An error that cannot heal stops the job at once and is told; one that can is
// tried again.
func TestErrorsThatHealAndThatDoNot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`INSERT INTO mails (fact, kind, recipient, subject, text_body, html_body) VALUES ('a', 'k', 'a@b.example', '', '', '')`)
	h.post.refuse = errors.New("the server is busy")
	h.start()
	h.put(jobs.SendMail{Mail: 1})
	if end := h.await("send_mail"); end.Kind != river.EventKindJobFailed {
		t.Errorf("%+v", end)
	}
	h.post.mu.Lock()
	h.post.refuse = nil
	h.post.mu.Unlock()
	if end := h.await("send_mail"); end.Kind != river.EventKindJobCompleted || end.Job.Attempt != 2 {
		t.Errorf("%+v", end)
	}
	if n := h.count(`SELECT count(*) FROM anomalies`); n != 0 {
		t.Errorf("%d anomalies of what healed", n)
	}
	// Stripe refuses for good: no such payment intent.
	_, err := h.sim.AddFault(t.Context(), stripesim.Fault{Kind: stripesim.FaultUnavailable, Status: 404, Endpoint: "GET /v1/refunds"})
	must(t, err)
	held, _ := h.hold(1)
	h.exec(`INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email, expires_at, payment_intent, paid_at)
		SELECT 'p', id, 'new', 1, 1, 'usd', 'paid', 'returned', 'k', '', now(), 'pi_1', now() FROM rentals WHERE key = '` + held.Key + `'`)
	h.put(jobs.SyncRefunds{PaymentIntent: "pi_1"})
	if end := h.await("sync_refunds"); end.Kind != river.EventKindJobCancelled || end.Job.Attempt != 1 {
		t.Errorf("%+v", end)
	}
	if n := h.count(`SELECT count(*) FROM anomalies WHERE kind = 'job dead'`); n != 1 {
		t.Errorf("%d anomalies", n)
	}
	h.exec(`INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key) SELECT 'r', id, 1, 'usd', 'failed', '', 'kr' FROM payments;
		INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key) SELECT 'r2', id, 1, 'usd', 'succeeded', '', 'kr2' FROM payments`)
}

// A worker that died is taken over, and a job that died with its last worker
// is told.
func TestDeadWorkersJobs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held, _ := h.hold(1)
	must(t, age.Move(t.Context(), h.pool, 11*time.Minute))
	h.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 hour', attempted_by = ARRAY['dead']`)
	h.exec(`INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at, attempt, attempted_at, attempted_by, errors, queue)
		VALUES ('unblock', '{"area": 1}', 1, 'running', now(), 1, now() - interval '1 hour', ARRAY['dead'], '{}', 'default')`)
	h.start()
	h.until(`SELECT count(*) FROM rentals WHERE state = 'closed'`, 1)
	if n := h.count(`SELECT count(*) FROM ledger WHERE kind = 'rental.closed'`); n != 1 {
		t.Errorf("%s closed %d times", held.Key, n)
	}
	h.until(`SELECT count(*) FROM river_job WHERE state = 'discarded'`, 1)
	for range 2 {
		h.put(jobs.Upkeep{})
		h.until(`SELECT count(*) FROM river_job WHERE kind = 'upkeep' AND finalized_at IS NULL`, 0)
	}
	if n := h.count(`SELECT count(*) FROM anomalies`); n != 1 {
		t.Errorf("%d anomalies", n)
	}
}

// Each fact is mailed once, however many jobs there are for it and however
// many workers.
func TestMailIsSentOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`INSERT INTO mails (fact, kind, recipient, subject, text_body, html_body)
		SELECT 'f' || n, 'k', 'a@b.example', '', '', '' FROM generate_series(1, 5) AS n`)
	for range 4 {
		for id := range 5 {
			h.put(jobs.SendMail{Mail: int64(id + 1)})
		}
	}
	h.start()
	h.start()
	h.until(`SELECT count(*) FROM mails WHERE sent_at IS NULL`, 0)
	h.until(`SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND state IN ('available', 'running')`, 0)
	if n := h.post.count(); n != 5 {
		t.Errorf("%d mails went out", n)
	}
}

// A job before its time waits, and that is no failure.
func TestEarlyJobWaits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	held, who := h.hold(1)
	_, err := h.m.Checkout(t.Context(), who, held.Key, market.Purchase{Weeks: 1, Email: "buyer@example.com"})
	must(t, err)
	h.put(jobs.EndCheckout{Payment: 1})
	end := h.await("end_checkout")
	if end.Kind != river.EventKindJobSnoozed || end.Job.ScheduledAt.Before(time.Now().Add(30*time.Minute)) {
		t.Errorf("%s, again at %v", end.Kind, end.Job.ScheduledAt)
	}
}
