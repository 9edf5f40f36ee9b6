//go:build linux || darwin

package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// keeper is the server's parent: it lives exactly as long as the server, and
// ends it when the last user of the lifeline has gone. What a killed process
// cannot do for itself, the kernel does for it: close its end of a pipe.
//
// The lifeline is its standard input. Files 3 and 4 are the locks of the folder,
// free again when the keeper has ended. None is passed on to the server.
// PostgreSQL understands INT as "disconnect all and stop", QUIT as "stop as in a
// crash".
const keeper = `
first=$1; junk=$2; sockets=$3; shift 3
trap '' HUP INT TERM
exec 5<&0
"$@" </dev/null 3<&- 4<&- 5<&- &
server=$!
(
  while read -r _; do :; done
  kill -s "$first" $server
  i=0
  while kill -0 $server 2>/dev/null; do
    i=$((i+1))
    [ $i -eq 100 ] && kill -s QUIT $server
    [ $i -eq 150 ] && kill -s KILL $server
    sleep 0.1
  done
) <&5 3<&- 4<&- 5<&- 2>/dev/null &
reader=$!
exec 5<&- </dev/null
wait $server
kill -s KILL $reader 2>/dev/null
rm -rf "$sockets"
[ -z "$junk" ] || rm -rf "$junk" 2>/dev/null
exit 0
`

// startKeeper starts the server under its keeper. It returns our end of the
// lifeline and a channel that is closed when the keeper has ended.
func (p *placement) startKeeper(ctx context.Context, lock *os.File) (*os.File, <-chan struct{}, error) {
	// What a crashed server left there may name a process that exists.
	if err := os.RemoveAll(p.state.SocketDir); err != nil {
		return nil, nil, fmt.Errorf("clear socket directory: %w", err)
	}
	if err := p.own(p.state.SocketDir); err != nil {
		return nil, nil, err
	}
	running, err := waitLock(ctx, p.home.running(), syscall.LOCK_EX)
	if err != nil {
		return nil, nil, err
	}
	defer running.Close()
	reading, writing, err := p.home.newLifeline()
	if err != nil {
		return nil, nil, err
	}
	defer reading.Close()
	logFile, err := openLog(p.home.log())
	if err != nil {
		writing.Close()
		return nil, nil, err
	}
	defer logFile.Close()
	if info, err := logFile.Stat(); err == nil {
		p.logged = info.Size()
	}

	signal, junk := "INT", ""
	if p.opts.Discard {
		signal, junk = "QUIT", filepath.Dir(string(p.home)) // what will be thrown away need not be written first
	}
	server := append([]string{filepath.Join(p.state.BinDir, "postgres"), "-D", p.state.DataDir}, p.opts.settings(p.state.SocketDir)...)
	cmd := p.command("/bin/sh", append([]string{"-c", keeper, "tuval-postgres-keeper", signal, junk, p.state.SocketDir}, server...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = reading, logFile, logFile
	cmd.ExtraFiles = []*os.File{lock, running}
	cmd.SysProcAttr.Setsid = true // a Ctrl-C in the terminal, or a kill of our process group, is not for the server
	if err := cmd.Start(); err != nil {
		writing.Close()
		return nil, nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
	}()
	return writing, gone, nil
}

// newLifeline makes the FIFO and opens both ends: the reading one first, without
// waiting for a writer.
func (h home) newLifeline() (reading, writing *os.File, err error) {
	if err := os.Remove(h.fifo()); err != nil && !os.IsNotExist(err) {
		return nil, nil, fmt.Errorf("remove old lifeline: %w", err)
	}
	if err := syscall.Mkfifo(h.fifo(), 0o600); err != nil {
		return nil, nil, fmt.Errorf("make lifeline: %w", err)
	}
	reading, err = openFIFO(h.fifo(), syscall.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, nil, err
	}
	writing, err = openFIFO(h.fifo(), syscall.O_WRONLY|syscall.O_NONBLOCK)
	if err == nil {
		err = syscall.SetNonblock(int(reading.Fd()), false) // the shell waits in read
	}
	if err != nil {
		reading.Close()
		return nil, nil, fmt.Errorf("open lifeline: %w", err)
	}
	return reading, writing, nil
}

// openFIFO does without os.OpenFile, which would wait for the other end or hand
// the file to the poller.
func openFIFO(path string, flags int) (*os.File, error) {
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openLog appends to the server's log. A log that has grown large is put aside
// first, replacing the one before.
func openLog(path string) (*os.File, error) {
	const large = 32 << 20
	if info, err := os.Stat(path); err == nil && info.Size() > large {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL's log: %w", err)
	}
	return f, nil
}

// command prepares a program that runs as the server's user, with nothing of our
// environment that PostgreSQL would listen to (PGDATA, PGOPTIONS, LC_ALL ...).
func (p *placement) command(name string, args ...string) *exec.Cmd {
	return p.as.command(name, args...)
}

func (as identity) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=/"}
	attr := as.attr
	cmd.SysProcAttr = &attr
	return cmd
}

// run runs a short program of PostgreSQL's to its end. It inherits the lock, so
// that nobody else begins before it has ended even if we are killed.
func (p *placement) run(lock *os.File, name string, args ...string) error {
	cmd := p.command(filepath.Join(p.state.BinDir, name), args...)
	cmd.ExtraFiles = []*os.File{lock}
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return fmt.Errorf("%s: %w: %s", name, err, text[max(0, len(text)-600):])
	}
	return nil
}
