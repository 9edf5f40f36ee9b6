package repeat

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/market"
)

// Memory remembers requests in the database. All processes share it.
type Memory struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	turns chan struct{}
}

// turns bounds how many requests of a process hold a connection for their key
// while their verb needs another one.
const turns = 4

// New makes a memory.
func New(pool *pgxpool.Pool, log *slog.Logger) *Memory {
	return &Memory{pool: pool, log: log, turns: make(chan struct{}, turns)}
}

// The length of a key, in printable ASCII characters.
const minKey, maxKey = 8, 200

// Check judges a key. An empty one is fine: the request cannot be recognised
// again then.
func Check(field, key string) error {
	wrong := key != "" && (len(key) < minKey || len(key) > maxKey)
	for i := range len(key) {
		wrong = wrong || key[i] < ' ' || key[i] > '~'
	}
	if wrong {
		return fault.Field(field, fmt.Sprintf("%s must be %d to %d printable ASCII characters, sent once", field, minKey, maxKey))
	}
	return nil
}

// Once runs a verb at most once for a key. Its row is inserted first, so that
// a second copy waits for the first one and gets its answer. Nothing but
// PostgreSQL may be waited for inside.
func Once[T any](ctx context.Context, m *Memory, req market.Request, run func() (T, error)) (T, error) {
	if req.Key == "" {
		return run()
	}
	var answer T
	select {
	case m.turns <- struct{}{}:
		defer func() { <-m.turns }()
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	done := false
	err := db.InTx(ctx, m.pool, "remember a request", func(ctx context.Context, tx pgx.Tx) error {
		fresh, err := enter(ctx, tx, req, nil)
		if err != nil {
			return err
		}
		if !fresh {
			_, err = recall(ctx, tx, req, &answer)
			return err
		}
		if answer, err = run(); err != nil {
			return err
		}
		done = true
		return note(ctx, tx, req, answer)
	})
	if err != nil && done { // it was carried out: that is the answer
		m.log.WarnContext(ctx, "an answer could not be remembered", "error", err)
		return answer, nil
	}
	return answer, err
}

// Outside is Once for a verb that asks Stripe and is itself the same when it
// is repeated: the answer is written down when it is there.
func Outside[T any](ctx context.Context, m *Memory, req market.Request, run func() (T, error)) (T, error) {
	var answer T
	if req.Key == "" {
		return run()
	}
	if again, err := recall(ctx, m.pool, req, &answer); again || err != nil {
		return answer, err
	}
	answer, err := run()
	if err != nil {
		return answer, err
	}
	if _, err := enter(ctx, m.pool, req, answer); err != nil {
		m.log.WarnContext(ctx, "an answer could not be remembered", "error", err)
	}
	return answer, nil
}
