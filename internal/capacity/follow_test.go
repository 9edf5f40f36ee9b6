package capacity_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/capacity"
	"tuval/internal/fault"
	"tuval/internal/testdb"
)

// clock is time that goes by when the test says so.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) pass(by time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(by) }

// reads counts what is asked of the database.
type reads struct {
	*pgxpool.Pool
	n int
}

func (r *reads) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	r.n++
	return r.Pool.Query(ctx, sql, args...)
}

func (r *reads) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	r.n++
	return r.Pool.Exec(ctx, sql, args...)
}

type bench struct {
	t     testing.TB
	pool  *pgxpool.Pool
	reads *reads
	clock *clock
	m     *capacity.Memory
}

func newBench(t testing.TB, l capacity.Limits) *bench {
	t.Helper()
	b := &bench{t: t, pool: testdb.New(t, testdb.Options{Unchecked: true}), clock: &clock{at: time.Unix(1_000, 0)}}
	b.reads = &reads{Pool: b.pool}
	b.m = capacity.NewMemory(b.reads, l, capacity.Options{Clock: b.clock.now, Fresh: 2 * time.Second, Idle: 10 * time.Minute})
	return b
}

const tell = `INSERT INTO ledger (kind, effective_at, x, y, w, h, currency, actor)
	VALUES ($1, date_trunc('hour', now(), 'UTC') + $2 * interval '1 h', 0, 0, $3, 1, 'usd', 'buyer')`

func (b *bench) tell(kind string, hours, blocks int) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), tell, kind, hours, blocks); err != nil {
		b.t.Fatal(err)
	}
}

// next is what the next hours have of images, and their day of pixels.
func (b *bench) next() (images, pixels int64) {
	b.t.Helper()
	err := b.m.View(b.t.Context(), func(m *capacity.Model, now time.Time) {
		at := now.Truncate(time.Hour).Add(2 * time.Hour)
		images, pixels = m.Used(capacity.ReviewImages, at), m.Used(capacity.LaunchPixels, at)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return images, pixels
}

func TestTheFirstQuestionLoadsAndTheRestAreAnsweredFromMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, usual)
	b.tell("slot.taken", 2, 24)
	b.tell("slot.taken", 2, 10)
	b.tell("slot.returned", 2, 10)
	b.tell("slot.taken", -48, 99) // long over
	if b.m.Keep(t.Context()) != nil || b.reads.n != 0 || b.m.Loaded() {
		t.Errorf("%d reads before anybody asked", b.reads.n)
	}
	for range 5 {
		if images, pixels := b.next(); images != 1 || pixels != 2_400 {
			t.Errorf("%d images, %d pixels", images, pixels)
		}
	}
	if b.reads.n != 1 {
		t.Errorf("%d reads for five questions", b.reads.n)
	}
	b.tell("slot.taken", 2, 6)
	if err := b.m.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if images, pixels := b.next(); images != 2 || pixels != 3_000 || b.reads.n != 2 {
		t.Errorf("kept: %d images, %d pixels, %d reads", images, pixels, b.reads.n)
	}
	b.tell("slot.returned", 2, 6)
	b.clock.pass(3 * time.Second) // nobody kept it: the question looks itself
	if images, pixels := b.next(); images != 1 || pixels != 2_400 {
		t.Errorf("looked: %d images, %d pixels", images, pixels)
	}
	b.clock.pass(10 * time.Minute)
	if err := b.m.Keep(t.Context()); err != nil || b.m.Loaded() {
		t.Errorf("still loaded though nobody asks: %v", err)
	}
	if images, _ := b.next(); images != 1 || !b.m.Loaded() {
		t.Errorf("loaded again: %d images", images)
	}
}

// A transaction that began before a look and commits after it is seen by the
// next one, and nothing is seen twice.
func TestSlowTransactionsAreSeenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, usual)
	slow, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Exec(t.Context(), tell, "slot.taken", 2, 1); err != nil {
		t.Fatal(err)
	}
	b.tell("slot.taken", 2, 10)
	for range 2 { // loads, then looks
		b.clock.pass(time.Minute)
		if images, pixels := b.next(); images != 1 || pixels != 1_000 {
			t.Errorf("%d images, %d pixels before it committed", images, pixels)
		}
	}
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b.clock.pass(time.Minute)
		if images, pixels := b.next(); images != 2 || pixels != 1_100 {
			t.Errorf("%d images, %d pixels after it committed", images, pixels)
		}
	}
}

