package testdb

import (
	"context"
)

// invariants is the one place where every test's database is judged after the
// test. It returns one line a violation.
func invariants(context.Context, string) ([]string, error) {
	return nil, nil
}
