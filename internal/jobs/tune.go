package jobs

import (
	"context"
	"fmt"

	"tuval/internal/db"
)

// Tune keeps the planner's picture of the queue fresh: with stale statistics
// the promotion of many scheduled jobs takes quadratic time. It is called at
// start; the upkeep job repeats the ANALYZE.
func Tune(ctx context.Context, q db.Querier) error {
	for _, sql := range []string{
		`ALTER TABLE river_job SET (autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 500)`,
		`ANALYZE river_job`,
	} {
		if _, err := q.Exec(ctx, sql); err != nil {
			return fmt.Errorf("jobs: tune the queue: %w", err)
		}
	}
	return nil
}
