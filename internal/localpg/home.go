//go:build linux || darwin

package localpg

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// home is the folder of one cluster, an absolute path.
type home string

func (h home) data() string    { return filepath.Join(string(h), "data") }
func (h home) log() string     { return filepath.Join(string(h), "log") }
func (h home) lock() string    { return filepath.Join(string(h), "lock") }     // held by whoever starts or keeps the server
func (h home) running() string { return filepath.Join(string(h), "running") }  // held by the keeper: who waits for it waits for the server's end
func (h home) users() string   { return filepath.Join(string(h), "users") }    // held, shared, by each user
func (h home) fifo() string    { return filepath.Join(string(h), "lifeline") } // held open by each user
func (h home) npm() string     { return filepath.Join(string(h), "npm") }
func (h home) file() string    { return filepath.Join(string(h), "state.json") }
func (h home) sockets() string { return filepath.Join(string(h), "run") }

// openHome makes the folder below dir. Others may pass through it (mode 0711)
// since the server may run as another user; the data themselves are private.
func openHome(dir string) (home, error) {
	if dir == "" {
		return "", fmt.Errorf("local PostgreSQL: no folder given")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("local PostgreSQL: %w", err)
	}
	h := home(filepath.Join(abs, "postgres"))
	if err := os.MkdirAll(string(h), 0o755); err != nil {
		return "", fmt.Errorf("local PostgreSQL: %w", err)
	}
	if err := os.Chmod(string(h), 0o711); err != nil {
		return "", fmt.Errorf("local PostgreSQL: %s belongs to another user; remove it or run as that user: %w", h, err)
	}
	return h, nil
}

// state is what a process that joins a running server must know.
type state struct {
	SocketDir string `json:"socket_dir"`
	DataDir   string `json:"data_dir"`
	BinDir    string `json:"bin_dir"`
}

// readState returns the zero state when there is none or it is unreadable: it
// can always be found anew.
func (h home) readState() (s state) {
	raw, err := os.ReadFile(h.file())
	if err == nil {
		_ = json.Unmarshal(raw, &s)
	}
	return s
}

func (h home) writeState(s state) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	tmp := h.file() + ".new"
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return os.Rename(tmp, h.file())
}

// tryLock takes an advisory lock on a file, made when missing, without waiting.
// A nil file without error means that someone else has it.
func tryLock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = retryInterrupted(func() error { return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB) })
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == syscall.EWOULDBLOCK {
		return nil, nil
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// postmasterPID reads the process id that the server wrote into its data.
func postmasterPID(dataDir string) (int, error) {
	raw, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("no process id in %s/postmaster.pid", dataDir)
	}
	return pid, nil
}

// waitLock is tryLock for a lock that others hold for moments only.
func waitLock(ctx context.Context, path string, how int) (*os.File, error) {
	for {
		f, err := tryLock(path, how)
		if f != nil || err != nil {
			return f, err
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", path, err)
		}
	}
}
