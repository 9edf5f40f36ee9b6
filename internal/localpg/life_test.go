//go:build linux

package localpg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"tuval/internal/localpg"
)

// TestKilledUserLeavesNothing kills a process and its whole group: the server
// ends all the same, and the next start finds the data.
func TestKilledUserLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := openDir(t, 0o755)
	h := startHelper(t, dir, 0)
	query(t, h.url, "CREATE TABLE kept ()")
	h.kill(t)
	awaitEnd(t, dir, h.pid)

	c := start(t, localpg.Options{Dir: dir})
	query(t, c.URL(""), "TABLE kept")
}

// TestInterruptIsNotForTheServer presses Ctrl-C: the signal goes to the whole
// process group, but the server must outlive the shutdown of its user.
func TestInterruptIsNotForTheServer(t *testing.T) {
	t.Parallel()
	dir := openDir(t, 0o755)
	h := startHelper(t, dir, 0)
	if err := syscall.Kill(-h.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	query(t, h.url, "SELECT 1")
	h.stdin.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Error(err)
	}
	awaitEnd(t, dir, h.pid)
}

// TestManyStartersShare lets several processes start the same folder at once, and
// leave in an unkind order.
func TestManyStartersShare(t *testing.T) {
	t.Parallel()
	dir := openDir(t, 0o755)
	helpers := make([]*helper, 3)
	var all sync.WaitGroup
	for i := range helpers {
		all.Go(func() { helpers[i] = startHelper(t, dir, 0) })
	}
	all.Wait()
	last := helpers[2]
	for _, h := range helpers[:2] {
		if h.pid != last.pid {
			t.Errorf("servers %d and %d", h.pid, last.pid)
		}
		h.kill(t)
		query(t, last.url, "SELECT 1")
	}
	last.stdin.Close()
	if err := last.cmd.Wait(); err != nil {
		t.Error(err)
	}
	awaitEnd(t, dir, last.pid)
}

// TestJoinAndLeave does the same inside one process, where who leaves first must
// not wait for the other.
func TestJoinAndLeave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := start(t, localpg.Options{Dir: dir}), start(t, localpg.Options{Dir: dir})
	if first.URL("x") != second.URL("x") {
		t.Errorf("%s and %s", first.URL("x"), second.URL("x"))
	}
	if err := first.Stop(limited(t)); err != nil {
		t.Fatal(err)
	}
	query(t, second.URL(""), "SELECT 1")
	select {
	case <-first.Done():
		t.Error("stopped while it is used")
	default:
	}
	if err := second.Stop(limited(t)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*localpg.Cluster{first, second} {
		select {
		case <-c.Done():
		case <-limited(t).Done():
			t.Error("not stopped")
		}
	}
}

// TestStartAfterStrangeEnds starts on what accidents leave behind.
func TestStartAfterStrangeEnds(t *testing.T) {
	t.Parallel()
	dir := openDir(t, 0o755)
	c := start(t, localpg.Options{Dir: dir})
	server := serverOf(t, c.DataDir())

	// The keeper is killed: its server is an orphan, which is still in the data.
	if err := syscall.Kill(parentOf(t, server), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitUnlocked(t, dir)
	c = start(t, localpg.Options{Dir: dir})
	if serverOf(t, c.DataDir()) == server {
		t.Error("joined the orphan")
	}

	// The server dies, and its number is given to another process: this one. The
	// files that would tell so stand in the data and beside the socket.
	c.Kill()
	for _, file := range []string{filepath.Join(c.DataDir(), "postmaster.pid"), filepath.Join(dir, "postgres", "run", ".s.PGSQL.5432.lock")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, fmt.Appendf(nil, "%d\n%s\n", os.Getpid(), c.DataDir()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c = start(t, localpg.Options{Dir: dir})

	// An initdb that was killed half way.
	if err := c.Stop(limited(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(c.DataDir(), "PG_VERSION")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(c.DataDir()+".new/base", 0o700); err != nil {
		t.Fatal(err)
	}
	c = start(t, localpg.Options{Dir: dir})
	query(t, c.URL(""), "SELECT 1")
}

// TestDiscard removes everything, also after a kill.
func TestDiscard(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]os.FileMode{"open": 0o711, "private": 0o700} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := openDir(t, mode)
			c := start(t, localpg.Options{Dir: dir, Discard: true, Fast: true, Settings: map[string]string{"work_mem": "7MB"}})
			query(t, c.URL(""), "DO $$ BEGIN ASSERT current_setting('work_mem') = '7MB' AND current_setting('fsync') = 'off'; END $$")
			if err := c.Stop(limited(t)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("%s is still there", dir)
			}
		})
	}
}

// TestForgottenClusterLives drops the Cluster: the server must not end when the
// garbage collector comes by, only with the process.
func TestForgottenClusterLives(t *testing.T) {
	t.Parallel()
	url, done := startAndForget(t)
	for range 3 {
		collect(t)
		query(t, url, "SELECT 1")
	}
	select {
	case <-done:
		t.Error("the server has stopped")
	default:
	}
}

func startAndForget(t *testing.T) (url string, done <-chan struct{}) {
	t.Helper()
	c, err := localpg.StartTemporary(limited(t), localpg.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	return c.URL(""), c.Done()
}

// collect runs the garbage collector until it has cleaned up what was dropped
// before.
func collect(t *testing.T) {
	t.Helper()
	cleaned := make(chan struct{})
	runtime.AddCleanup(new([64]int), func(c chan struct{}) { close(c) }, cleaned)
	for {
		runtime.GC()
		select {
		case <-cleaned:
			return
		case <-limited(t).Done():
			t.Fatal("nothing is collected")
		default:
		}
	}
}
