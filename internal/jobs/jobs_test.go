package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/testdb"
)

func all() []jobs.Args {
	return []jobs.Args{
		jobs.Settle{},
		jobs.Remind{},
		jobs.EndCheckout{},
		jobs.ExpireSession{},
		jobs.ApplyEvent{},
		jobs.MakeRefund{},
		jobs.SyncRefunds{},
		jobs.Unblock{},
		jobs.SendMail{},
		jobs.Upkeep{},
		jobs.Reconcile{},
	}
}

// Every kind has attempts, a queue of its sort, and gaps that grow.
func TestEveryKindHasAPolicy(t *testing.T) {
	t.Parallel()
	kinds := jobs.Kinds()
	if len(kinds) != len(all()) {
		t.Errorf("%d policies for %d kinds", len(kinds), len(all()))
	}
	for _, a := range all() {
		p, ok := kinds[a.Kind()]
		if !ok || p.Attempts < 1 || p.Gap <= 0 || p.Max < p.Gap || p.Queue == "" {
			t.Errorf("%s: %+v", a.Kind(), p)
		}
		opts := a.(interface{ InsertOpts() river.InsertOpts }).InsertOpts()
		if opts.MaxAttempts != p.Attempts || opts.Queue != p.Queue {
			t.Errorf("%s is put in with %+v", a.Kind(), opts)
		}
		for failed := 1; failed <= p.Attempts; failed++ {
			ideal := min(p.Gap<<min(failed-1, 20), p.Max)
			if gap := jobs.After(a.Kind(), failed); gap < ideal*3/4 || gap > ideal*5/4+1 {
				t.Errorf("%s: gap %v after %d failures, want about %v", a.Kind(), gap, failed, ideal)
			}
		}
	}
}

// Jobs come and go with their transaction, at once or at their time.
func TestPut(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	queue, err := jobs.NewQueue(pool)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	put := func(ctx context.Context, tx pgx.Tx) error {
		return queue.Put(ctx, tx, jobs.Request{Args: jobs.Settle{Rental: 5, Why: jobs.Ends}, At: at}, jobs.Request{Args: jobs.MakeRefund{Refund: 6}})
	}
	if err := db.InTx(t.Context(), pool, "put", put); err != nil {
		t.Fatal(err)
	}
	_ = db.InTx(t.Context(), pool, "not put", func(ctx context.Context, tx pgx.Tx) error {
		if err := put(ctx, tx); err != nil {
			t.Error(err)
		}
		return context.Canceled
	})
	if err := db.InTx(t.Context(), pool, "nothing", func(ctx context.Context, tx pgx.Tx) error { return queue.Put(ctx, tx) }); err != nil {
		t.Error(err)
	}
	var n, later int
	const sql = `SELECT count(*), count(*) FILTER (WHERE state = 'scheduled' AND scheduled_at = $1 AND args ->> 'rental' = '5') FROM river_job`
	if err := pool.QueryRow(t.Context(), sql, at).Scan(&n, &later); err != nil || n != 2 || later != 1 {
		t.Errorf("%d jobs, %d for later, %v", n, later, err)
	}
	if err := jobs.Tune(t.Context(), pool); err != nil {
		t.Error(err)
	}
}
