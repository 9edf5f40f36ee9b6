package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tuval/internal/db"
	"tuval/internal/grid"
	"tuval/internal/ledger"
	"tuval/internal/testdb"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	at := time.Date(2027, 1, 2, 3, 4, 5, 678000, time.UTC)
	err := db.InTx(t.Context(), pool, "append", func(ctx context.Context, tx pgx.Tx) error {
		return ledger.Append(
			ctx, tx,
			ledger.Event{Kind: ledger.HoldPlaced, Claim: 7, Rect: grid.Rect{X: 1, Y: 2, W: 3, H: 4}, Blocks: 12, Currency: "usd", Actor: ledger.Buyer},
			ledger.Event{Kind: ledger.RefundMade, EffectiveAt: at, Claim: 7, Payment: 8, Refund: 9, Amount: -500, Currency: "usd", Actor: ledger.Stripe},
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	var n, blocks, amount, xids int
	var effective time.Time
	const sums = `SELECT count(*), sum(blocks), sum(amount), count(DISTINCT xid), max(effective_at) FROM ledger WHERE claim_id = 7`
	if err := pool.QueryRow(t.Context(), sums).Scan(&n, &blocks, &amount, &xids, &effective); err != nil {
		t.Fatal(err)
	}
	if n != 2 || blocks != 12 || amount != -500 || xids != 1 || !effective.Equal(at) {
		t.Errorf("%d events, %d blocks, %d, %d transactions, effective %v", n, blocks, amount, xids, effective)
	}
	const nothing = `SELECT count(*) FROM ledger WHERE payment_id IS NULL AND refund_id IS NULL AND effective_at <= recorded_at AND x = 1 AND h = 4`
	if err := pool.QueryRow(t.Context(), nothing).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d events without payment and refund, effective when they were recorded: %v", n, err)
	}
}

// What was written stays: the database refuses, whoever asks.
func TestHistoryAndOrdersStay(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	var statements []string
	for _, table := range []string{"rentals", "payments", "refunds", "creatives", "stripe_events", "blocked_areas", "ledger", "blocks"} {
		statements = append(statements, "DELETE FROM "+table, "DELETE FROM "+table+" WHERE false", "TRUNCATE "+table+" CASCADE")
	}
	statements = append(
		statements,
		"UPDATE ledger SET amount = 0", "UPDATE ledger SET amount = 0 WHERE false",
		"INSERT INTO blocks (y, x) VALUES (1, 1)", "INSERT INTO blocks (y, x) VALUES (1, 1) ON CONFLICT DO NOTHING",
		"UPDATE rentals SET x = 1", "UPDATE rentals SET id = 1", "UPDATE blocked_areas SET w = 1",
	)
	for _, sql := range statements {
		_, err := pool.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "23001" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"UPDATE blocks SET x = 100 WHERE x = 99", "UPDATE blocks SET leased_until = now() WHERE x = 1 AND y = 1",
		"UPDATE blocks SET claim_id = 5 WHERE x = 1 AND y = 1",
	} {
		_, err := pool.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || !strings.HasPrefix(pg.Code, "23") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
