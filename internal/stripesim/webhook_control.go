package stripesim

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Order says in which order released webhooks are tried for the first time.
type Order string

// The orders. OrderAny sends them at once, as usual.
const (
	OrderAny     Order = ""
	OrderCreated Order = "created"
	OrderReverse Order = "reverse"
)

// ReleaseWebhooks lets go what FaultHold kept back, and takes that fault
// away. With an order, each waits for the first attempt of the one before.
func (s *Sim) ReleaseWebhooks(ctx context.Context, order Order) error {
	const release = `
		UPDATE stripesim.deliveries SET held = false, batch = COALESCE(@batch, batch),
			rank = CASE WHEN @batch::text IS NULL THEN rank ELSE rank_of.n * @step END
		FROM (SELECT d.id, row_number() OVER (ORDER BY e.seq, d.id)::int AS n
			FROM stripesim.deliveries d JOIN stripesim.events e ON e.id = d.event WHERE d.held) rank_of
		WHERE deliveries.id = rank_of.id`
	var batch *string
	step := 1
	switch order {
	case OrderAny:
	case OrderReverse:
		step = -1
		fallthrough
	case OrderCreated:
		name := newID("release_")
		batch = &name
	default:
		return invalid("order", "", "Webhooks are released in the order created, reverse, or any (empty), not %q.", order)
	}
	_, err := s.inWork(ctx, "release webhooks", origin{}, func(ctx context.Context, w *work) error {
		if _, err := w.tx.Exec(ctx, `DELETE FROM stripesim.faults WHERE kind = $1`, FaultHold); err != nil {
			return err
		}
		_, err := w.tx.Exec(ctx, release, pgx.StrictNamedArgs{"batch": batch, "step": step})
		return err
	})
	s.nudge()
	return err
}

// Resend sends an event again, copies times at once, as its own copies do.
func (s *Sim) Resend(ctx context.Context, event string, copies int) error {
	if copies < 1 || copies > 1000 {
		return invalid("copies", "", "An event is sent again 1 to 1000 times.")
	}
	_, err := s.inWork(ctx, "resend", origin{}, func(ctx context.Context, w *work) error {
		tag, err := w.tx.Exec(ctx, `SELECT FROM stripesim.events WHERE id = $1`, event)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return missing("event", event, "id")
		}
		return insertDeliveries(ctx, w.tx, event, copies, false, nil, 0)
	})
	s.nudge()
	return err
}

// Webhook is one webhook and how it has gone so far.
type Webhook struct {
	ID          int64      `json:"id"`
	Event       string     `json:"event"`
	Type        string     `json:"type"`
	Held        bool       `json:"held"`
	Attempts    int        `json:"attempts"`
	NextAttempt time.Time  `json:"next_attempt_at"`
	DeliveredAt *time.Time `json:"delivered_at"`
	LastStatus  *int       `json:"last_status"`
	LastError   *string    `json:"last_error"`
}

// Webhooks lists what is or was to be sent, oldest first; at most the last
// 10,000.
func (s *Sim) Webhooks(ctx context.Context) ([]*Webhook, error) {
	const find = `
		SELECT * FROM (
			SELECT d.id, d.event, e.type, d.held, d.attempts, d.next_attempt_at AS next_attempt, d.delivered_at, d.last_status, d.last_error
			FROM stripesim.deliveries d JOIN stripesim.events e ON e.id = d.event ORDER BY d.id DESC LIMIT 10000
		) w ORDER BY id`
	found, err := many[Webhook](ctx, s.o.Pool, find, pgx.StrictNamedArgs{})
	return found, wrap("stripesim: webhooks", err)
}

// Idle waits until every webhook that is not held back has been delivered, or
// ctx is done: the signal for a test that all has been said.
func (s *Sim) Idle(ctx context.Context) error {
	const left = `SELECT count(*)::int AS n FROM stripesim.deliveries WHERE delivered_at IS NULL AND NOT held`
	return s.await(ctx, left, pgx.StrictNamedArgs{})
}

// awaitFirstAttempts waits until the webhooks of these events have been tried
// once, but not longer than 5 s.
func (s *Sim) awaitFirstAttempts(ctx context.Context, events []string) {
	const left = `
		SELECT count(*)::int AS n FROM stripesim.deliveries
		WHERE event = ANY (@events) AND attempts = 0 AND NOT held`
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	if err := s.await(ctx, left, pgx.StrictNamedArgs{"events": events}); err != nil {
		s.o.Logger.Warn("stripesim: answering before the webhook after all", "error", err)
	}
}

// await asks every few milliseconds until nothing is left: the sender may be
// in another process, so there is no channel to wait on.
func (s *Sim) await(ctx context.Context, sql string, args pgx.StrictNamedArgs) error {
	type row struct{ N int }
	for {
		r, err := one[row](ctx, s.o.Pool, sql, args)
		if err != nil {
			return wrap("stripesim: wait for webhooks", err)
		}
		if r == nil || r.N == 0 {
			return nil
		}
		pause(ctx, 5*time.Millisecond)
		if ctx.Err() != nil {
			return wrap("stripesim: wait for webhooks", ctx.Err())
		}
	}
}
