package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/fault"
)

// Querier is what a plain read needs: a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Settings say how to open a pool.
type Settings struct {
	URL      string
	Name     string // application_name, shown in pg_stat_activity
	MaxConns int32
}

// The limits each connection is opened with. A transaction that waits longer
// for a lock gives up and says "try again" instead of queueing people.
const (
	lockTimeout      = "4s"
	statementTimeout = "20s"
	idleInTxTimeout  = "5s"
)

// Open makes a pool whose connections carry our limits and speak UTC. It does
// not connect yet.
func Open(ctx context.Context, s Settings) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(s.URL)
	if err != nil {
		return nil, fmt.Errorf("db: read the address: %w", err)
	}
	for name, value := range map[string]string{
		"application_name": s.Name, "timezone": "UTC", "lock_timeout": lockTimeout,
		"statement_timeout": statementTimeout, "idle_in_transaction_session_timeout": idleInTxTimeout,
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
	if s.MaxConns > 0 {
		c.MaxConns = s.MaxConns
	}
	c.ConnConfig.ConnectTimeout = 5 * time.Second
	c.AfterConnect = speakUTC
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("db: open: %w", err)
	}
	return pool, nil
}

// speakUTC makes every instant that is read carry UTC, whatever the zone of
// the machine.
func speakUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

// Beginner starts transactions: a pool or a connection.
type Beginner interface {
	BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
}

// InTx runs fn in one transaction and commits when it returns nil. The name
// is the operation, for errors. Busy or absent databases are a fault of kind
// Unavailable; other errors pass through, wrapped with the name.
func InTx(ctx context.Context, pool Beginner, name string, fn func(ctx context.Context, tx pgx.Tx) error) error {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return Explain(name, err)
	}
	defer rollback(ctx, tx)
	if err := fn(ctx, tx); err != nil {
		return Explain(name, err)
	}
	if err := tx.Commit(ctx); err != nil {
		return Explain(name, err)
	}
	return nil
}

// rollback ends a transaction that did not commit, also when the caller gave
// up: an open transaction would keep its locks until a time limit.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	_ = tx.Rollback(ctx) // after a commit this is ErrTxClosed and means nothing
}

// Explain wraps err with the operation and turns "busy" and "away" into a
// fault of kind Unavailable. A fault stays the fault it is.
func Explain(name string, err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	wrapped := fmt.Errorf("%s: %w", name, err)
	if busy(err) || away(err) {
		return fault.Away("Too busy at the moment. Please try again.", time.Second).Because(wrapped)
	}
	return wrapped
}

// busy is PostgreSQL giving up on a lock or a limit of ours.
func busy(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case "55P03", "57014", "40P01", "40001", "25P03", "53300", "57P01", "57P02", "57P03", "25006":
		return true
	}
	return pg.Code[:2] == "08"
}

// away is a connection that could not be made or broke.
func away(err error) bool {
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	return errors.As(err, &connect) || errors.Is(err, context.DeadlineExceeded) ||
		pgconn.SafeToRetry(err) || (!errors.As(err, &pg) && isNetwork(err))
}
