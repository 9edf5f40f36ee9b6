package testdb_test

import (
	"testing"

	"tuval/internal/testdb"
)

// TestEachTestHasItsOwn checks that databases are migrated and not shared.
func TestEachTestHasItsOwn(t *testing.T) {
	t.Parallel()
	for range 3 {
		pool := testdb.New(t)
		var blocks int
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM blocks").Scan(&blocks); err != nil {
			t.Fatal(err)
		}
		if blocks != 10_000 {
			t.Errorf("%d blocks", blocks)
		}
		if _, err := pool.Exec(t.Context(), "CREATE TABLE mine ()"); err != nil {
			t.Error(err)
		}
	}
}

func TestDurable(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string]testdb.Options{"on": {Durable: true}, "off": {}} {
		var got string
		if err := testdb.New(t, opts).QueryRow(t.Context(), "SHOW fsync").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("fsync is %s, want %s", got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	var tables int
	pool := testdb.New(t, testdb.Options{Empty: true})
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Errorf("%d tables", tables)
	}
}
