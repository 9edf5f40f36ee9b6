//go:build linux || darwin

package localpg

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// prepareData leaves a data directory that the server can start on: made when
// missing, owned by the server's user, with no other server in it.
func (p *placement) prepareData(ctx context.Context, lock *os.File) error {
	if majorOf(p.state.DataDir) == 0 {
		if err := p.create(lock); err != nil {
			return err
		}
	}
	if err := p.own(p.state.DataDir); err != nil {
		return err
	}
	if p.opts.Discard && p.as.uid > 0 { // the keeper, which is that user, is to remove it
		if err := chownAll(filepath.Dir(string(p.home)), p.as.uid, p.as.gid); err != nil {
			return fmt.Errorf("hand over %s: %w", p.opts.Dir, err)
		}
	}
	return p.endOrphan(ctx)
}

// create makes the data beside their place and moves them there when complete:
// a folder that was half made by a process that was killed is never taken for
// data.
func (p *placement) create(lock *os.File) error {
	unfinished := p.state.DataDir + ".new"
	args := []string{"-D", unfinished, "-U", user, "--auth=trust", "--encoding=UTF8"}
	if p.opts.Fast {
		args = append(args, "--no-sync")
	}
	var err error
	for _, locale := range []string{"C.UTF-8", "C"} { // not every system has the first
		if err = os.RemoveAll(unfinished); err != nil {
			return fmt.Errorf("remove unfinished data: %w", err)
		}
		if err = p.own(unfinished); err != nil {
			return err
		}
		if err = p.run(lock, "initdb", append(args, "--locale="+locale)...); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("make PostgreSQL's data in %s: %w", p.state.DataDir, err)
	}
	if err := os.RemoveAll(p.state.DataDir); err != nil { // without PG_VERSION: not data
		return fmt.Errorf("remove what is no data: %w", err)
	}
	return os.Rename(unfinished, p.state.DataDir)
}

// endOrphan looks at the process that the data name as their server. We hold the
// lock, so its keeper is gone: either its number belongs to a stranger by now, or
// it is an orphan (someone killed the keeper), which is stopped.
func (p *placement) endOrphan(ctx context.Context) error {
	pid, err := postmasterPID(p.state.DataDir)
	if err != nil || !alive(pid) {
		return nil // PostgreSQL clears a dead one's file away by itself
	}
	if !serves(pid, p.state.DataDir) {
		return os.Remove(filepath.Join(p.state.DataDir, "postmaster.pid"))
	}
	p.opts.logf("stopping PostgreSQL process %d, left over in %s", pid, p.state.DataDir)
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return fmt.Errorf("stop left over PostgreSQL, process %d: %w", pid, err)
	}
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for alive(pid) && serves(pid, p.state.DataDir) { // not: waits for its parent to take note
		if err := pause(limited); err != nil {
			return fmt.Errorf("left over PostgreSQL, process %d, does not stop: %w", pid, err)
		}
	}
	return nil
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