// begin tells of payment pages, as many in the next quarter of an hour as in
// this one: which of them it is does not matter then.
func (b *bench) begin(n int) {
	b.t.Helper()
	const sql = `INSERT INTO ledger (kind, effective_at, recorded_at, w, h, currency, actor)
		SELECT 'checkout.begun', now(), now() + q * interval '15 min', 1, 1, 'usd', 'buyer' FROM generate_series(1, $1::int), generate_series(0, 1) AS q`
	if _, err := b.pool.Exec(b.t.Context(), sql, n); err != nil {
		b.t.Fatal(err)
	}
}

func TestPagesPerQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	b := newBench(t, capacity.Limits{CheckoutsPer15M: 3})
	b.begin(2)
	if err := b.m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.begin(1)
	b.clock.pass(time.Minute)
	f := fault.As(b.m.Start(t.Context()))
	if f.Code != "limit" || f.Kind != fault.Limited || f.RetryAfter <= 0 || f.RetryAfter > 15*time.Minute || f.Details["metric"] != capacity.CheckoutStarts {
		t.Errorf("%+v", f)
	}
	b.clock.pass(f.RetryAfter)
	// The clock says a quarter is over; the database does not think so.
	if f := fault.As(b.m.Start(t.Context())); f.Code != "limit" {
		t.Errorf("the database's time counts: %+v", f)
	}
	if _, err := b.pool.Exec(t.Context(), `INSERT INTO clock_shifts (by, at) VALUES ('45 min', now() + interval '1 h')`); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(time.Minute)
	if err := b.m.Start(t.Context()); err != nil {
		t.Errorf("all was moved into the past: %v", err)
	}
}

// What can be chosen is asked for only: no hour that has begun, none later
// than two weeks ahead.
func TestSlotsThatCanBeChosen(t *testing.T) {
	t.Parallel()
	b := newBench(t, usual)
	long := 14 * 24 * time.Hour
	slots, err := b.m.Slots(t.Context(), 24, time.Time{}, time.Time{}, long)
	if err != nil || len(slots) < 335 || len(slots) > 336 {
		t.Fatalf("%d slots, %v", len(slots), err)
	}
	var now time.Time
	if err := b.m.View(t.Context(), func(_ *capacity.Model, n time.Time) { now = n }); err != nil {
		t.Fatal(err)
	}
	if first, last := slots[0].At, slots[len(slots)-1].At; !first.After(now) || first.Sub(now) > time.Hour || last.After(now.Add(long)) {
		t.Errorf("%v to %v at %v", first, last, now)
	}
	for field, c := range map[string][2]time.Duration{"to": {2 * time.Hour, time.Hour}, "from": {long + time.Minute, long + time.Hour}} {
		if f := fault.As(second(b.m.Slots(t.Context(), 1, now.Add(c[0]), now.Add(c[1]), long))); f.Field != field || f.Kind != fault.Invalid {
			t.Errorf("%s: %+v", field, f)
		}
	}
	if f := fault.As(second(b.m.Slots(t.Context(), 1, now.Add(-2*time.Hour), now.Add(-time.Hour), long))); f.Field != "to" {
		t.Errorf("the past: %+v", f)
	}
	some, err := b.m.Slots(t.Context(), 1, now.Add(-time.Hour), now.Add(3*time.Hour), long)
	if err != nil || len(some) != 3 {
		t.Errorf("three hours: %v, %v", some, err)
	}
}

// The promise is under two seconds from a million events, and memory for what
// they come to, not for the events. The usual run has fewer.
func TestLoadingAMillionEventsSoak(t *testing.T) {
	t.Parallel()
	events := 50_000
	if testdb.Soak(t, 0) > 0 {
		events = 1_000_000
	}
	b := newBench(t, usual)
	const many = `INSERT INTO ledger (kind, effective_at, x, y, w, h, currency, actor)
		SELECT CASE WHEN i % 10 = 0 THEN 'slot.returned' ELSE 'slot.taken' END, date_trunc('hour', now(), 'UTC') + i % 336 * interval '1 h', 0, 0, 2, 1, 'usd', 'buyer'
		FROM generate_series(1, $1::int) AS i`
	if _, err := b.pool.Exec(t.Context(), many, events); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `ANALYZE ledger`); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	images, _ := b.next()
	took := time.Since(begun)
	buckets := 0
	_ = b.m.View(t.Context(), func(m *capacity.Model, _ time.Time) { buckets = m.Buckets() })
	t.Logf("%d windows from %d events in %s", buckets, events, took)
	if images == 0 || buckets > 400 {
		t.Errorf("%d images, %d windows", images, buckets)
	}
	if took > 2*time.Second {
		t.Errorf("loading took %s", took)
	}
}

func second[T any](_ T, err error) error { return err }
