package check_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/check"
	"tuval/internal/testdb"
)

// base is a small market that is sound: a hold, a checkout, a paid rental, a
// live one, a closed one whose money went back, a late payment that was
// returned, a blocked area, each with its blocks, ledger and jobs.
const base = `
	INSERT INTO persons DEFAULT VALUES;
	INSERT INTO pictures (hash, mime, width, height, bytes) VALUES ('p', 'image/png', 1, 1, '');

	INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, closed_reason, price_per_week, currency, counted_from,
		leased_until, email, paid_at, approve_by, live_from, ends_at, closed_at) VALUES
	(1, 'hold', 'a1', 1, '', 0, 0, 2, 2, 'held', NULL, 100, 'usd', now(), now() + interval '10 min', NULL, NULL, NULL, NULL, NULL, NULL),
	(2, 'checkout', 'a2', 1, '', 10, 0, 2, 2, 'paying', NULL, 100, 'usd', now(), now() + interval '41 min', 'a@b', NULL, NULL, NULL, NULL, NULL),
	(3, 'paid', 'a3', 1, '', 20, 0, 2, 2, 'paid', NULL, 100, 'usd', now(), now() + interval '30 days', 'a@b', now(), now() + interval '30 days', NULL, NULL, NULL),
	(4, 'live', 'a4', 1, '', 30, 0, 2, 2, 'live', NULL, 100, 'usd', now(), now() + interval '9 days', 'a@b', now(), now() + interval '30 days', now(), now() + interval '7 days', NULL),
	(5, 'closed', 'a5', 1, '', 40, 0, 2, 2, 'closed', 'unapproved', 100, 'usd', now(), NULL, 'a@b', now(), now(), NULL, NULL, now()),
	(6, 'late', 'a6', 1, '', 50, 0, 2, 2, 'closed', 'expired', 100, 'usd', now(), NULL, 'a@b', NULL, NULL, NULL, NULL, now());
	INSERT INTO blocked_areas (id, key, x, y, w, h, note, until, created_by) VALUES (7, 'blocked', 60, 0, 2, 2, '', now() + interval '1 year', 'admin');

	UPDATE blocks b SET claim_id = o.id, leased_until = o.until FROM (
		SELECT id, x, y, w, h, leased_until AS until FROM rentals WHERE state <> 'closed'
		UNION ALL SELECT id, x, y, w, h, until FROM blocked_areas) o
	WHERE b.x >= o.x AND b.x < o.x + o.w AND b.y >= o.y AND b.y < o.y + o.h;

	INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email, expires_at, session_id, paid_at) VALUES
	('p1', 2, 'new', 1, 100, 'usd', 'open', NULL, 'k1', 'a@b', now() + interval '31 min', 'cs_1', NULL),
	('p2', 3, 'new', 1, 100, 'usd', 'paid', 'applied', 'k2', 'a@b', now(), 'cs_2', now()),
	('p3', 4, 'new', 1, 100, 'usd', 'paid', 'applied', 'k3', 'a@b', now(), 'cs_3', now()),
	('p4', 5, 'new', 1, 100, 'usd', 'paid', 'applied', 'k4', 'a@b', now(), 'cs_4', now()),
	('p5', 6, 'new', 1, 100, 'usd', 'paid', 'returned', 'k5', 'a@b', now(), 'cs_5', now());
	INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key) VALUES
	('r1', 4, 100, 'usd', 'pending', 'unapproved', 'kr1'), ('r2', 5, 100, 'usd', 'pending', 'blocks_gone', 'kr2');
	UPDATE payments SET unwound_at = now() WHERE id = 4;
	INSERT INTO creatives (key, rental_id, revision, state, link, link_host, title, alt, fit, picture, picture_2x) VALUES
	('c1', 4, 1, 'approved', 'x', 'x', 'x', 'x', 'cover', 'p', 'p'), ('c2', 3, 1, 'pending', 'x', 'x', 'x', 'x', 'cover', 'p', 'p');

	INSERT INTO ledger (kind, effective_at, claim_id, payment_id, refund_id, blocks, amount, currency, actor)
	SELECT 'hold.placed', now(), id, NULL::bigint, NULL::bigint, 4, 0, 'usd', 'buyer' FROM rentals
	UNION ALL SELECT 'area.blocked', now(), 7, NULL, NULL, 4, 0, 'usd', 'admin'
	UNION ALL SELECT 'rental.closed', now(), id, NULL, NULL, -4, 0, 'usd', 'system' FROM rentals WHERE state = 'closed'
	UNION ALL SELECT 'payment.booked', now(), rental_id, id, NULL, 0, 100, 'usd', 'stripe' FROM payments WHERE state = 'paid'
	UNION ALL SELECT 'refund.made', now(), NULL, payment_id, id, 0, -100, 'usd', 'system' FROM refunds;

	UPDATE rentals SET go_live_at = date_trunc('hour', now() + interval '2 days') WHERE id = 3;
	INSERT INTO capacity_entries (rental_id, due, blocks) SELECT id, go_live_at, 4 FROM rentals WHERE id = 3;
	INSERT INTO ledger (kind, effective_at, claim_id, w, h, currency, actor)
	SELECT 'slot.taken', due, 3, 2, 2, 'usd', 'buyer' FROM capacity_entries;
	INSERT INTO capacity_counters (metric, bucket, used)
	SELECT 'review.images', date_trunc('hour', due, 'UTC'), 1 FROM capacity_entries
	UNION ALL SELECT 'launch.pixels', date_trunc('day', due, 'UTC'), 400 FROM capacity_entries;

	INSERT INTO stripe_events (id, type, livemode, payload) VALUES ('evt_1', 'x', false, '');
	INSERT INTO mails (fact, kind, recipient, subject, text_body, html_body) VALUES ('f', 'k', 'a@b', '', '', '');

	INSERT INTO river_job (kind, args, max_attempts, state, scheduled_at)
	SELECT 'settle', jsonb_build_object('rental', id), 3, 'scheduled'::river_job_state,
	       CASE state WHEN 'paid' THEN approve_by WHEN 'live' THEN ends_at ELSE leased_until END FROM rentals WHERE state <> 'closed'
	UNION ALL SELECT 'end_checkout', '{"payment": 1}', 3, 'scheduled', now()
	UNION ALL SELECT 'make_refund', jsonb_build_object('refund', id), 3, 'available', now() FROM refunds
	UNION ALL SELECT 'apply_event', '{"event": "evt_1"}', 3, 'available', now()
	UNION ALL SELECT 'send_mail', '{"mail": 1}', 3, 'available', now()
	UNION ALL SELECT 'unblock', '{"area": 7}', 3, 'scheduled', now() + interval '1 year';
	SELECT setval('claim_ids', 100);`

