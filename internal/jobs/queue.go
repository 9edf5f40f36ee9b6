package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// Queue puts jobs in. It works no jobs itself.
type Queue struct{ client *river.Client[pgx.Tx] }

// NewQueue makes a queue over the pool's database.
func NewQueue(pool *pgxpool.Pool) (*Queue, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		return nil, fmt.Errorf("jobs: make the queue: %w", err)
	}
	return &Queue{client: client}, nil
}

// Args is a job of any kind.
type Args = river.JobArgs

// Request is one job to put in. A zero At means at once.
type Request struct {
	Args river.JobArgs
	At   time.Time
}

// Put puts the jobs into the queue in the caller's transaction.
func (q *Queue) Put(ctx context.Context, tx pgx.Tx, requests ...Request) error {
	if len(requests) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(requests))
	for i, r := range requests {
		params[i] = river.InsertManyParams{Args: r.Args}
		if !r.At.IsZero() {
			params[i].InsertOpts = &river.InsertOpts{ScheduledAt: r.At}
		}
	}
	if _, err := q.client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("jobs: put in: %w", err)
	}
	return nil
}

// Retry gives a job that was given up another round of tries, at once. It
// reports false when the job is not there or was not given up.
func (q *Queue) Retry(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	job, err := q.client.JobRetryTx(ctx, tx, id)
	if errors.Is(err, rivertype.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("jobs: retry: %w", err)
	}
	return job.State == rivertype.JobStateAvailable, nil
}
