package workers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/market"
	"tuval/internal/telemetry"
)

// The lengths of a job: longer than any time limit of the calls it makes, and
// when a job of a dead worker is handed to another.
const (
	jobTimeout  = 45 * time.Second
	rescueAfter = 60 * time.Second
	upkeepEvery = 3 * time.Minute
)

// Deps is what the workers work with.
type Deps struct {
	Pool    *pgxpool.Pool
	Market  *market.Market
	Mail    mail.Sender
	Metrics *telemetry.Metrics
	Log     *slog.Logger
	Sweep   func(ctx context.Context) error // clears sessions and links that are over
	Pace    Pace

	ReconcileEvery time.Duration // zero: only when somebody asks
}

// Pace changes how long a job may take, when one of a dead worker is taken
// over, and how many mails go out. Zero values are the product's.
type Pace struct {
	JobTimeout  time.Duration
	RescueAfter time.Duration // not below JobTimeout
	Mails       float64       // a second, in this process
}

// New makes the client that works the jobs; the caller starts and stops it.
func New(d Deps) (*river.Client[pgx.Tx], error) {
	client, err := river.NewClient(riverpgxv5.New(d.Pool), &river.Config{
		Queues: map[string]river.QueueConfig{
			// Eighty deadlines a second a process: nobody waits for them, and
			// claims do not feel them.
			jobs.QueueClock:  {MaxWorkers: 4, FetchCooldown: 50 * time.Millisecond},
			jobs.QueueMarket: {MaxWorkers: 12, FetchCooldown: 20 * time.Millisecond},
			jobs.QueueStripe: {MaxWorkers: 12, FetchCooldown: 20 * time.Millisecond},
			jobs.QueueMail:   {MaxWorkers: mailsAtOnce, FetchCooldown: 100 * time.Millisecond},
		},
		// New jobs are told of; polling is for what was told while the
		// connection was lost.
		FetchPollInterval:    5 * time.Second,
		Workers:              d.consumers(),
		JobTimeout:           cmp.Or(d.Pace.JobTimeout, jobTimeout),
		RescueStuckJobsAfter: cmp.Or(d.Pace.RescueAfter, rescueAfter),
		RetryPolicy:          policy{},
		ErrorHandler:         mourner{d},
		Middleware:           []rivertype.Middleware{river.WorkerMiddlewareFunc(d.observe)},
		PeriodicJobs:         d.periodic(),
		Logger:               slog.New(slog.DiscardHandler), // failures are logged by mourner, once
	})
	if err != nil {
		return nil, fmt.Errorf("workers: %w", err)
	}
	return client, nil
}

// policy asks package jobs for the gap before the next attempt.
type policy struct{}

// NextRetry is when the job is tried again.
func (policy) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(jobs.After(job.Kind, len(job.Errors)+1))
}

// observe counts a run, its outcome and how late it began.
func (d Deps) observe(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	ctx = telemetry.With(ctx, slog.Int64("job", job.ID), slog.String("kind", job.Kind))
	if job.AttemptedAt != nil {
		d.Metrics.JobLateness.WithLabelValues(job.Kind).Observe(max(0, job.AttemptedAt.Sub(job.ScheduledAt).Seconds()))
	}
	err := work(ctx)
	outcome := "done"
	var stopped *rivertype.JobCancelError
	var early *rivertype.JobSnoozeError
	switch {
	case errors.As(err, &early):
		outcome = "early"
	case errors.As(err, &stopped):
		outcome = "stopped"
		d.Log.WarnContext(ctx, "job stopped", "attempt", job.Attempt, "error", err)
		mourner{d}.bury(ctx, job, err)
	case err != nil:
		outcome = "failed"
	}
	d.Metrics.Jobs.WithLabelValues(job.Kind, outcome).Inc()
	return err
}
