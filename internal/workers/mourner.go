package workers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"tuval/internal/market"
)

// mourner sees every failed run: it logs it once, and makes an anomaly of a
// job that will not be tried again.
type mourner struct{ Deps }

// HandleError notes a run that returned an error.
func (m mourner) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	m.Log.WarnContext(ctx, "job failed", "job", job.ID, "kind", job.Kind, "attempt", job.Attempt, "error", err)
	if job.Attempt >= job.MaxAttempts {
		m.bury(ctx, job, err)
	}
	return nil
}

// HandlePanic notes a run that panicked.
func (m mourner) HandlePanic(ctx context.Context, job *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	m.Log.ErrorContext(ctx, "job panicked", "job", job.ID, "kind", job.Kind, "panic", panicked, "trace", trace)
	if job.Attempt >= job.MaxAttempts {
		m.bury(ctx, job, fmt.Errorf("panic: %v", panicked))
	}
	return nil
}

func (m mourner) bury(ctx context.Context, job *rivertype.JobRow, err error) {
	a := market.Anomaly{
		Kind: "job dead", Fact: fmt.Sprintf("job:%d", job.ID),
		Message: fmt.Sprintf("Job %d (%s) was given up after %d attempts. See the job for its last error.", job.ID, job.Kind, job.Attempt),
		Action:  "Look at the job under Jobs, mend the cause, then try it again.",
		Remedy:  market.RetryJob, Job: job.ID,
	}
	if reportErr := m.Market.Report(ctx, a); reportErr != nil {
		m.Log.ErrorContext(ctx, "dead job not reported", "job", job.ID, "error", reportErr, "cause", err)
	}
}

// buryDead finds jobs that were given up without a word: their worker died at
// the last attempt.
func (m mourner) buryDead(ctx context.Context) error {
	const sql = `
		SELECT id, kind, attempt FROM river_job j WHERE state = 'discarded'
		AND NOT EXISTS (SELECT FROM anomalies WHERE fact = 'job:' || j.id AND (resolved_at IS NULL OR resolved_at > j.finalized_at))
		ORDER BY id LIMIT 100`
	rows, err := m.Pool.Query(ctx, sql)
	if err != nil {
		return fmt.Errorf("workers: look for dead jobs: %w", err)
	}
	dead, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*rivertype.JobRow, error) {
		j := &rivertype.JobRow{}
		return j, row.Scan(&j.ID, &j.Kind, &j.Attempt)
	})
	if err != nil {
		return fmt.Errorf("workers: look for dead jobs: %w", err)
	}
	for _, j := range dead {
		m.bury(ctx, j, errors.New("its worker died at the last attempt"))
	}
	return nil
}
