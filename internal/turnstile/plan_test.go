package turnstile_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/turnstile"
)

// PostgreSQL plans each statement a few times and then keeps the plan. If it
// preferred a new plan for each call, a claim would cost twice as much.
func TestPlansAreKept(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 1)
	for i := range 20 {
		old := c.must(rect(10+i, 10+i, 6, 4), time.Minute)
		c.lapse(old)
		l := c.must(rect(12+i, 11+i, 20, 20), time.Minute)
		if err := c.end(l); err != nil {
			t.Fatal(err)
		}
		if err := c.end(c.must(rect(i, i, 1, 100-i), time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := c.Query(t.Context(), `SELECT statement, custom_plans FROM pg_prepared_statements WHERE statement ~ '(FROM|JOIN) blocks\M'`)
	if err != nil {
		t.Fatal(err)
	}
	var sql string
	var custom, n int
	_, err = pgx.ForEachRow(rows, []any{&sql, &custom}, func() error {
		n++
		if custom > 5 {
			t.Errorf("planned %d times: %s", custom, sql)
		}
		return nil
	})
	if err != nil || n != 5 {
		t.Errorf("%d statements, want Owners, Claim twice, Extend and Release: %v", n, err)
	}
}

// No statement reads the whole canvas to find a rect.
func TestStatementsGoByTheIndex(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 1)
	for name, sql := range turnstile.Statements() {
		err := db.InTx(t.Context(), c, "explain", func(ctx context.Context, tx pgx.Tx) error {
			for _, set := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, `PREPARE s AS ` + sql} {
				if _, err := tx.Exec(ctx, set); err != nil {
					return err
				}
			}
			nulls := strings.TrimSuffix(strings.Repeat("NULL,", parameters(sql)), ",")
			rows, err := tx.Query(ctx, `EXPLAIN EXECUTE s(`+nulls+`)`)
			if err != nil {
				return err
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan on blocks") {
				t.Errorf("%s reads all blocks:\n%s", name, text)
			}
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `DEALLOCATE s`)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// parameters is the highest $n.
func parameters(sql string) (highest int) {
	for _, m := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(sql, -1) {
		n, _ := strconv.Atoi(m[1])
		highest = max(highest, n)
	}
	return highest
}
