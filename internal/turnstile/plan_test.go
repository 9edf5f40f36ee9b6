package turnstile_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// PostgreSQL plans each statement a few times and then keeps the plan. If it
// preferred a new plan for each call, which it does where knowing the arguments
// promises much, every look would cost several times as much.
func TestPlansAreKept(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"RESET random_page_cost", "SET random_page_cost = 4", "SET random_page_cost = 1.1"} {
		c := newCanvas(t, 1)
		c.exec(setting)
		for i := range 20 {
			for _, r := range []grid.Rect{rect(10+i, 10+i, 6, 4), rect(i, i, 1, 100-i), rect(0, i, 100, 20), rect(5, 5, 20, 20)} {
				if _, err := turnstile.Taken(t.Context(), c, r); err != nil {
					t.Fatal(err)
				}
				if err := c.end(c.must(r, time.Minute)); err != nil {
					t.Fatal(err)
				}
			}
		}
		rows, err := c.Query(t.Context(), `SELECT statement, custom_plans FROM pg_prepared_statements WHERE statement ~ '(FROM blocks|_blocks\()'`)
		if err != nil {
			t.Fatal(err)
		}
		var sql string
		var custom, n int
		_, err = pgx.ForEachRow(rows, []any{&sql, &custom}, func() error {
			n++
			if custom > 5 {
				t.Errorf("%s: planned %d times: %s", setting, custom, sql)
			}
			return nil
		})
		if err != nil || n < 4 {
			t.Errorf("%d statements: %v", n, err)
		}
	}
}
