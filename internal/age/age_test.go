package age_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/age"
	"tuval/internal/capacity"
	"tuval/internal/check"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/internal/testdb"
)

func newMarket(t *testing.T) (*market.Market, *pgxpool.Pool) {
	t.Helper()
	pool, err := db.Open(t.Context(), db.Settings{URL: testdb.URL(t), Name: "age test", MaxConns: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	queue, err := jobs.NewQueue(pool)
	if err != nil {
		t.Fatal(err)
	}
	usd, _ := money.Lookup("usd")
	most := market.Limits{Holds: 1 << 20, Blocks: 1 << 20, BlockMinutes: 1 << 30, HoldMinutes: 1 << 30}
	return market.New(pool, queue, nil, market.Rules{
		Currency: usd, PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute, CheckoutTTL: 31 * time.Minute,
		CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour, RenewalWindow: 48 * time.Hour, MaxBlocks: 1000,
		Person: most, Address: most, MaxHeldShare: 1, Secret: []byte("secret"),
	}, slog.New(slog.DiscardHandler)), pool
}

func hold(t *testing.T, m *market.Market, who byte, r grid.Rect) (market.Held, error) {
	return m.Hold(context.WithoutCancel(t.Context()), market.Who{Address: []byte{who}}, r, market.Request{})
}

// All that deadlines are judged by moves together; what must not be relived
// stays where it is.
func TestMove(t *testing.T) {
	t.Parallel()
	m, pool := newMarket(t)
	h, err := hold(t, m, 1, grid.Rect{X: 3, Y: 4, W: 5, H: 6})
	if err != nil {
		t.Fatal(err)
	}
	area, err := m.Block(t.Context(), "admin", grid.Rect{X: 50, Y: 50, W: 2, H: 2}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, pool, `INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at, attempt, attempted_at, finalized_at) VALUES
		('upkeep', '{"who": "running"}', 3, 'running', now(), 1, now(), NULL), ('upkeep', '{"who": "done"}', 3, 'completed', now(), 1, now(), now())`)
	exec(t, pool, `INSERT INTO mails (fact, kind, recipient, subject, text_body, html_body, stale_at, sent_at) VALUES
		('waiting', 'k', 'a@b.example', '', '', '', now(), NULL), ('sent', 'k', 'a@b.example', '', '', '', now(), now())`)
	exec(t, pool, `INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at)
		SELECT 'send_mail', jsonb_build_object('mail', id), 3, 'available', now() FROM mails WHERE fact = 'waiting'`)
	exec(t, pool, `INSERT INTO requests (scope, caller, key, body_hash) VALUES ('s', 'c', 'k', '')`)
	before := instants(t, pool)
	const by = 7*time.Minute + 3*time.Microsecond
	if err := age.Move(t.Context(), pool, by); err != nil {
		t.Fatal(err)
	}
	after := instants(t, pool)
	for name, stays := range map[string]bool{
		"rental lease": false, "rental created": false, "rental counted": false, "block lease": false, "area until": false, "area lease": false,
		"hold's job": false, "area's job": false, "ledger": true, "running job": true, "finished job": true, "request": true,
		"reminder's event": false, "sent reminder's event": true,
	} {
		want := before[name].Add(-by)
		if stays {
			want = before[name]
		}
		if !after[name].Equal(want) {
			t.Errorf("%s: %v, was %v", name, after[name], before[name])
		}
	}
	if found, err := check.Run(t.Context(), pool); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	if err := age.Move(t.Context(), pool, 4*time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := m.Settle(t.Context(), h.ID); err != nil {
		t.Fatal(err)
	}
	if r, err := rental.ByID(t.Context(), pool, h.ID); err != nil || r.State != rental.Closed {
		t.Errorf("%+v, %v", r, err)
	}
	_ = area
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func instants(t *testing.T, pool *pgxpool.Pool) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	for name, sql := range map[string]string{
		"rental lease": `SELECT leased_until FROM rentals`, "rental created": `SELECT created_at FROM rentals`,
		"rental counted": `SELECT counted_from FROM rentals`, "block lease": `SELECT max(leased_until) FROM blocks WHERE x = 3`,
		"area until": `SELECT until FROM blocked_areas`, "area lease": `SELECT max(leased_until) FROM blocks WHERE x = 50`,
		"hold's job": `SELECT scheduled_at FROM river_job WHERE kind = 'settle'`, "area's job": `SELECT scheduled_at FROM river_job WHERE kind = 'unblock'`,
		"ledger": `SELECT min(effective_at) FROM ledger`, "running job": `SELECT scheduled_at FROM river_job WHERE state = 'running'`,
		"reminder's event": `SELECT stale_at FROM mails WHERE fact = 'waiting'`, "sent reminder's event": `SELECT stale_at FROM mails WHERE fact = 'sent'`,
		"finished job": `SELECT scheduled_at FROM river_job WHERE state = 'completed'`, "request": `SELECT created_at FROM requests`,
	} {
		var at time.Time
		if err := pool.QueryRow(t.Context(), sql).Scan(&at); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = at
	}
	return all
}

func TestMoveHasLimits(t *testing.T) {
	t.Parallel()
	_, pool := newMarket(t)
	for _, by := range []time.Duration{0, -time.Hour, age.Most + 1} {
		if err := age.Move(t.Context(), pool, by); err == nil {
			t.Errorf("moved by %v", by)
		}
	}
}

// Under load, at several hands: nobody is torn, nobody waits in a circle.
func TestMoveUnderLoad(t *testing.T) {
	t.Parallel()
	m, pool := newMarket(t)
	var all sync.WaitGroup
	fine := func(what string, err error) {
		if f := fault.As(err); err != nil && f.Kind == fault.Internal {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 8 {
		all.Go(func() {
			for n := range 6 {
				h, err := hold(t, m, byte(i), grid.Rect{X: (i*7 + n*3) % 40, Y: n * 2, W: 6, H: 6})
				fine("hold", err)
				if err == nil && n%2 == 0 {
					fine("settle", m.Settle(t.Context(), h.ID))
				}
				b, err := m.Block(t.Context(), "admin", grid.Rect{X: i * 6, Y: 50 + n%3, W: 4, H: 4}, "", nil)
				fine("block", err)
				if err == nil {
					fine("unblock", m.Unblock(t.Context(), "admin", b.Key))
				}
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for range 5 {
				fine("age", age.Move(t.Context(), pool, 3*time.Minute))
			}
		})
	}
	for range 2 { // workers lock jobs, in an order of their own
		all.Go(func() {
			for range 30 {
				_, err := pool.Exec(t.Context(), `UPDATE river_job SET attempt = attempt WHERE id IN (
					SELECT id FROM river_job WHERE state = 'scheduled' ORDER BY scheduled_at DESC, id LIMIT 20 FOR UPDATE)`)
				fine("jobs", db.Explain("jobs", err))
			}
		})
	}
	all.Wait()
	if found, err := check.Structure(t.Context(), pool); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	var deadlocks int
	pool.Reset()
	if err := pool.QueryRow(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&deadlocks); err != nil || deadlocks > 0 {
		t.Errorf("%d deadlocks, %v", deadlocks, err)
	}
}

// Places in the limits of capacity move with their orders; the ledger tells of
// it, and the counters are made anew.
func TestMoveRebuildsCapacity(t *testing.T) {
	t.Parallel()
	m, pool := newMarket(t)
	h, err := hold(t, m, 1, grid.Rect{X: 3, Y: 4, W: 5, H: 6})
	if err != nil {
		t.Fatal(err)
	}
	due := h.LeasedUntil.Truncate(time.Hour).Add(72 * time.Hour)
	err = db.InTx(t.Context(), pool, "choose", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE rentals SET go_live_at = $1`, due); err != nil {
			return err
		}
		_, err := capacity.Apply(ctx, tx, capacity.Limits{}, []capacity.Change{{Rental: int64(h.ID), Blocks: 30, Due: &due, At: due}})
		if err != nil {
			return err
		}
		return ledger.Append(ctx, tx, ledger.Event{
			Kind: capacity.SlotTaken, EffectiveAt: due, Claim: int64(h.ID), Rect: h.Rect, Currency: "usd", Actor: ledger.Buyer,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	const by = 25*time.Hour + 30*time.Minute
	if err := age.Move(t.Context(), pool, by); err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[capacity.Metric]int64{capacity.ReviewImages: 1, capacity.LaunchPixels: 3_000} {
		var used int64
		const sql = `SELECT used FROM capacity_counters WHERE metric = $1 AND bucket = $2`
		if err := pool.QueryRow(t.Context(), sql, metric, metric.Bucket(due.Add(-by))).Scan(&used); err != nil || used != want {
			t.Errorf("%s: %d, %v", metric, used, err)
		}
	}
	if found, err := check.Structure(t.Context(), pool); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}
