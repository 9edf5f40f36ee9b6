package localpg_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/localpg"
)

// logTo prints what the package says to a person.
type logTo struct{ t *testing.T }

func (l logTo) Write(p []byte) (int, error) {
	l.t.Logf("%s", p)
	return len(p), nil
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, opts localpg.Options) *localpg.Cluster {
	t.Helper()
	opts.Log = logTo{t}
	opts.Fast = true // the machine does not crash here, only processes
	c, err := localpg.Start(limited(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func query(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(limited(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(limited(t), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// TestSecondStartKeepsData goes through the life of one folder: made, used,
// stopped, started again, crashed, recovered.
func TestSecondStartKeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a path with spaces, and a comma")
	opts := localpg.Options{Dir: dir, Settings: map[string]string{"synchronous_commit": "on"}} // survives a killed server
	c := start(t, opts)
	url, err := c.EnsureDatabase(limited(t), "tuval")
	if err != nil {
		t.Fatal(err)
	}
	query(t, url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)")
	if err := c.Stop(limited(t)); err != nil {
		t.Fatal(err)
	}
	gone(t, c)

	c = start(t, opts)
	query(t, c.URL("tuval"), "INSERT INTO kept SELECT 2 FROM kept WHERE n = 1")
	c.Kill()
	if _, err := os.Stat(filepath.Join(c.DataDir(), "postmaster.pid")); err != nil {
		t.Error("a crashed server leaves its file, which is what this test is about")
	}

	c = start(t, opts)
	query(t, c.URL("tuval"), "DO $$ BEGIN ASSERT (SELECT count(*) FROM kept) = 2; END $$")
	if _, err := c.EnsureDatabase(limited(t), "tuval"); err != nil {
		t.Errorf("a database that is there: %v", err)
	}
}

func gone(t *testing.T, c *localpg.Cluster) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(c.DataDir(), "postmaster.pid")); !os.IsNotExist(err) {
		t.Errorf("the server is still there: %v", err)
	}
}
