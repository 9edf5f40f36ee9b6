//go:build linux

package localpg_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tuval/internal/localpg"
)

// asHelper makes the test binary a process that uses a cluster: it starts one in
// the folder named, says so, and leaves when its standard input ends.
const asHelper = "TUVAL_LOCALPG_HELPER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asHelper); dir != "" {
		os.Exit(help(dir))
	}
	os.Exit(m.Run())
}

func help(dir string) int {
	signal.Ignore(os.Interrupt) // a server takes its time to leave after a Ctrl-C
	c, err := localpg.Start(context.Background(), localpg.Options{Dir: dir, Log: os.Stderr, Fast: true})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Printf("data\t%s\t%s\n", c.DataDir(), c.URL(""))
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := c.Stop(context.Background()); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// helper is another process that uses a cluster.
type helper struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	dir     string
	dataDir string
	url     string
	pid     int // of the server
}

// startHelper starts a process in a process group of its own and waits until its
// cluster runs. uid 0: as ourselves.
func startHelper(t *testing.T, dir string, uid uint32) *helper {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid != 0 {
		cmd.Path = passable(t, program)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
		cmd.Dir = "/"
	}
	cmd.Env = append(os.Environ(), asHelper+"="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	fields := strings.Split(strings.TrimSpace(line), "\t")
	if len(fields) != 3 {
		t.Fatalf("helper: %s", line)
	}
	h := &helper{cmd: cmd, stdin: stdin, dir: dir, dataDir: fields[1], url: fields[2]}
	h.pid = serverOf(t, h.dataDir)
	return h
}

// kill ends the helper and everything in its process group without a word.
func (h *helper) kill(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait()
}

// awaitEnd waits until the keeper of dir has ended, and checks that the server
// has gone.
func awaitEnd(t *testing.T, dir string, server int) {
	t.Helper()
	awaitUnlocked(t, dir)
	if err := syscall.Kill(server, 0); err == nil {
		t.Errorf("server process %d still runs", server)
	}
}

// awaitUnlocked waits until no keeper holds the lock of dir.
func awaitUnlocked(t *testing.T, dir string) {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(dir, "postgres", "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	free := make(chan error, 1)
	fd := int(lock.Fd())
	go func() { free <- syscall.Flock(fd, syscall.LOCK_EX) }()
	select {
	case err := <-free:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("the server's keeper does not end")
	}
}

func serverOf(t *testing.T, dataDir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// passable copies a program to where every user can run it.
func passable(t *testing.T, program string) string {
	t.Helper()
	dir := openDir(t, 0o755)
	raw, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "helper")
	if err := os.WriteFile(path, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// openDir makes a temporary folder with these permissions; t.TempDir lies below
// one that only its user can enter.
func openDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "tuval localpg ")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}
