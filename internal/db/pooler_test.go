package db_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/testdb"
)

func TestDirectIsDirect(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for range 5 {
		if err := db.Direct(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
	}
}

// A real PgBouncer, where there is one: found out at the first look, in
// transaction mode, and not in session mode.
func TestPoolerIsFoundOut(t *testing.T) {
	t.Parallel()
	program, err := osexec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("PgBouncer is not installed")
	}
	url := testdb.URL(t)
	for mode, want := range map[string]error{"transaction": db.ErrPooled, "session": nil} {
		through := bouncer(t, program, url, mode, "ignore_startup_parameters = lock_timeout,statement_timeout,idle_in_transaction_session_timeout\n")
		pool, err := db.Open(t.Context(), db.Settings{URL: through, Name: "test", MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Direct(t.Context(), pool); !errors.Is(err, want) {
			t.Errorf("%s: %v", mode, err)
		}
		pool.Close()
	}
	pool, err := db.Open(t.Context(), db.Settings{URL: bouncer(t, program, url, "transaction", ""), Name: "test", MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := db.Pooled(pool.Ping(t.Context())); !errors.Is(err, db.ErrPooled) {
		t.Errorf("with its usual settings: %v", err)
	}
}

// bouncer runs PgBouncer in front of the database and returns the address.
func bouncer(t *testing.T, program, url, mode, more string) string {
	t.Helper()
	c, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir, err := os.MkdirTemp("", "bouncer") // others may enter, unlike t.TempDir of root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ini := fmt.Sprintf("[databases]\n%s = host=%s port=%d user=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = any\npool_mode = %s\n%s",
		c.Database, c.Host, c.Port, c.User, port, mode, more)
	file := filepath.Join(dir, "bouncer.ini")
	if err := errors.Join(os.WriteFile(file, []byte(ini), 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := osexec.CommandContext(ctx, program, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner(t, c.Host)}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
			return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", c.User, address, c.Database)
		}
		if time.Now().After(deadline) {
			stop()
			_ = cmd.Wait()
			t.Fatalf("PgBouncer never came up: %v\n%s", err, said.String())
		}
	}
}

// owner is whom the server's socket lets in; nil when that is us.
func owner(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	uid := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case uid == 0:
		t.Skip("PgBouncer does not run as root, and nobody else may use the server's socket")
	case int(uid) == os.Geteuid():
		return nil
	}
	return &syscall.Credential{Uid: uid, Gid: info.Sys().(*syscall.Stat_t).Gid}
}
