package market_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/age"
	"tuval/internal/check"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/gateway"
	"tuval/internal/grid"
	"tuval/internal/jobs"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

const (
	stripeKey     = "sk_test_market"
	webhookSecret = "whsec_market"
)

// world is a market on a database of the test's own, with the payment
// simulator behind the real client. Nothing happens by itself: events are
// delivered and jobs are worked when the test says so.
type world struct {
	t      testing.TB
	pool   *pgxpool.Pool
	m      *market.Market
	sim    *stripesim.Sim
	simURL string
	gate   *pgxpool.Pool // for the test's own hand in the database
	pools  []*pgxpool.Pool

	addresses atomic.Uint32
	inbox     inbox
}

// options change what a world is made with.
type options struct {
	conns     int32
	rules     func(*market.Rules)
	timeout   time.Duration // of one call to Stripe
	frozen    bool          // see clock_test.go
	unchecked bool          // the test breaks invariants on purpose
	live      bool          // the market expects real money
	zone      string        // of the database's connections; Stripe's clock is the frozen one then
}

func usd() money.Currency { c, _ := money.Lookup("usd"); return c }

// rules are the product's defaults, with limits that only tests of limits meet.
func rules() market.Rules {
	most := market.Limits{Holds: 1000, Blocks: 1_000_000, BlockMinutes: 1 << 30, HoldMinutes: 1 << 30}
	return market.Rules{
		Currency: usd(), PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute,
		CheckoutTTL: 31 * time.Minute, CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour,
		RenewalWindow: 48 * time.Hour, MaxBlocks: 1000, Person: most, Address: most, MaxHeldShare: 1,
		BaseURL: "http://127.0.0.1:8080", Secret: []byte("a secret of the tests, thirty-two"),
	}
}

func newWorld(t testing.TB, o options) *world {
	t.Helper()
	if o.conns == 0 {
		o.conns = 16
	}
	if o.timeout == 0 {
		o.timeout = 10 * time.Second
	}
	url := testdb.URL(t, testdb.Options{Unchecked: o.unchecked})
	w := &world{t: t, pool: openPool(t, url, o.conns, o.frozen), gate: openPool(t, url, 2, false)}
	pay := openPool(t, url, 8, o.zone != "")
	if o.zone != "" {
		w.pool, pay = inZone(t, w.pool, o.zone), inZone(t, pay, o.zone)
	}
	w.pools = []*pgxpool.Pool{w.pool, w.gate, pay}
	if o.frozen {
		w.installClock()
	}
	w.startSim(pay)
	w.m = w.market(o)
	return w
}

// close gives the connections back before the test ends.
func (w *world) close() {
	for _, p := range w.pools {
		p.Close()
	}
}

