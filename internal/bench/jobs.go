package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/market"
	"tuval/internal/stripesim"
	"tuval/migrations"
)

const jobsText = `**Waiting.** A process with its workers, and nothing to do: what it and its PostgreSQL take of one core, over %s.

| waiting jobs | of a core |
|---|---|
| none | %.2f %% |
| %s | %.2f %% |

**Due at once.** %s one-block rentals end at the same instant, and %s mails are due at it, on one process that also takes
claims: %d clients hold and let go disjoint 6 x 4 rects on the rest of the canvas (the rentals leave no more), before it and until the last
rental has ended. The mails are sent at their own pace, bounded so that no mail server is flooded, and hold up nothing.

| | claims/s | p99 |
|---|---|---|
| before | %s | %s |
| while they end | %s | %s |
| ratio | %.2f | |

All rentals had ended %s after their end; %s mails had been sent by then. What people see does not wait for it: it is read from the dates.
`

const (
	waitingJobs  = 200_000
	endingAtOnce = 9_600 // the canvas has 10,000 blocks, and the claims need some
	mailsAtOnce  = 40_000
	claimers     = 16
)

// jobsSection measures what waiting work costs, and much work at one instant.
func jobsSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	during := 10 * b.cell
	idle, err := s.idleCost(ctx, "idle0", 0, during)
	if err != nil {
		return part{}, err
	}
	b.logf("idle, no jobs       %.2f %% of a core", 100*idle)
	waiting, err := s.idleCost(ctx, "idle1", waitingJobs, during)
	if err != nil {
		return part{}, err
	}
	b.logf("idle, %d jobs   %.2f %% of a core", waitingJobs, 100*waiting)
	r, err := s.endTogether(ctx, b)
	if err != nil {
		return part{}, err
	}
	return part{
		title: "Jobs",
		text: fmt.Sprintf(jobsText, during, 100*idle, thousands(waitingJobs), 100*waiting, thousands(endingAtOnce), thousands(mailsAtOnce), claimers,
			thousands(r.before.winners), duration(r.before.p99), thousands(r.during.winners), duration(r.during.p99), r.during.winners/r.before.winners,
			r.took.Round(100*time.Millisecond), thousands(float64(r.mails))),
	}, nil
}

// prepared is a migrated database that a statement has filled.
func (s *server) prepared(ctx context.Context, name, fill string, args ...any) (string, *pgxpool.Pool, error) {
	url, err := s.cluster.EnsureDatabase(ctx, name)
	if err != nil {
		return "", nil, err
	}
	pool, err := db.Open(ctx, db.Settings{URL: url, Name: "bench", MaxConns: claimers + 4})
	if err != nil {
		return "", nil, err
	}
	if err := migrations.Apply(ctx, pool); err != nil {
		return "", nil, err
	}
	if err := stripesim.Migrate(ctx, pool); err != nil {
		return "", nil, err
	}
	for _, sql := range []string{fill, `VACUUM ANALYZE`} {
		if _, err := pool.Exec(ctx, sql, args...); err != nil {
			return "", nil, fmt.Errorf("fill %s: %w", name, err)
		}
		args = nil
	}
	return url, pool, nil
}

const fillWaiting = `
	INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at)
	SELECT 'settle', jsonb_build_object('rental', n, 'why', 'ends'), 12, 'scheduled', now() + interval '30 days' + n * interval '1 second'
	FROM generate_series(1, $1::int) AS n`