// breaks are one way at least to break each invariant, by its beginning. The
// guards of the database are off where they would not let it happen.
func breaks() map[string][]string {
	return map[string][]string{
		"the grid has": {`ALTER TABLE blocks DISABLE TRIGGER ALL; DELETE FROM blocks WHERE x = 99 AND y = 99; ALTER TABLE blocks ENABLE TRIGGER ALL`},
		"a claim that is not over": {
			unguarded(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE x = 0 AND y = 0`),
			unguarded(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id = 7`),
			unguarded(`UPDATE blocks b SET claim_id = 2, leased_until = (SELECT leased_until FROM rentals WHERE id = 2) WHERE x = 0 AND y = 0`),
		},
		"no block outside a rect":     {unguarded(`UPDATE blocks SET claim_id = 1, leased_until = (SELECT leased_until FROM rentals WHERE id = 1) WHERE x = 5 AND y = 5`)},
		"no block belongs to a claim": {unguarded(`UPDATE blocks SET claim_id = 5, leased_until = now() + interval '1 h' WHERE x = 5 AND y = 5`), unguarded(`UPDATE blocks SET claim_id = 999, leased_until = now() WHERE x = 5 AND y = 5`)},
		"no block has a lease":        {`ALTER TABLE blocks DROP CONSTRAINT blocks_lease_needs_claim; UPDATE blocks SET leased_until = now() WHERE x = 5 AND y = 5`},
		"blocks and rentals agree":    {`UPDATE rentals SET leased_until = leased_until + interval '1 microsecond' WHERE id = 1`, `UPDATE blocked_areas SET until = until + interval '1 s'`},
		"a lease is what its state": {
			`UPDATE rentals SET approve_by = approve_by + interval '1 s' WHERE id = 3`, `UPDATE rentals SET ends_at = leased_until + interval '1 s' WHERE id = 4`,
			`UPDATE rentals SET counted_from = counted_from - interval '2 days' WHERE id = 2`,
			`UPDATE rentals SET state = 'ended', reserved_until = leased_until + interval '1 s' WHERE id = 4`,
			`UPDATE rentals SET state = 'ended', reserved_until = leased_until - interval '2 days' WHERE id = 4`,
		},
		"a first payment buys one": {`INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, outcome, idempotency_key, email, expires_at, paid_at) VALUES ('x', 3, 'new', 1, 1, 'usd', 'paid', 'applied', 'x', '', now(), now())`},
		"a rental is paid exactly": {`UPDATE payments SET outcome = 'returned' WHERE id = 2`, `UPDATE payments SET outcome = 'applied' WHERE id = 5`},
		"what went back in full": {
			`UPDATE payments SET unwound_at = NULL WHERE id = 4`, `UPDATE payments SET unwound_at = now() WHERE id = 3`,
		},
		"the time of a rental":        {`UPDATE rentals SET ends_at = ends_at + interval '1 h' WHERE id = 4`, `UPDATE payments SET weeks = 2 WHERE id = 3`},
		"money that bought nothing":   {`UPDATE refunds SET amount = 99 WHERE id = 2`},
		"money of a rental":           {`UPDATE refunds SET amount = 99 WHERE id = 1`},
		"refunds do not exceed":       {`INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key) VALUES ('x', 4, 1, 'usd', 'pending', '', 'x')`},
		"refunds are in the currency": {`UPDATE refunds SET currency = 'eur' WHERE id = 1`},
		"the ledger's blocks":         {`INSERT INTO ledger (kind, effective_at, claim_id, blocks, currency, actor) VALUES ('x', now(), 1, 1, 'usd', 'x')`, unguardedLedger(`DELETE FROM ledger WHERE claim_id = 7`)},
		"the ledger's money":          {`INSERT INTO ledger (kind, effective_at, payment_id, amount, currency, actor) VALUES ('x', now(), 2, 1, 'usd', 'x')`, unguardedLedger(`UPDATE ledger SET amount = 99 WHERE amount = 100 AND payment_id = 2`)},
		"nothing that is paid":        {`UPDATE payments SET rental_id = 3 WHERE id = 1`},
		"a closed rental is not":      {`UPDATE payments SET rental_id = 5 WHERE id = 1`},
		"nothing is live without":     {`UPDATE creatives SET state = 'superseded' WHERE id = 1`},
		"no closed rental waits":      {`UPDATE creatives SET rental_id = 5 WHERE id = 2`},
		"every rental began with":     {unguardedLedger(`UPDATE ledger SET kind = 'x' WHERE claim_id = 3 AND kind = 'hold.placed'`)},
		"what the ledger tells of":    {`INSERT INTO ledger (kind, effective_at, claim_id, currency, actor) VALUES ('x', now(), 999, 'usd', 'x')`, `INSERT INTO ledger (kind, effective_at, payment_id, currency, actor) VALUES ('x', now(), 999, 'usd', 'x')`, `INSERT INTO ledger (kind, effective_at, refund_id, currency, actor) VALUES ('x', now(), 999, 'usd', 'x')`},
		"the counters of capacity": {
			`UPDATE capacity_counters SET used = used + 1 WHERE metric = 'review.images'`,
			`DELETE FROM capacity_counters WHERE metric = 'launch.pixels'`, `DELETE FROM capacity_entries`,
			`INSERT INTO capacity_counters (metric, bucket, used) VALUES ('review.images', '2000-01-01', 1)`,
		},
		"what is entered in capacity": {
			`INSERT INTO capacity_entries (rental_id, due, blocks) VALUES (1, now(), 4)`, `UPDATE capacity_entries SET blocks = 5`,
			`INSERT INTO ledger (kind, effective_at, claim_id, w, h, currency, actor) SELECT 'slot.returned', due, 3, 2, 2, 'usd', 'x' FROM capacity_entries`,
		},
		"a place in capacity": {`UPDATE rentals SET state = 'closed', closed_reason = 'cancelled', closed_at = now(), leased_until = NULL WHERE id = 3`},
		"a go-live time to come": {
			`UPDATE rentals SET go_live_at = go_live_at + interval '1 h' WHERE id = 3`, `UPDATE rentals SET go_live_at = now() + interval '1 s' WHERE id = 1`,
		},
		"the guards of the database": {`ALTER TABLE ledger DISABLE TRIGGER ledger_is_append_only`, `DROP TRIGGER rentals_stay ON rentals`},
		"no deadline is overdue": {
			lapsed(1, 16), `UPDATE rentals SET approve_by = now() - interval '16 min', leased_until = now() - interval '16 min' WHERE id = 3`,
			`UPDATE rentals SET ends_at = now() - interval '16 min' WHERE id = 4`,
		},
		"no blocked area is overdue": {`UPDATE blocked_areas SET until = now() - interval '16 min'`},
		"every rental that time":     {`DELETE FROM river_job WHERE kind = 'settle' AND args ->> 'rental' = '3'`, `UPDATE river_job SET scheduled_at = scheduled_at - interval '1 s' WHERE kind = 'settle' AND args ->> 'rental' = '3'`, `UPDATE river_job SET scheduled_at = scheduled_at + interval '16 min' WHERE kind = 'settle' AND args ->> 'rental' = '1'`},
		"every blocked area":         {`DELETE FROM river_job WHERE kind = 'unblock'`},
		"every open payment page":    {`UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE kind = 'end_checkout'`},
		"every refund that Stripe":   {`DELETE FROM river_job WHERE kind = 'make_refund' AND args ->> 'refund' = '1'`},
		"every event that is not":    {`DELETE FROM river_job WHERE kind = 'apply_event'`},
		"every mail that is not":     {`DELETE FROM river_job WHERE kind = 'send_mail'`},
	}
}