func openPool(t testing.TB, url string, conns int32, frozen bool) *pgxpool.Pool {
	t.Helper()
	if frozen {
		url += "&search_path=clock%2Cpg_catalog%2Cpublic"
	}
	pool, err := db.Open(t.Context(), db.Settings{URL: url, Name: "market test", MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// inZone is the pool again with its connections in a time zone, which the
// product's own never are.
func inZone(t testing.TB, p *pgxpool.Pool, zone string) *pgxpool.Pool {
	t.Helper()
	config := p.Config()
	config.ConnConfig.RuntimeParams["timezone"] = zone
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// market makes one more market on the same database, as another process does.
func (w *world) market(o options) *market.Market {
	w.t.Helper()
	return w.marketOn(w.pool, o)
}

func (w *world) marketOn(pool *pgxpool.Pool, o options) *market.Market {
	w.t.Helper()
	queue, err := jobs.NewQueue(pool)
	if err != nil {
		w.t.Fatal(err)
	}
	r := rules()
	if o.rules != nil {
		o.rules(&r)
	}
	timeout := o.timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	stripe := gateway.New(gateway.Settings{SecretKey: stripeKey, URL: w.simURL, Timeout: timeout}, o.live)
	return market.New(pool, queue, stripe, r, logger())
}

// processes makes n markets, as n processes have: what one process does in turn
// they do at once.
func (w *world) processes(n int, o options) []*market.Market {
	w.t.Helper()
	ms := make([]*market.Market, n)
	for i := range ms {
		ms[i] = w.market(o)
	}
	return ms
}

// logger is silent unless somebody wants to see what happens.
func logger() *slog.Logger {
	if os.Getenv("TUVAL_TEST_LOG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

func (w *world) startSim(pool *pgxpool.Pool) {
	w.t.Helper()
	if err := stripesim.Migrate(w.t.Context(), pool); err != nil {
		w.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	sim, err := stripesim.New(stripesim.Options{
		Pool: pool, SecretKey: stripeKey, BaseURL: "http://" + server.Listener.Addr().String(), Logger: logger(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	server.Config.Handler = sim.Handler()
	server.Start()
	w.t.Cleanup(server.Close)
	w.sim, w.simURL = sim, server.URL
}

func (w *world) ctx() context.Context { return w.t.Context() }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exec(sql string, args ...any) int64 {
	w.t.Helper()
	tag, err := w.pool.Exec(w.ctx(), sql, args...)
	w.must(err)
	return tag.RowsAffected()
}

// count asks the database for a number.
func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	w.must(w.pool.QueryRow(w.ctx(), sql, args...).Scan(&n))
	return n
}

// age lets time pass.
func (w *world) age(by time.Duration) {
	w.t.Helper()
	w.must(age.Move(w.ctx(), w.pool, by))
}

func (w *world) fault(f stripesim.Fault) {
	w.t.Helper()
	_, err := w.sim.AddFault(w.ctx(), f)
	w.must(err)
}

// intact fails the test unless every structural invariant holds.
func (w *world) intact() {
	w.t.Helper()
	w.clean(check.Structure(w.ctx(), w.pool))
}

// sound is intact, and all that depends on jobs: to be asked when nothing that
// is due waits.
func (w *world) sound() {
	w.t.Helper()
	w.clean(check.Run(w.ctx(), w.pool))
}

func (w *world) clean(violations []string, err error) {
	w.t.Helper()
	w.must(err)
	for _, v := range violations[:min(len(violations), 12)] {
		w.t.Error(v)
	}
	if len(violations) > 0 {
		w.t.Fatalf("%d violations", len(violations))
	}
}

// noDeadlocks closes the world: only when its connections are gone are the
// counts of all of them there.
func (w *world) noDeadlocks() {
	w.t.Helper()
	url := w.gate.Config().ConnString()
	w.pool.Close()
	conn, err := pgx.Connect(w.ctx(), url)
	w.must(err)
	defer conn.Close(context.WithoutCancel(w.ctx()))
	var n int
	w.must(conn.QueryRow(w.ctx(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n))
	if n != 0 {
		w.t.Errorf("%d deadlocks", n)
	}
}

// buyer is a person with a network address of their own.
type buyer struct {
	*world
	who market.Who
}

func (w *world) buyer() buyer {
	w.t.Helper()
	var id int64
	w.must(w.pool.QueryRow(w.ctx(), `INSERT INTO persons DEFAULT VALUES RETURNING id`).Scan(&id))
	address := binary.BigEndian.AppendUint32(nil, w.addresses.Add(1))
	return buyer{w, market.Who{Viewer: rental.Viewer{Persons: []int64{id}}, Address: address}}
}

func (w *world) buyers(n int) []buyer {
	bs := make([]buyer, n)
	for i := range bs {
		bs[i] = w.buyer()
	}
	return bs
}

// person is the buyer's id.
func (b buyer) person() int64 { return b.who.Persons[0] }

func (b buyer) tryHold(r grid.Rect) (market.Held, error) {
	return b.m.Hold(b.ctx(), b.who, r, market.Request{})
}

func (b buyer) hold(r grid.Rect) market.Held {
	b.t.Helper()
	h, err := b.tryHold(r)
	if err != nil {
		b.t.Fatalf("hold %v: %v", r, err)
	}
	return h
}

func weeks(n int) market.Purchase { return market.Purchase{Weeks: n, Email: "buyer@example.com"} }

func (b buyer) tryCheckout(key string, want market.Purchase) (market.Offer, error) {
	return b.m.Checkout(b.ctx(), b.who, key, want)
}

func (b buyer) checkout(key string, n int) market.Offer {
	b.t.Helper()
	o, err := b.tryCheckout(key, weeks(n))
	if err != nil {
		b.t.Fatalf("checkout: %v", err)
	}
	return o
}

func (b buyer) keep(key string) (market.Held, error) {
	return b.m.Keep(b.ctx(), b.who, key, market.Request{})
}

func (b buyer) cancel(key string) error { return b.m.Cancel(b.ctx(), b.who, key) }

// paid is a rental that was held and paid.
func (b buyer) paid(r grid.Rect, n int) rental.Rental {
	b.t.Helper()
	h := b.hold(r)
	o := b.checkout(h.Key, n)
	b.pay(o)
	b.must(b.m.Return(b.ctx(), b.who, h.Key))
	got := b.rental(h.Key)
	if got.State != rental.Paid {
		b.t.Fatalf("the rental is %s after paying", got.State)
	}
	return got
}

// rental is a rental as it is stored.
func (w *world) rental(key string) rental.Rental {
	w.t.Helper()
	r, err := rental.ByKey(w.ctx(), w.pool, key)
	w.must(err)
	return r
}

func (w *world) payment(o market.Offer) payment.Payment {
	w.t.Helper()
	p, err := payment.ByKey(w.ctx(), w.pool, o.PaymentKey)
	w.must(err)
	return p
}

// session is the offer's session at Stripe.
func (w *world) session(o market.Offer) string {
	w.t.Helper()
	p := w.payment(o)
	if p.SessionID == nil {
		w.t.Fatal("the payment has no session")
	}
	return *p.SessionID
}

// pay pays at Stripe; the market does not know yet.
func (w *world) pay(o market.Offer) { w.t.Helper(); w.payHow(o, stripesim.Payment{}) }

func (w *world) payHow(o market.Offer, how stripesim.Payment) {
	w.t.Helper()
	_, err := w.sim.Pay(w.ctx(), w.session(o), how)
	w.must(err)
}

// wants fails the test unless err is a refusal with the code.
func (w *world) wants(err error, code string) *fault.Error {
	w.t.Helper()
	f := fault.As(err)
	if err == nil || f.Code != code {
		w.t.Fatalf("got %v, want %s", err, code)
	}
	return f
}

// state fails the test unless the stored rental is in the state, and for the
// reason if it is closed.
func (w *world) state(key string, want rental.State, why ...rental.Reason) rental.Rental {
	w.t.Helper()
	r := w.rental(key)
	if r.State != want {
		w.t.Fatalf("the rental is %s (%v), want %s", r.State, deref(r.ClosedReason), want)
	}
	if len(why) > 0 && deref(r.ClosedReason) != why[0] {
		w.t.Fatalf("closed for %q, want %q", deref(r.ClosedReason), why[0])
	}
	return r
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// owned is the number of blocks a rental possesses.
func (w *world) owned(key string) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM blocks b JOIN rentals r ON r.id = b.claim_id WHERE r.key = $1`, key)
}

func rect(x, y, w, h int) grid.Rect { return grid.Rect{X: x, Y: y, W: w, H: h} }

// rush runs fn n times at once. All come to a gate inside PostgreSQL, with
// their connections open; it opens when everybody for whom there is a
// connection stands there. Whoever reads a rental meets it.
func (w *world) rush(n int, fn func(i int) error) []error {
	w.t.Helper()
	w.warm(n)
	gate, err := w.gate.Begin(w.ctx())
	w.must(err)
	defer func() { _ = gate.Rollback(context.WithoutCancel(w.ctx())) }()
	_, err = gate.Exec(w.ctx(), `LOCK TABLE rentals IN ACCESS EXCLUSIVE MODE`)
	w.must(err)
	var done sync.WaitGroup
	errs := make([]error, n)
	var ended atomic.Int32
	for i := range n {
		done.Go(func() {
			defer ended.Add(1)
			errs[i] = fn(i)
		})
	}
	const waiting = `SELECT count(*) FROM pg_locks WHERE relation = 'rentals'::regclass AND NOT granted`
	for standing := 0; standing < min(n, int(w.pool.Config().MaxConns))-int(ended.Load()); {
		w.must(gate.QueryRow(w.ctx(), waiting).Scan(&standing))
	}
	w.must(gate.Commit(w.ctx()))
	done.Wait()
	return errs
}

// together runs fn n times at once, for what does not meet the gate.
func together(n int, fn func(i int) error) []error {
	var ready, done sync.WaitGroup
	start, errs := make(chan struct{}), make([]error, n)
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			errs[i] = fn(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	return errs
}

// warm opens connections for n.
func (w *world) warm(n int) {
	w.t.Helper()
	conns := make([]*pgxpool.Conn, min(n, int(w.pool.Config().MaxConns)))
	for i := range conns {
		conn, err := w.pool.Acquire(w.ctx())
		w.must(err)
		conns[i] = conn
	}
	for _, conn := range conns {
		conn.Release()
	}
}

// winners are the indices without an error; every error must be a refusal with
// one of the codes.
func winners(t testing.TB, errs []error, codes ...string) (won []int) {
	t.Helper()
next:
	for i, err := range errs {
		if err == nil {
			won = append(won, i)
			continue
		}
		for _, code := range codes {
			if fault.Is(err, code) {
				continue next
			}
		}
		t.Errorf("call %d: %v (%s), expected %v", i, err, fault.As(err).Code, codes)
	}
	return won
}

// deadlock reports whether PostgreSQL broke a deadlock by this error.
func deadlock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "40P01"
}

// inbox is what Stripe has to say, read from its list of events.
type inbox struct {
	mu   sync.Mutex
	last string
	all  []event
}

type event struct {
	ID, Type string
	Raw      json.RawMessage
}

// news are the events that happened at Stripe since the last call, the oldest
// first.
func (w *world) news() []event {
	w.t.Helper()
	w.inbox.mu.Lock()
	defer w.inbox.mu.Unlock()
	var fresh []event
	for {
		page := w.eventsAfter(w.inbox.last)
		for i := len(page) - 1; i >= 0; i-- { // the list has the newest first
			fresh = append(fresh, page[i])
		}
		if len(page) == 0 {
			break
		}
		w.inbox.last = page[0].ID
		if len(page) < 100 {
			break
		}
	}
	w.inbox.all = append(w.inbox.all, fresh...)
	return fresh
}

func (w *world) eventsAfter(id string) []event {
	w.t.Helper()
	url := w.simURL + "/v1/events?limit=100"
	if id != "" {
		url += "&ending_before=" + id
	}
	req, err := http.NewRequestWithContext(w.ctx(), http.MethodGet, url, nil)
	w.must(err)
	req.Header.Set("Authorization", "Bearer "+stripeKey)
	res, err := http.DefaultClient.Do(req)
	w.must(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	w.must(err)
	var list struct{ Data []json.RawMessage }
	w.must(json.Unmarshal(body, &list))
	events := make([]event, len(list.Data))
	for i, raw := range list.Data {
		w.must(json.Unmarshal(raw, &events[i]))
		events[i].Raw = raw
	}
	return events
}

// receive brings an event in as the webhook does.
func (w *world) receive(m *market.Market, e event) error {
	parsed, err := gateway.Verify(e.Raw, sign(e.Raw, webhookSecret, time.Now()), []string{"whsec_old", webhookSecret})
	if err != nil {
		return fmt.Errorf("verify %s: %w", e.Type, err)
	}
	return m.Receive(context.WithoutCancel(w.ctx()), parsed, e.Raw)
}

// deliver brings in all that is new at Stripe, in order, and works off what
// comes of it.
func (w *world) deliver() {
	w.t.Helper()
	for _, e := range w.news() {
		w.must(w.receive(w.m, e))
	}
	w.work()
}

// long is how many rounds a race goes: few in a usual run, many in a soak.
func long(t testing.TB, few, many int) int {
	if testdb.Soak(t, 0) > 0 {
		return many
	}
	return few
}
