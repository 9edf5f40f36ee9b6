package payment_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/payment"
	"tuval/internal/testdb"
)

// shop is one rental with one payment, one refund and one dispute of it.
func shop(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	const sql = `INSERT INTO persons DEFAULT VALUES;
		INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, price_per_week, currency, counted_from, leased_until)
		VALUES (1, 'r', 'r', 1, '', 0, 0, 1, 1, 'held', 1, 'usd', now(), now());
		INSERT INTO payments (key, rental_id, purpose, weeks, amount, currency, state, idempotency_key, email, expires_at)
		VALUES ('p', 1, 'new', 1, 100, 'usd', 'open', 'k', '', now());
		INSERT INTO refunds (key, payment_id, amount, currency, state, reason, idempotency_key) VALUES ('f', 1, 100, 'usd', 'pending', '', 'k');
		INSERT INTO disputes (id, payment_id, amount, currency, state, reason) VALUES ('d', 1, 100, 'usd', 'open', '')`
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	return pool
}

// tried is what a statement made of a row that was put into a state, and what
// it reports; it is undone.
func tried(t *testing.T, pool *pgxpool.Pool, put, table string, do func(context.Context, pgx.Tx) (bool, error)) (state string, moved bool) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	if moved, err = do(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `SELECT state FROM `+table).Scan(&state); err != nil {
		t.Fatal(err)
	}
	return state, moved
}

// follows fails unless the statement moves each state exactly where the machine
// has an arrow, and says so.
func follows[S ~string](t *testing.T, name string, machine []payment.Transition[S], from, to S, got string, moved bool) {
	t.Helper()
	want := from
	for _, a := range machine {
		if a.From == from && a.To == to {
			want = to
		}
	}
	if got != string(want) || moved != (want != from) {
		t.Errorf("%s of a %s one makes it %s and reports %v; the machine says %s", name, from, got, moved, want)
	}
}

func TestStatementsOfPaymentsFollowTheTransitions(t *testing.T) {
	t.Parallel()
	pool := shop(t)
	for name, s := range map[string]struct {
		to payment.State
		do func(context.Context, pgx.Tx) (bool, error)
	}{
		"expire": {payment.Expired, func(ctx context.Context, tx pgx.Tx) (bool, error) { return payment.Expire(ctx, tx, 1) }},
		"fail":   {payment.Failed, func(ctx context.Context, tx pgx.Tx) (bool, error) { return payment.Fail(ctx, tx, 1) }},
		"process": {payment.Processing, func(ctx context.Context, tx pgx.Tx) (bool, error) {
			return payment.Process(ctx, tx, 1, "cs", "pi")
		}},
		"book": {payment.Paid, func(ctx context.Context, tx pgx.Tx) (bool, error) {
			return payment.Book(ctx, tx, 1, payment.Applied, "cs", "pi")
		}},
	} {
		for _, from := range []payment.State{payment.Open, payment.Processing, payment.Paid, payment.Expired, payment.Failed} {
			put := fmt.Sprintf(`UPDATE payments SET state = '%s'`, from)
			if from == payment.Paid {
				put += `, paid_at = now(), outcome = 'returned'`
			}
			got, moved := tried(t, pool, put, "payments", s.do)
			follows(t, name, payment.Transitions(), from, s.to, got, moved)
		}
	}
}

// Stripe's word on a refund: each state, told by each, known at Stripe or not.
func TestStatementsOfRefundsFollowTheTransitions(t *testing.T) {
	t.Parallel()
	pool := shop(t)
	states := []payment.RefundState{payment.RefundPending, payment.RefundSucceeded, payment.RefundFailed}
	for _, from := range states {
		for _, to := range states {
			for _, known := range []string{"NULL", "'re_1'"} {
				put := fmt.Sprintf(`UPDATE refunds SET state = '%s', stripe_id = %s`, from, known)
				settle := func(ctx context.Context, tx pgx.Tx) (bool, error) {
					return payment.SettleRefund(ctx, tx, 1, "re_1", to, "")
				}
				got, moved := tried(t, pool, put, "refunds", settle)
				if from == to && from != payment.RefundFailed && known == "NULL" { // learns its id
					if !moved || got != string(from) {
						t.Errorf("%s, told %s, does not learn its id: %s, %v", from, to, got, moved)
					}
					continue
				}
				follows(t, "settle", payment.RefundTransitions(), from, to, got, moved)
			}
		}
	}
}

func TestStatementsOfDisputesFollowTheTransitions(t *testing.T) {
	t.Parallel()
	pool := shop(t)
	for _, from := range []payment.DisputeState{payment.DisputeOpen, payment.DisputeWon, payment.DisputeLost} {
		for _, to := range []payment.DisputeState{payment.DisputeWon, payment.DisputeLost} {
			put := fmt.Sprintf(`UPDATE disputes SET state = '%s'`, from)
			got, moved := tried(t, pool, put, "disputes", func(ctx context.Context, tx pgx.Tx) (bool, error) {
				return payment.CloseDispute(ctx, tx, "d", to)
			})
			follows(t, "close", payment.DisputeTransitions(), from, to, got, moved)
		}
	}
}

// A payment is unwound once, and only one whose weeks were given.
func TestUnwindIsOnce(t *testing.T) {
	t.Parallel()
	pool := shop(t)
	for put, want := range map[string]bool{
		`UPDATE payments SET state = 'paid', paid_at = now(), outcome = 'applied'`:                     true,
		`UPDATE payments SET state = 'paid', paid_at = now(), outcome = 'applied', unwound_at = now()`: false,
		`UPDATE payments SET state = 'paid', paid_at = now(), outcome = 'returned'`:                    false,
		`UPDATE payments SET state = 'expired'`:                                                        false,
	} {
		_, moved := tried(t, pool, put, "payments", func(ctx context.Context, tx pgx.Tx) (bool, error) { return payment.Unwind(ctx, tx, 1) })
		if moved != want {
			t.Errorf("%s: unwound %v", put, moved)
		}
	}
}
