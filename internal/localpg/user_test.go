//go:build linux

package localpg_test

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tuval/internal/localpg"
)

func mustBeRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
}

func owner(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

// TestRootOpensAndClosesTheDoor runs as root where another user can enter, then
// where it cannot, then where it can again, on the same data.
func TestRootOpensAndClosesTheDoor(t *testing.T) {
	t.Parallel()
	mustBeRoot(t)
	outer := openDir(t, 0o711)
	dir := filepath.Join(outer, "var")
	for i, mode := range []os.FileMode{0o711, 0o700, 0o711} {
		if err := os.Chmod(outer, mode); err != nil {
			t.Fatal(err)
		}
		c := start(t, localpg.Options{Dir: dir})
		if i == 0 {
			query(t, c.URL(""), "CREATE TABLE kept ()")
		}
		query(t, c.URL(""), "TABLE kept")
		if c.DataDir() != filepath.Join(dir, "postgres", "data") {
			t.Skipf("no user namespaces here: the data are in %s", c.DataDir())
		}
		if isRoots := owner(t, c.DataDir()) == 0; isRoots != (mode == 0o700) {
			t.Errorf("mode %o: data owned by %d", mode, owner(t, c.DataDir()))
		}
		if err := c.Stop(limited(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNormalUser starts as the user nobody, in a folder of its own.
func TestNormalUser(t *testing.T) {
	t.Parallel()
	mustBeRoot(t)
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("no user nobody")
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		t.Fatal(err)
	}
	dir := openDir(t, 0o700)
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	h := startHelper(t, dir, uint32(uid))
	if got := owner(t, fmt.Sprintf("/proc/%d", h.pid)); got != uint32(uid) {
		t.Errorf("the server runs as %d", got)
	}
	h.kill(t)
	awaitEnd(t, dir, h.pid)

	// As root on the same folder afterwards: its data are taken over.
	c := start(t, localpg.Options{Dir: dir})
	query(t, c.URL(""), "SELECT 1")
}

// TestWhatToDo checks that refusals say what to do, in one line.
func TestWhatToDo(t *testing.T) {
	t.Parallel()
	dir := openDir(t, 0o755)
	data := filepath.Join(dir, "postgres", "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := localpg.Start(limited(t), localpg.Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "need PostgreSQL 9") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	_, err = localpg.Start(limited(t), localpg.Options{Dir: openDir(t, 0o755), Settings: map[string]string{"no_such": "1"}})
	if err == nil || !strings.Contains(err.Error(), "no_such") {
		t.Errorf("error %v", err)
	}
}
