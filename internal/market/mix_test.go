package market_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/age"
	"tuval/internal/check"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

// Everything at once: many hands hold overlapping rects, replace, keep, pay,
// pay late, pay twice, cancel, are refunded by hand, submit, decide, block and
// let time pass, while workers work. No deadlock, no error without a name, and
// after each round every invariant; in the end all money has its place.
func TestEverythingAtOnceSoak(t *testing.T) {
	t.Parallel()
	hands, steps, rounds := 64, 4, 2
	if testdb.Soak(t, 0) > 0 {
		steps, rounds = 30, 1<<30
	}
	w := newWorld(t, options{conns: 32})
	mix := newMix(w)
	end := time.Now().Add(testdb.Soak(t, time.Minute))
	for round := 0; round < rounds && time.Now().Before(end); round++ {
		mix.round(round, hands, steps)
		w.intact()
	}
	mix.quiesce()
	t.Logf("%v", mix.done)
	w.noDeadlocks()
}

// mix is what the hands share: all they know of each other.
type mix struct {
	*world
	markets []*market.Market
	people  []buyer

	mu     sync.Mutex
	owners map[string]buyer // of rentals, by key
	areas  []string
	done   map[string]int // how each action came out
}

func newMix(w *world) *mix {
	return &mix{world: w, markets: []*market.Market{w.m, w.market(options{})}, people: w.buyers(12), owners: map[string]buyer{}, done: map[string]int{}}
}

func (x *mix) round(round, hands, steps int) {
	x.t.Helper()
	stop, cancel := context.WithCancel(x.ctx())
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() { x.workUntil(stop, x.markets[i%2]) })
	}
	workers.Go(func() { x.checkUntil(stop) })
	together(hands, func(i int) error {
		r := rand.New(rand.NewPCG(uint64(round), uint64(i)))
		for range steps {
			x.act(r)
		}
		return nil
	})
	cancel()
	workers.Wait()
}