// idleCost is the share of one core that a process and its PostgreSQL use
// while so many jobs wait.
func (s *server) idleCost(ctx context.Context, name string, waiting int, during time.Duration) (float64, error) {
	url, pool, err := s.prepared(ctx, name, fillWaiting, waiting)
	if err != nil {
		return 0, err
	}
	pool.Close()
	_, stop, err := serve(ctx, url)
	if err != nil {
		return 0, err
	}
	defer stop()
	settle := time.NewTimer(15 * time.Second) // what a start does is over
	defer settle.Stop()
	select {
	case <-settle.C:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return s.load(ctx, during)
}

// load is the share of one core that this process and PostgreSQL use.
func (s *server) load(ctx context.Context, during time.Duration) (float64, error) {
	before, err := s.cpu()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	end := time.NewTimer(during)
	defer end.Stop()
	select {
	case <-end.C:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	after, err := s.cpu()
	return (after - before).Seconds() / time.Since(begun).Seconds(), err
}

// fillEnding is rentals of one block that are live and end in $1 seconds, with
// all that belongs to them, and mails that are due at the same instant.
const fillEnding = `
	WITH person AS (INSERT INTO persons DEFAULT VALUES RETURNING id),
	at AS (SELECT date_trunc('second', now()) + make_interval(secs => $1) AS ends),
	picture AS (INSERT INTO pictures (hash, mime, width, height, bytes) VALUES ('p', 'image/png', 10, 10, '') RETURNING hash),
	r AS (
		INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, price_per_week, currency, counted_from, created_at,
			leased_until, email, paid_at, approve_by, live_from, ends_at)
		SELECT n, 'k' || n, 'a' || n, person.id, '', (n - 1) % 100, (n - 1) / 100, 1, 1, 'live', 10000, 'usd', at.ends - interval '9 days', at.ends - interval '9 days',
			at.ends + interval '48 hours', 'buyer' || n || '@example.com', at.ends - interval '8 days', at.ends, at.ends - interval '7 days', at.ends
		FROM generate_series(1, $2::int) AS n, person, at RETURNING id, ends_at),
	p AS (
		INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email, expires_at, session_id, payment_intent, paid_at)
		SELECT 'p' || id, id, 'new', 1, 10000, 'usd', 'paid', 'applied', 'i' || id, 'a@example.com', ends_at, 'cs' || id, 'pi' || id, ends_at - interval '8 days'
		FROM r RETURNING id, rental_id),
	c AS (
		INSERT INTO creatives (key, rental_id, revision, state, link, link_host, title, alt, fit, picture, picture_2x)
		SELECT 'c' || id, id, 1, 'approved', 'https://example.com/', 'example.com', 't', 'a', 'cover', 'p', 'p' FROM r),
	l AS (
		INSERT INTO ledger (kind, effective_at, claim_id, payment_id, blocks, amount, currency, actor)
		SELECT 'hold.placed', now(), id, NULL::bigint, 1, 0, 'usd', 'buyer' FROM r
		UNION ALL SELECT 'payment.booked', now(), rental_id, id, 0, 10000, 'usd', 'stripe' FROM p),
	m AS (
		INSERT INTO mails (fact, kind, recipient, subject, text_body, html_body)
		SELECT 'bench' || n, 'bench', 'a@example.com', 'A mail', 'text', 'html' FROM generate_series(1, $3::int) AS n RETURNING id)
	INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at, queue)
	SELECT 'settle', jsonb_build_object('rental', id, 'why', 'ends'), 12, 'scheduled'::river_job_state, ends_at, 'clock' FROM r
	UNION ALL SELECT 'send_mail', jsonb_build_object('mail', id), 16, 'scheduled', at.ends, 'mail' FROM m, at`

const leaseEnding = `
	UPDATE blocks b SET claim_id = r.id, leased_until = r.leased_until FROM rentals r WHERE r.x = b.x AND r.y = b.y;
	SELECT setval('claim_ids', 100000)`

// together is what happens when many rentals end at one instant.
type together struct {
	before, during result
	took           time.Duration
	mails          int
}

// endTogether measures claims before many rentals end and while they do.
func (s *server) endTogether(ctx context.Context, b *bench) (together, error) {
	var t together
	before := 5 * b.cell
	url, pool, err := s.prepared(ctx, "ending", fillEnding, (before + 25*time.Second).Seconds(), endingAtOnce, mailsAtOnce)
	if err != nil {
		return t, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, leaseEnding); err != nil {
		return t, err
	}
	_, stop, err := serve(ctx, url)
	if err != nil {
		return t, err
	}
	defer stop()
	m, err := benchMarket(pool)
	if err != nil {
		return t, err
	}
	var ends time.Time
	if err := pool.QueryRow(ctx, `SELECT min(ends_at) FROM rentals`).Scan(&ends); err != nil {
		return t, err
	}
	first, stopFirst := context.WithDeadline(ctx, ends)
	defer stopFirst()
	if t.before, err = claimAlong(ctx, first, m); err != nil {
		return t, err
	}
	second, stopSecond := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer stopSecond()
		ended <- untilEnded(ctx, pool, &t.mails)
	}()
	if t.during, err = claimAlong(ctx, second, m); err != nil {
		return t, err
	}
	t.took = time.Since(ends)
	b.logf("claims before %.0f/s p99 %v, while they end %.0f/s p99 %v; took %v, %d mails", t.before.winners, t.before.p99, t.during.winners, t.during.p99, t.took, t.mails)
	return t, <-ended
}

// untilEnded returns when no rental is live.
func untilEnded(ctx context.Context, pool *pgxpool.Pool, mails *int) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(10 * time.Minute); ; {
		var left int
		const sql = `SELECT count(*) FROM rentals WHERE state = 'live'`
		if err := pool.QueryRow(ctx, sql).Scan(&left); err != nil {
			return err
		}
		if left == 0 {
			return pool.QueryRow(ctx, `SELECT count(*) FROM mails WHERE sent_at IS NOT NULL`).Scan(mails)
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d rentals are live long after their end", left)
		}
		<-tick.C
	}
}

// claimAlong holds and lets go on the free rows at the foot of the canvas until
// the second context is done.
func claimAlong(ctx, until context.Context, m *market.Market) (result, error) {
	begun := time.Now()
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var all sync.WaitGroup
	for i := range claimers {
		all.Go(func() {
			place := placeOf(i)
			place.Y = 96
			for until.Err() == nil {
				var address [16]byte
				rand.Read(address[:])
				start := time.Now()
				held, err := m.Hold(ctx, market.Who{Address: address[:]}, place, market.Request{})
				d := time.Since(start)
				if err == nil {
					who := market.Who{Address: address[:]}
					who.Persons = []int64{held.Person}
					err = m.Cancel(ctx, who, held.Key)
				}
				mu.Lock()
				took = append(took, d)
				if err != nil {
					failed = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	if failed != nil || len(took) == 0 {
		return result{}, fmt.Errorf("claims along: %d made: %w", len(took), failed)
	}
	slices.Sort(took)
	return result{winners: float64(len(took)) / time.Since(begun).Seconds(), p50: took[len(took)/2], p99: took[len(took)*99/100]}, nil
}
