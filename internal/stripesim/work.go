package stripesim

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

// work is one change of the simulator's state: one transaction, and the
// events it causes, which are written at its very end.
type work struct {
	sim    *Sim
	tx     pgx.Tx
	now    time.Time // of the transaction, whole seconds
	origin origin
	events []pendingEvent
	sent   []string // ids of the events, once written
}

// origin is who asked: an API call with its key, or nobody (the pay page, the
// dashboard, time).
type origin struct {
	requestID string
	key       string
	base      string // where a browser finds the pay pages
}

// inWork runs fn in one transaction. When fn refuses, nothing has happened.
// It returns the ids of the events that were caused.
func (s *Sim) inWork(ctx context.Context, name string, o origin, fn func(ctx context.Context, w *work) error) ([]string, error) {
	if o.base == "" {
		o.base = s.o.BaseURL
	}
	w := &work{sim: s, origin: o}
	err := db.InTx(ctx, s.o.Pool, "stripesim: "+name, func(ctx context.Context, tx pgx.Tx) error {
		w.tx = tx
		if err := tx.QueryRow(ctx, `SELECT date_trunc('second', now())`).Scan(&w.now); err != nil {
			return err
		}
		if err := fn(ctx, w); err != nil {
			return err
		}
		return w.writeEvents(ctx)
	})
	if err != nil {
		return nil, err
	}
	if len(w.sent) > 0 {
		s.nudge()
	}
	return w.sent, nil
}

// act runs fn as a whole change and gives its result.
func act[T any](ctx context.Context, s *Sim, name string, o origin, fn func(ctx context.Context, w *work) (T, error)) (T, error) {
	var result T
	_, err := s.inWork(ctx, name, o, func(ctx context.Context, w *work) error {
		var err error
		result, err = fn(ctx, w)
		return err
	})
	return result, err
}

// one reads the single row of a statement; nil without an error means that
// the statement's condition did not hold.
func one[T any](ctx context.Context, q db.Querier, sql string, args pgx.StrictNamedArgs) (*T, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[T])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return v, err
}

// many reads all rows of a statement.
func many[T any](ctx context.Context, q db.Querier, sql string, args pgx.StrictNamedArgs) ([]*T, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[T])
}
