//go:build linux || darwin

package localpg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// poll is how often a condition of another process is looked at again.
const poll = 20 * time.Millisecond

// Cluster is a running server that this process uses, whether it started it or
// joined it.
type Cluster struct {
	home     home
	state    state
	lifeline *os.File // writing end of the FIFO: open as long as we need the server
	users    *os.File // shared lock: tells others that we are here
	done     chan struct{}
	stop     sync.Once
}

// URL returns a connection string for database db; "" means "postgres", which
// always exists. [Cluster.EnsureDatabase] makes others.
func (c *Cluster) URL(db string) string { return connURL(c.state.SocketDir, db) }

func connURL(socketDir, db string) string {
	if db == "" {
		db = "postgres"
	}
	// A space must be %20: libpq does not read "+" as one.
	host := strings.ReplaceAll(url.QueryEscape(socketDir), "+", "%20")
	return fmt.Sprintf("postgres:///%s?host=%s&port=5432&user=%s&sslmode=disable", url.PathEscape(db), host, user)
}

// EnsureDatabase makes database db when it is missing and returns its URL.
// Several processes may call it at once.
func (c *Cluster) EnsureDatabase(ctx context.Context, db string) (string, error) {
	conn, err := pgx.Connect(ctx, c.URL(""))
	if err != nil {
		return "", fmt.Errorf("connect to local PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{db}.Sanitize())
	var known *pgconn.PgError
	if errors.As(err, &known) && (known.Code == "42P04" || known.Code == "23505") { // it is there, or was just made
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("create database %s: %w", db, err)
	}
	return c.URL(db), nil
}

// LogPath is the file that the server logs to.
func (c *Cluster) LogPath() string { return c.home.log() }

// DataDir is the server's data directory.
func (c *Cluster) DataDir() string { return c.state.DataDir }

// BinDir is the directory of the server's programs (pg_dump and others may be
// there too).
func (c *Cluster) BinDir() string { return c.state.BinDir }

// Done is closed when the server has stopped, for whatever reason.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Stop gives the server up. If no other process uses it, the server shuts down
// and Stop waits for that, at most as long as ctx allows; the server stops also
// if nobody waits. Stop may be called again.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() { c.lifeline.Close() })
	defer c.users.Close()
	for c.alone() {
		select {
		case <-c.done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("stop local PostgreSQL: %w", ctx.Err())
		case <-time.After(poll): // someone may have joined in the last moment
		}
	}
	return nil
}

// alone tells whether no other process uses the server.
func (c *Cluster) alone() bool {
	fd := int(c.users.Fd())
	if retryInterrupted(func() error { return syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) }) != nil {
		return false
	}
	// Not kept: who wants to join must be able to.
	return retryInterrupted(func() error { return syscall.Flock(fd, syscall.LOCK_UN) }) == nil
}

// Kill ends the server at once, like a crash, and returns when it is gone. For
// tests of what happens then; [Start] recovers the data.
func (c *Cluster) Kill() {
	if pid, err := postmasterPID(c.state.DataDir); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-c.done
	c.stop.Do(func() { c.lifeline.Close() })
	c.users.Close()
}

// watch closes done when the keeper has let go of its lock: then the server is
// gone. It is another lock than the one that starters take, so that nobody who
// watches looks like a starter.
func (c *Cluster) watch() {
	defer close(c.done)
	// A caller that drops its Cluster keeps the server: only Stop and the end of
	// the process close the lifeline, never the garbage collector.
	defer runtime.KeepAlive(c)
	lock, err := os.OpenFile(c.home.running(), os.O_RDWR, 0)
	if err != nil {
		return // the folder is gone, and with it the server
	}
	defer lock.Close()
	// Shared: many may wait at once.
	_ = retryInterrupted(func() error { return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH) })
}

func retryInterrupted(f func() error) error {
	for {
		if err := f(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