func unguarded(sql string) string {
	return `ALTER TABLE blocks DISABLE TRIGGER claims_stay_whole; ` + sql + `; ALTER TABLE blocks ENABLE TRIGGER claims_stay_whole`
}

func unguardedLedger(sql string) string {
	return `ALTER TABLE ledger DISABLE TRIGGER ALL; ` + sql + `; ALTER TABLE ledger ENABLE TRIGGER ALL`
}

// lapsed lets a lease run out some minutes ago.
func lapsed(id, minutes int) string {
	return fmt.Sprintf(`UPDATE rentals SET leased_until = now() - interval '%[2]d min' WHERE id = %[1]d;
		UPDATE blocks SET claim_id = claim_id, leased_until = now() - interval '%[2]d min' WHERE claim_id = %[1]d`, id, minutes)
}

func sound(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, testdb.Options{Unchecked: true, MaxConns: 2})
	if _, err := pool.Exec(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	if found, err := check.Run(t.Context(), pool); err != nil || len(found) > 0 {
		t.Fatalf("the sound market is not: %v, %v", found, err)
	}
	return pool
}

func TestEachInvariantCanFail(t *testing.T) {
	t.Parallel()
	pool := sound(t)
	for _, name := range check.Names() {
		known := false
		for begins := range breaks() {
			known = known || strings.HasPrefix(name, begins)
		}
		if !known {
			t.Errorf("nobody breaks %q", name)
		}
	}
	for name, ways := range breaks() {
		for _, sql := range ways {
			found := broken(t, pool, sql)
			told := false
			for _, line := range found {
				told = told || strings.HasPrefix(line, name)
			}
			if !told {
				t.Errorf("%s: broken by\n%s\nand nobody notices: %v", name, sql, found)
			}
		}
	}
}

// broken says what is found after a change, and takes it back.
func broken(t *testing.T, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	found, err := check.Run(t.Context(), breaker{pool, sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}

// breaker gives transactions in which something was broken. The check never
// commits.
type breaker struct {
	pool *pgxpool.Pool
	sql  string
}

func (b breaker) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) {
	tx, err := b.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, b.sql)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return tx, nil
}

// What is late, but not by a quarter of an hour, is sound; so is a market
// whose jobs are at it.
func TestLateIsNotBroken(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a hold lapsed":    lapsed(1, 14),
		"a job is running": `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() WHERE kind = 'settle'`,
		"a job is retried": `UPDATE river_job SET state = 'retryable' WHERE kind IN ('make_refund', 'end_checkout')`,
	} {
		pool := sound(t)
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		if found, err := check.Run(t.Context(), pool); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
