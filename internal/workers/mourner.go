package workers

import (
	"context"
	"fmt"

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
		Action:  "Look at the job under Jobs, mend the cause and retry it there.",
	}
	if reportErr := m.Market.Report(ctx, a); reportErr != nil {
		m.Log.ErrorContext(ctx, "dead job not reported", "job", job.ID, "error", reportErr, "cause", err)
	}
}
