package db_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/testdb"
)

func open(t *testing.T, conns int32) *pgxpool.Pool {
	t.Helper()
	pool, err := db.Open(t.Context(), db.Settings{URL: testdb.URL(t), Name: "db test", MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, pool *pgxpool.Pool, sql string) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// isAway fails the test unless err says "try again", with when and why.
func isAway(t *testing.T, err error) {
	t.Helper()
	f := fault.As(err)
	if f.Kind != fault.Unavailable || f.RetryAfter <= 0 || f.Err == nil {
		t.Errorf("got %v (%s), want unavailable", err, f.Code)
	}
}

func TestOpenSetsOurLimits(t *testing.T) {
	t.Parallel()
	pool := open(t, 2)
	for setting, want := range map[string]string{
		"lock_timeout": "4s", "statement_timeout": "20s", "idle_in_transaction_session_timeout": "5s",
		"TimeZone": "UTC", "application_name": "db test",
	} {
		var got string
		if err := pool.QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	var at time.Time
	if err := pool.QueryRow(t.Context(), `SELECT now()`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	if at.Location() != time.UTC {
		t.Errorf("instants carry %v", at.Location())
	}
	if _, err := db.Open(t.Context(), db.Settings{URL: "postgres://%zz"}); err == nil {
		t.Error("an address that is none was accepted")
	}
}

func TestInTxCommitsOrNothing(t *testing.T) {
	t.Parallel()
	pool := open(t, 2)
	exec(t, pool, `CREATE TABLE seen (n int)`)
	insert := func(then error) func(context.Context, pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO seen VALUES (1)`); err != nil {
				return err
			}
			return then
		}
	}
	if err := db.InTx(t.Context(), pool, "good", insert(nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := db.InTx(t.Context(), pool, "bad", insert(broken)); !errors.Is(err, broken) || err.Error() != "bad: broken" {
		t.Errorf("%v", err)
	}
	taken := fault.Taken("taken")
	if err := db.InTx(t.Context(), pool, "refused", insert(taken)); err != error(taken) {
		t.Errorf("a refusal became %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.InTx(t.Context(), pool, "panic", func(ctx context.Context, tx pgx.Tx) error {
			_ = insert(nil)(ctx, tx)
			panic("on the way")
		})
	}()
	if n := count(t, pool, `SELECT count(*) FROM seen`); n != 1 {
		t.Errorf("%d rows, want the one that was committed", n)
	}
	if n := count(t, pool, `SELECT count(*) FROM pg_locks WHERE relation = 'seen'::regclass`); n != 0 {
		t.Errorf("%d locks are left", n)
	}
}

// The caller gives up between two statements: the locks go at once, not when a
// time limit ends them, and the connection is used again.
func TestRollbackSurvivesACancelledContext(t *testing.T) {
	t.Parallel()
	pool := open(t, 1)
	exec(t, pool, `CREATE TABLE seen (n int)`)
	ctx, leave := context.WithCancel(t.Context())
	err := db.InTx(ctx, pool, "left", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO seen VALUES (1)`); err != nil {
			return err
		}
		leave()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := count(t, pool, `SELECT count(*) FROM pg_locks WHERE relation = 'seen'::regclass`); n != 0 {
		t.Errorf("%d locks are left", n)
	}
	if n := count(t, pool, `SELECT count(*) FROM seen`); n != 0 {
		t.Errorf("%d rows", n)
	}
	if n := pool.Stat().NewConnsCount(); n != 1 {
		t.Errorf("%d connections were opened, the first was good", n)
	}
}

// The caller gives up under a statement, or before the commit: nothing stays.
func TestCancelUnderAStatement(t *testing.T) {
	t.Parallel()
	pool := open(t, 3)
	exec(t, pool, `CREATE TABLE seen (n int)`)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		left <- db.InTx(ctx, pool, "left", func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO seen VALUES (1)`); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `SELECT pg_sleep(15)`)
			return err
		})
	}()
	for count(t, pool, `SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND datname = current_database()`) == 0 {
	}
	leave()
	if err := <-left; err == nil {
		t.Error("committed for somebody who left")
	}
	for count(t, pool, `SELECT count(*) FROM pg_locks WHERE relation = 'seen'::regclass`) > 0 {
	}
	if n := count(t, pool, `SELECT count(*) FROM seen`); n != 0 {
		t.Errorf("%d rows", n)
	}
}

func TestLockTimeoutIsUnavailable(t *testing.T) {
	t.Parallel()
	pool := open(t, 3)
	exec(t, pool, `CREATE TABLE seen (n int)`)
	held, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	if _, err := held.Exec(t.Context(), `LOCK TABLE seen; SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
		t.Fatal(err)
	}
	isAway(t, db.InTx(t.Context(), pool, "wait", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '50ms'; LOCK TABLE seen`)
		return err
	}))
	isAway(t, db.InTx(t.Context(), pool, "slow", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SET LOCAL statement_timeout = '50ms'; LOCK TABLE seen`)
		return err
	}))
	isAway(t, db.InTx(t.Context(), pool, "deadlock", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$`)
		return err
	}))
}

func TestKilledBackendIsUnavailable(t *testing.T) {
	t.Parallel()
	pool := open(t, 2)
	kill := func(ctx context.Context, tx pgx.Tx) {
		var pid int
		if err := tx.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
			t.Error(err)
		}
		if _, err := pool.Exec(ctx, `SELECT pg_terminate_backend($1, 5000)`, pid); err != nil {
			t.Error(err)
		}
	}
	isAway(t, db.InTx(t.Context(), pool, "killed", func(ctx context.Context, tx pgx.Tx) error {
		kill(ctx, tx)
		_, err := tx.Exec(ctx, `SELECT 1`)
		return err
	}))
	isAway(t, db.InTx(t.Context(), pool, "killed before the commit", func(ctx context.Context, tx pgx.Tx) error {
		kill(ctx, tx)
		return nil
	}))
	if err := pool.Ping(t.Context()); err != nil {
		t.Errorf("the pool did not heal: %v", err)
	}
}

func TestServerThatIsNotThereIsUnavailable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	pool, err := db.Open(t.Context(), db.Settings{URL: "postgres://nobody@" + address + "/nothing"})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	isAway(t, db.InTx(t.Context(), pool, "nobody there", func(context.Context, pgx.Tx) error { return nil }))
	_, err = pool.Exec(t.Context(), `SELECT 1`)
	isAway(t, db.Explain("nobody there", err))
}

func TestExplain(t *testing.T) {
	t.Parallel()
	if db.Explain("nothing", nil) != nil {
		t.Error("no error became one")
	}
	for code, away := range map[string]bool{
		"55P03": true, "57014": true, "40P01": true, "40001": true, "25P03": true, "53300": true, "57P01": true, "57P02": true,
		"57P03": true, "25006": true, "08006": true, "08P01": true, "23505": false, "23514": false, "42601": false, "XX000": false,
	} {
		err := db.Explain("op", &pgconn.PgError{Code: code, Message: "secret words of the database"})
		f := fault.As(err)
		if (f.Kind == fault.Unavailable) != away || !away && f.Kind != fault.Internal {
			t.Errorf("%s: %v", code, f.Code)
		}
		if f.Msg == "" || f.Msg == "secret words of the database" {
			t.Errorf("%s: a person would read %q", code, f.Msg)
		}
	}
	for name, err := range map[string]error{
		"deadline": context.DeadlineExceeded, "broken": io.ErrUnexpectedEOF, "closed": net.ErrClosed,
		"network": &net.OpError{Op: "read", Err: errors.New("reset")},
	} {
		isAway(t, db.Explain(name, err))
	}
	if f := fault.As(db.Explain("left", context.Canceled)); f.Kind != fault.Internal {
		t.Errorf("a caller who left: %v", f.Code)
	}
}