// workUntil is a worker. A job that fails is tried again a second later.
func (x *mix) workUntil(stop context.Context, m *market.Market) {
	for stop.Err() == nil {
		found, err := x.workOne(x.ctx(), m)
		x.note("a job", err)
		if !found {
			select {
			case <-stop.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// checkUntil holds the invariants under traffic: they are true at every
// instant, not only when all is quiet.
func (x *mix) checkUntil(stop context.Context) {
	for stop.Err() == nil {
		violations, err := check.Structure(x.ctx(), x.pool)
		x.note("check", db.Explain("check", err))
		for _, v := range violations {
			x.t.Errorf("under traffic: %s", v)
		}
	}
}

// note counts how something came out, and fails the test for what has no name
// or was a deadlock.
func (x *mix) note(what string, err error) {
	code := "ok"
	var refused *stripesim.Error
	switch {
	case err == nil:
	case errors.As(err, &refused): // Stripe's own word, at the test's own hand
		code = "refused"
	default:
		code = fault.As(err).Code
	}
	if deadlock(err) || code == "internal" {
		x.t.Errorf("%s: %v", what, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.done[what+" "+code]++
}

// some picks a rental that is in one of the states, as a rule; any of the last
// ones else.
func (x *mix) some(r *rand.Rand, states ...string) (string, buyer) {
	if r.IntN(6) == 0 {
		states = []string{"held", "paying", "paid", "live", "ended", "closed"}
	}
	var key string
	err := x.pool.QueryRow(x.ctx(), `SELECT key FROM (SELECT key FROM rentals WHERE state = ANY ($1) ORDER BY id DESC LIMIT 20) r
		ORDER BY random() LIMIT 1`, states).Scan(&key)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		x.note("pick", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return key, x.owners[key]
}

// act does one thing by chance.
func (x *mix) act(r *rand.Rand) {
	m := x.markets[r.IntN(2)]
	switch n := r.IntN(100); {
	case n < 20:
		x.hold(m, r)
	case n < 26:
		key, b := x.some(r, "held")
		_, err := m.Keep(x.ctx(), b.who, key, market.Request{})
		x.note("keep", err)
	case n < 31:
		key, b := x.some(r, "held", "paying")
		x.note("cancel", m.Cancel(x.ctx(), b.who, key))
	case n < 50:
		key, b := x.some(r, "held", "paying")
		_, err := m.Checkout(x.ctx(), b.who, key, weeks(1+r.IntN(2)))
		x.note("checkout", err)
	case n < 68:
		key, _ := x.some(r, "paying")
		x.payOne(r, key)
	case n < 73:
		key, b := x.some(r, "paying")
		x.note("return", m.Return(x.ctx(), b.who, key))
	case n < 77:
		key, _ := x.some(r, "held", "paying", "paid")
		x.note("settle", x.settle(m, key))
	case n < 83:
		key, b := x.some(r, "paid", "live")
		_, err := m.Submit(x.ctx(), b.who, key, submission(r.IntN(50)), market.Request{})
		x.note("submit", err)
	case n < 88:
		x.decideOne(m, r)
	case n < 91:
		key, _ := x.some(r, "paid", "live")
		x.refundOne(key)
	case n < 94:
		x.block(m, r)
	case n < 98:
		x.tell(m, r)
	default:
		most := []int{2, 2, 2, 2, 60}[r.IntN(5)]
		x.note("age", age.Move(x.ctx(), x.pool, time.Duration(1+r.IntN(most))*time.Minute))
	}
}

func (x *mix) hold(m *market.Market, r *rand.Rand) {
	b := x.people[r.IntN(len(x.people))]
	at := rect(r.IntN(30), r.IntN(30), 1+r.IntN(6), 1+r.IntN(6))
	h, err := m.Hold(x.ctx(), b.who, at, market.Request{})
	x.note("hold", err)
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owners[h.Key] = b
}

func (x *mix) settle(m *market.Market, key string) error {
	var id int64
	err := x.pool.QueryRow(x.ctx(), `SELECT id FROM rentals WHERE key = $1`, key).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return do(x.ctx(), m, job{Kind: "settle", Args: fmt.Appendf(nil, `{"rental":%d}`, id)})
}

// payOne pays a page of the rental, in time, late, or with money that takes
// its time; also one that was paid or given up.
func (x *mix) payOne(r *rand.Rand, key string) {
	var session string
	err := x.pool.QueryRow(x.ctx(), `
		SELECT session_id FROM payments WHERE session_id IS NOT NULL AND rental_id = (SELECT id FROM rentals WHERE key = $1)
		ORDER BY random() LIMIT 1`, key).Scan(&session)
	if errors.Is(err, pgx.ErrNoRows) {
		return
	}
	if err == nil {
		_, err = x.sim.Pay(x.ctx(), session, stripesim.Payment{Late: r.IntN(3) == 0, Pending: r.IntN(6) == 0})
	}
	x.note("pay", err)
	if r.IntN(4) == 0 {
		_, err := x.sim.AsyncSucceed(x.ctx(), session)
		x.note("debit arrives", err)
	}
}

// tell brings in what Stripe has to say, some of it twice.
func (x *mix) tell(m *market.Market, r *rand.Rand) {
	news := x.news()
	r.Shuffle(len(news), func(i, j int) { news[i], news[j] = news[j], news[i] })
	for _, e := range news {
		for range 1 + r.IntN(2) {
			x.note("event", x.receive(m, e))
		}
	}
}

func (x *mix) decideOne(m *market.Market, r *rand.Rand) {
	queue, err := m.Reviews(x.ctx(), 20)
	if err != nil || len(queue) == 0 {
		x.note("queue", err)
		return
	}
	c := queue[r.IntN(len(queue))]
	_, err = m.Decide(x.ctx(), market.Decision{Creative: c.Key, Revision: c.Revision, By: "admin", Approve: r.IntN(3) > 0, Reason: "no"})
	x.note("decide", err)
}

// refundOne refunds a payment of the rental in the dashboard.
func (x *mix) refundOne(key string) {
	var intent string
	err := x.pool.QueryRow(x.ctx(), `SELECT payment_intent FROM payments WHERE payment_intent IS NOT NULL
		AND rental_id = (SELECT id FROM rentals WHERE key = $1) LIMIT 1`, key).Scan(&intent)
	if errors.Is(err, pgx.ErrNoRows) {
		return
	}
	if err == nil {
		_, err = x.sim.DashboardRefund(x.ctx(), stripesim.RefundRequest{PaymentIntent: intent})
	}
	x.note("refund in the dashboard", err)
}

func (x *mix) block(m *market.Market, r *rand.Rand) {
	x.mu.Lock()
	areas := len(x.areas)
	var area string
	if areas > 0 {
		area = x.areas[r.IntN(areas)]
	}
	x.mu.Unlock()
	if area != "" && r.IntN(2) == 0 {
		x.note("unblock", m.Unblock(x.ctx(), "admin", area))
		return
	}
	b, err := m.Block(x.ctx(), "admin", grid.Rect{X: r.IntN(24), Y: r.IntN(24), W: 3, H: 3}, "", nil)
	x.note("block", err)
	if err == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.areas = append(x.areas, b.Key)
	}
}

// quiesce lets all be said and done, and checks that nothing is stuck and that
// Stripe and the ledger agree on every cent.
func (x *mix) quiesce() {
	x.t.Helper()
	for range 4 {
		x.deliver()
		x.age(31 * time.Second)
	}
	x.age(8 * 24 * time.Hour)
	for range 3 {
		x.deliver()
		x.age(31 * time.Second)
	}
	for _, err := range x.work() {
		x.note("a job", err)
	}
	x.sound()
	ledger := x.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`)
	x.kept(ledger)
	if n := x.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open' AND expires_at > now()`); n > 0 {
		x.t.Errorf("%d pages are still open", n)
	}
	if n := x.count(`SELECT count(*) FROM river_job WHERE state = 'retryable' AND kind <> 'send_mail'`); n > 0 {
		x.t.Errorf("%d jobs still fail", n)
	}
}
