//go:build linux || darwin

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Start returns a running server for opts.Dir: the one that runs already, else
// a new one on the data that are there, else a new one on new data.
//
// ctx limits how long Start may take; the server lives on after it ended, until
// [Cluster.Stop] or the end of this process.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	return start(ctx, opts, identities)
}

func start(ctx context.Context, opts Options, ways func() []identity) (*Cluster, error) {
	h, err := openHome(opts.Dir)
	if err != nil {
		return nil, err
	}
	told := false
	for {
		lock, err := tryLock(h.lock(), syscall.LOCK_EX)
		if err != nil {
			return nil, fmt.Errorf("local PostgreSQL in %s: %w", h, err)
		}
		if lock != nil {
			c, err := launch(ctx, h, opts, ways, lock)
			lock.Close() // the keeper has its own copy, if it runs
			return c, err
		}
		if c := join(ctx, h); c != nil {
			return c, nil
		}
		if !told {
			told = true
			opts.logf("another process is starting or stopping PostgreSQL in %s: waiting for it", h)
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("local PostgreSQL in %s: another process holds it and does not answer: %w", h, err)
		}
	}
}

// join uses the server that another process started. Nil: it is not ready, or
// about to stop.
func join(ctx context.Context, h home) *Cluster {
	w, err := openFIFO(h.fifo(), syscall.O_WRONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil // nobody reads: there is no keeper
	}
	s := h.readState()
	users, err := tryLock(h.users(), syscall.LOCK_SH)
	if err != nil || users == nil || answers(ctx, s.SocketDir) != nil {
		w.Close()
		if users != nil {
			users.Close()
		}
		return nil
	}
	return newCluster(h, s, w, users)
}

// launch starts a server; lock is held.
func launch(ctx context.Context, h home, opts Options, ways func() []identity, lock *os.File) (*Cluster, error) {
	p, err := plan(ctx, h, opts, ways)
	if err != nil {
		return nil, err
	}
	if err := p.prepareData(ctx, lock); err != nil {
		return nil, err
	}
	if err := h.writeState(p.state); err != nil {
		return nil, err
	}
	users, err := waitLock(ctx, h.users(), syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	lifeline, err := p.serve(ctx, lock)
	if err != nil {
		users.Close()
		return nil, err
	}
	return newCluster(h, p.state, lifeline, users), nil
}

// errStillInUse: processes of a server that crashed have not noticed yet.
var errStillInUse = errors.New("processes of a crashed server are still there")

// serve starts the server and returns our end of its lifeline when it answers.
// Processes that outlive a crashed server end by themselves as soon as they have
// nothing in hand: it waits a while for them.
func (p *placement) serve(ctx context.Context, lock *os.File) (*os.File, error) {
	for begun := time.Now(); ; {
		lifeline, gone, err := p.startKeeper(ctx, lock)
		if err != nil {
			return nil, err
		}
		if err = p.waitReady(ctx, gone); err == nil {
			return lifeline, nil
		}
		lifeline.Close()
		<-gone
		if !errors.Is(err, errStillInUse) || time.Since(begun) > 15*time.Second || pause(ctx) != nil {
			return nil, err
		}
	}
}

func newCluster(h home, s state, lifeline, users *os.File) *Cluster {
	c := &Cluster{home: h, state: s, lifeline: lifeline, users: users, done: make(chan struct{})}
	go c.watch()
	return c
}

// waitReady returns when the server answers. gone is closed when its keeper has
// ended.
func (p *placement) waitReady(ctx context.Context, gone <-chan struct{}) error {
	start, told := time.Now(), false
	for {
		if answers(ctx, p.state.SocketDir) == nil {
			return nil
		}
		select {
		case <-gone:
			return didNotStart(lastWords(p.home.log(), p.logged))
		default:
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("PostgreSQL in %s is not ready: %w; its log is %s", p.home, err, p.home.log())
		}
		if !told && time.Since(start) > 5*time.Second {
			told = true
			p.opts.logf("PostgreSQL is still starting (it may be recovering after a crash); its log is %s", p.home.log())
		}
	}
}

// answers tells whether the server accepts connections.
func answers(ctx context.Context, socketDir string) error {
	if socketDir == "" {
		return errors.New("no socket known")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, connURL(socketDir, ""))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(poll):
		return nil
	}
}

// lastWords returns the end of what the server logged since this start, the
// reasons first.
func lastWords(path string, from int64) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "no log"
	}
	raw = raw[min(from, int64(len(raw))):]
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	lines = lines[max(0, len(lines)-12):]
	var reasons []string
	for _, l := range lines {
		if strings.Contains(l, "FATAL") || strings.Contains(l, "PANIC") || strings.Contains(l, "HINT") {
			reasons = append(reasons, l)
		}
	}
	if len(reasons) == 0 {
		reasons = lines
	}
	return strings.Join(reasons, " / ") + " (log: " + filepath.Clean(path) + ")"
}

func didNotStart(why string) error {
	if strings.Contains(why, "pre-existing shared memory block") {
		return fmt.Errorf("PostgreSQL did not start: %w: %s", errStillInUse, why)
	}
	return fmt.Errorf("PostgreSQL did not start: %s", why)
}
