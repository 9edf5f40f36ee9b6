//go:build linux || darwin

package localpg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// placement is what was decided about one start: which programs run, as whom,
// on data in which place.
type placement struct {
	home  home
	opts  Options
	as    identity
	state state

	logged int64 // size of the log before this start
}

// plan finds the programs, a place for the data and a user that reaches both.
func plan(ctx context.Context, h home, opts Options, ways func() []identity) (*placement, error) {
	places := dataPlaces(h)
	binDir, err := programs(ctx, h, opts, majorOf(places[0]))
	if err != nil {
		return nil, err
	}
	for i, dataDir := range places {
		parent := filepath.Dir(dataDir)
		if i > 0 && !makePublic(parent) {
			continue
		}
		for _, as := range append(ownerWay(dataDir), ways()...) {
			if !as.can(parent, filepath.Join(binDir, "postgres")) {
				continue
			}
			if i > 0 {
				opts.logf("%s cannot enter %s: PostgreSQL's data are in %s", as.name, h, dataDir)
			}
			p := &placement{home: h, opts: opts, as: as, state: state{DataDir: dataDir, BinDir: binDir}}
			p.state.SocketDir, err = p.sockets()
			return p, err
		}
	}
	return nil, fmt.Errorf("PostgreSQL refuses to run as root, and no other user (postgres, nobody) can both enter %s and run %s: run as a normal user, or use another folder", filepath.Dir(places[0]), binDir)
}

// dataPlaces returns where the data are or, if there are none yet, where they
// may be, the best place first.
func dataPlaces(h home) []string {
	for _, dir := range []string{h.readState().DataDir, h.data()} {
		if dir != "" && majorOf(dir) != 0 {
			return []string{dir}
		}
	}
	places := []string{h.data()}
	if os.Geteuid() == 0 {
		short := fmt.Sprintf("%x", sha256.Sum256([]byte(h)))[:12]
		places = append(places, filepath.Join("/var/lib/tuval", short, "data"), filepath.Join("/tmp/tuval-root-"+short, "data"))
	}
	return places
}

// makePublic makes a folder of ours that other users can pass through. A folder
// that someone else made under that name is refused.
func makePublic(dir string) bool {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || ownerOf(info) != os.Geteuid() {
		return false
	}
	return os.Chmod(dir, 0o711) == nil
}

// majorOf returns the major version that made the data in dir, 0: none there.
func majorOf(dir string) int {
	raw, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	return major
}

// sockets makes the directory of the server's socket: in our folder if its path
// fits into a socket address and into a connection string, else a short one
// under /tmp.
func (p *placement) sockets() (string, error) {
	const longest = 103 - len("/.s.PGSQL.5432") // macOS; Linux has 107
	dir := p.home.sockets()
	inHome := p.as.can(string(p.home), "/bin/sh")
	if !inHome || len(dir) > longest || strings.ContainsAny(dir, `,"\`) {
		var err error
		if dir, err = os.MkdirTemp("/tmp", "tuval-pg-"); err != nil {
			return "", fmt.Errorf("make socket directory: %w", err)
		}
	}
	return dir, nil
}

// own makes dir and everything in it the server's, and private.
func (p *placement) own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	if owner := ownerOf(info); p.as.uid < 0 && owner != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, who ran this before: run as that user, or remove %s", dir, owner, dir)
	}
	if p.as.uid >= 0 && ownerOf(info) != p.as.uid {
		if err := chownAll(dir, p.as.uid, p.as.gid); err != nil {
			return fmt.Errorf("give %s to %s: %w", dir, p.as.name, err)
		}
	}
	return os.Chmod(dir, 0o700)
}

func chownAll(dir string, uid, gid int) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
}

func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
