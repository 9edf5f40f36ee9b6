package testdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tuval/internal/testdb"
)

// recorder stands for a test that ends while another one looks on.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

// TestInvariantsAreChecked breaks the database in a test: the test must fail,
// unless it said that it would.
func TestInvariantsAreChecked(t *testing.T) {
	t.Parallel()
	for _, unchecked := range []bool{false, true} {
		r := &recorder{TB: t}
		pool := testdb.New(r, testdb.Options{Unchecked: unchecked})
		_, err := pool.Exec(t.Context(), "SET session_replication_role = replica; DELETE FROM blocks WHERE x = 7 AND y = 7")
		if err != nil {
			t.Fatal(err)
		}
		r.end()
		failed := strings.Contains(strings.Join(r.errors, "\n"), "invariant violated")
		if failed == unchecked {
			t.Errorf("unchecked %v: errors %q", unchecked, r.errors)
		}
	}
}

// TestNothingIsLeft checks that a database has gone with its test, and that a
// test which looks at nothing wrong has no errors.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	name := testdb.New(r).Config().ConnConfig.Database
	there := func() (there bool) {
		t.Helper()
		err := testdb.New(t, testdb.Options{Empty: true}).
			QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	if !there() {
		t.Errorf("%s is not there", name)
	}
	r.end()
	if there() || len(r.errors) > 0 {
		t.Errorf("%s is left: errors %q", name, r.errors)
	}
}
