package stripesim

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Age moves sessions, payments, charges, refunds and disputes into the past,
// so that the end of a session can be lived through. It leaves alone what
// must not be relived: events and their webhooks, idempotency keys and the
// journal. Where there is no simulator's schema it does nothing.
func Age(ctx context.Context, tx pgx.Tx, by time.Duration) error {
	if by <= 0 {
		return fmt.Errorf("stripesim: age by %s: must be more than nothing", by)
	}
	var there bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass('stripesim.sessions') IS NOT NULL`).Scan(&there); err != nil || !there {
		return wrap("stripesim: age", err)
	}
	// The order is the one in which paying and refunding lock their rows.
	for _, sql := range []string{
		`UPDATE stripesim.sessions SET created = created - $1::interval, expires_at = expires_at - $1::interval`,
		`UPDATE stripesim.payment_intents SET created = created - $1::interval`,
		`UPDATE stripesim.charges SET created = created - $1::interval`,
		`UPDATE stripesim.refunds SET created = created - $1::interval`,
		`UPDATE stripesim.disputes SET created = created - $1::interval`,
	} {
		if _, err := tx.Exec(ctx, sql, by); err != nil {
			return wrap("stripesim: age", err)
		}
	}
	return nil
}

func wrap(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", operation, err)
}
