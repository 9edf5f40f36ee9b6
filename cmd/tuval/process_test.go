package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// be is set for the copies of this test binary that are to be Tuval.
const be = "TUVAL_TEST_BE_TUVAL"

func TestMain(m *testing.M) {
	if os.Getenv(be) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process is a running tuval serve.
type process struct {
	cmd  *exec.Cmd
	base string // http://127.0.0.1:port
	log  *lines
	gone chan error
}

// lines keeps what a process wrote, for a test that fails.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// roomy lifts the limits on people, so that one test machine can be a crowd.
func roomy() []string {
	return []string{
		"TUVAL_MAX_HOLDS_PER_PERSON=100000", "TUVAL_MAX_HOLDS_PER_ADDRESS=100000", "TUVAL_MAX_BLOCKS_PER_ADDRESS=100000000",
		"TUVAL_BLOCK_MINUTES=1000000000", "TUVAL_HOLD_MINUTES=1000000000", "TUVAL_BLOCK_MINUTES_PER_ADDRESS=1000000000",
		"TUVAL_MAX_HELD_SHARE=1", "TUVAL_RATE_LIMITS=off", "TUVAL_SECRET=the same for all processes of a test",
	}
}

func tuval(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = []string{be + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GOCOVERDIR=" + os.TempDir()}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

var greeting = regexp.MustCompile(`Tuval is at\s+(\S+)`)

// start runs tuval serve and returns when it says where it is.
func start(t *testing.T, env ...string) *process {
	t.Helper()
	p := &process{log: &lines{}, gone: make(chan error, 1)}
	p.cmd = tuval(context.Background(), append([]string{"TUVAL_ADDR=127.0.0.1:0", "TUVAL_DATA_DIR=" + t.TempDir()}, env...), "serve")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		r := bufio.NewScanner(out)
		for r.Scan() {
			if m := greeting.FindStringSubmatch(r.Text()); m != nil {
				found <- m[1]
			}
		}
		p.gone <- p.cmd.Wait()
	}()
	t.Cleanup(func() { p.kill(); p.report(t) })
	select {
	case p.base = <-found:
	case err := <-p.gone:
		p.gone <- err
		t.Fatalf("tuval serve ended: %v\n%s", err, p.log)
	case <-time.After(2 * time.Minute):
		t.Fatalf("tuval serve never came up\n%s", p.log)
	}
	return p
}

func (p *process) report(t *testing.T) {
	if t.Failed() {
		t.Logf("log of %s:\n%s", p.base, p.log)
	}
}

// kill is kill -9; it returns when the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	err := <-p.gone
	p.gone <- err
}

// terminate asks for a graceful stop and returns how it ended.
func (p *process) terminate(t *testing.T) error {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.gone:
		p.gone <- err
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("still running 20 s after SIGTERM")
		return nil
	}
}

// tool runs a command to its end and returns its output and exit code.
func tool(t *testing.T, env []string, in string, args ...string) (string, int) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	cmd := tuval(ctx, env, args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("tuval %v: %v", args, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// sound is tuval check.
func sound(t *testing.T, url string) {
	t.Helper()
	out, code := tool(t, []string{"DATABASE_URL=" + url, "TUVAL_DATA_DIR=" + t.TempDir()}, "", "check")
	if code != 0 || !strings.HasSuffix(strings.TrimSpace(out), "ok") {
		t.Errorf("tuval check: exit %d\n%s", code, out)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
