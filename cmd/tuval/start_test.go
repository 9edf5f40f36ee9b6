package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tuval/internal/testdb"
)

// Five processes start on one empty database at the same instant, as after a
// power cut: all come up, and the schema is there once.
func TestFiveStartAtOnce(t *testing.T) {
	url := testdb.URL(t, testdb.Options{Empty: true, Unchecked: true})
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			p := start(t, "DATABASE_URL="+url)
			if status, body := get(t, p.base+"/readyz"); status != http.StatusOK {
				t.Errorf("readyz: %d %s", status, body)
			}
		})
	}
	all.Wait()
	sound(t, url)
}

// Without any setting but a folder, the server brings its own PostgreSQL, keeps
// the data for the next time, and leaves nothing running.
func TestStartsFromNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a path with spaces")
	p := start(t, "TUVAL_DATA_DIR="+dir)
	if status, body := get(t, p.base+"/"); status != http.StatusOK || !strings.Contains(body, "10,000") {
		t.Errorf("the canvas answers %d", status)
	}
	tools := []string{"TUVAL_DATA_DIR=" + dir}
	if out, code := tool(t, tools, "a long password\n", "admin", "add", "zoe@example.com"); code != 0 {
		t.Fatalf("admin add beside the server: exit %d\n%s", code, out)
	}
	if err := p.terminate(t); err != nil {
		t.Fatalf("after SIGTERM: %v\n%s", err, p.log)
	}
	out, code := tool(t, tools, "", "admin", "token", "zoe@example.com")
	if code != 0 || strings.TrimSpace(out) == "" {
		t.Errorf("the admin was not kept: exit %d\n%s", code, out)
	}
	if pids, _ := filepath.Glob(filepath.Join(dir, "postgres", "*", "postmaster.pid")); len(pids) > 0 {
		t.Errorf("PostgreSQL is still running: %v", pids)
	}
}

func TestWrongSettingsAreNamedTogether(t *testing.T) {
	env := []string{"TUVAL_CURRENCY=xyz", "TUVAL_HOLD_TTL=soon", "TUVAL_DATA_DIR=" + t.TempDir()}
	out, code := tool(t, env, "", "serve")
	if code != exitUsage {
		t.Errorf("exit %d, want %d", code, exitUsage)
	}
	for _, name := range []string{"TUVAL_CURRENCY", "TUVAL_HOLD_TTL"} {
		if !strings.Contains(out, name) {
			t.Errorf("%s is not named in:\n%s", name, out)
		}
	}
}

func TestProductionNeedsItsSecrets(t *testing.T) {
	out, code := tool(t, []string{"TUVAL_ENV=production", "TUVAL_DATA_DIR=" + t.TempDir()}, "", "serve")
	if code != exitUsage || !strings.Contains(out, "TUVAL_SECRET") || !strings.Contains(out, "STRIPE_SECRET_KEY") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestAgeRefusesInProduction(t *testing.T) {
	url := testdb.URL(t)
	env := []string{"TUVAL_ENV=production", "DATABASE_URL=" + url, "TUVAL_DATA_DIR=" + t.TempDir(), "TUVAL_SECRET=" + strings.Repeat("s", 32)}
	out, code := tool(t, env, "", "age", "--by", "1h")
	if code == 0 || !strings.Contains(out, "production") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "serve"},
		{[]string{"--help"}, exitOK, "migrate"},
		{[]string{"nonsense"}, exitUsage, "serve"},
		{[]string{"version"}, exitOK, "go1"},
		{[]string{"age"}, exitUsage, "--by"},
		{[]string{"age", "--by", "-1h"}, exitUsage, "--by"},
		{[]string{"admin", "add"}, exitUsage, "EMAIL"},
		{[]string{"serve", "--nonsense"}, exitUsage, "nonsense"},
		{[]string{"serve", "--help"}, exitOK, "TUVAL_HOLD_TTL"},
	} {
		out, code := tool(t, []string{"TUVAL_DATA_DIR=" + t.TempDir()}, "", c.args...)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("tuval %v: exit %d, want %d with %q:\n%s", c.args, code, c.code, c.says, out)
		}
	}
}

// The violation is made with the guards off, as a broken disk would.
func TestCheckFindsAndNamesAViolation(t *testing.T) {
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	const broken = `SET session_replication_role = replica; UPDATE blocks SET claim_id = 4711 WHERE x = 3 AND y = 3; RESET session_replication_role`
	if _, err := pool.Exec(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	env := []string{"DATABASE_URL=" + pool.Config().ConnString(), "TUVAL_DATA_DIR=" + t.TempDir()}
	out, code := tool(t, env, "", "check")
	if code != exitFailed || !strings.Contains(out, "4711") || !strings.Contains(out, "violation") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if _, err := os.Stat("var"); err == nil {
		t.Error("a tool left var/ behind where it was run")
	}
}
