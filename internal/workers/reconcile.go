package workers

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"tuval/internal/fault"
	"tuval/internal/jobs"
)

// reconcileTimeout is the longest pass: after an outage of days there is much
// to settle and to fetch.
const reconcileTimeout = 10 * time.Minute

// periodic is what is put in by the clock, by one of all processes.
func (d Deps) periodic() []*river.PeriodicJob {
	every := func(gap time.Duration, args river.JobArgs) *river.PeriodicJob {
		return river.NewPeriodicJob(river.PeriodicInterval(gap),
			func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true})
	}
	all := []*river.PeriodicJob{every(upkeepEvery, jobs.Upkeep{})}
	if d.ReconcileEvery > 0 {
		all = append(all, every(d.ReconcileEvery, jobs.Reconcile{By: "clock"}))
	}
	return all
}

// reconciler runs a pass. It may take longer than other jobs.
type reconciler struct {
	river.WorkerDefaults[jobs.Reconcile]
	d Deps
}

// Timeout is how long a pass may take.
func (reconciler) Timeout(*river.Job[jobs.Reconcile]) time.Duration { return reconcileTimeout }

// Work runs a pass, or leaves it to the one that runs. What a pass could not
// look at it has told itself, and the next looks at it: no retry.
func (r reconciler) Work(ctx context.Context, j *river.Job[jobs.Reconcile]) error {
	report, err := r.d.Market.Reconcile(ctx, j.Args.By)
	if fault.Is(err, "reconciling") {
		return nil
	}
	if err != nil {
		return err
	}
	r.d.Log.InfoContext(ctx, "reconciled", "found", report.Found(), "took", report.Took, "trouble", report.Trouble)
	return nil
}
