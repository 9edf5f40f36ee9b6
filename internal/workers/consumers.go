package workers

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/telemetry"
)

// consumers binds each kind to the one call that does it.
func (d Deps) consumers() *river.Workers {
	w := river.NewWorkers()
	river.AddWorker(w, work(func(ctx context.Context, j *river.Job[jobs.Settle]) error {
		return d.Market.Settle(ctx, rental.ID(j.Args.Rental))
	}))
	river.AddWorker(w, work(func(ctx context.Context, j *river.Job[jobs.EndCheckout]) error {
		return d.Market.EndCheckout(ctx, payment.ID(j.Args.Payment), j.Attempt)
	}))
	river.AddWorker(w, work(func(ctx context.Context, j *river.Job[jobs.ExpireSession]) error {
		return d.Market.ExpireSession(ctx, payment.ID(j.Args.Payment), j.Attempt)
	}))
	river.AddWorker(w, work(func(ctx context.Context, j *river.Job[jobs.MakeRefund]) error {
		return d.Market.MakeRefund(ctx, payment.RefundID(j.Args.Refund))
	}))
	river.AddWorker(w, work(func(ctx context.Context, j *river.Job[jobs.Unblock]) error {
		return d.Market.BlockOver(ctx, j.Args.Area)
	}))
	river.AddWorker(w, work(d.applyEvent))
	river.AddWorker(w, work(d.syncRefunds))
	river.AddWorker(w, work(func(ctx context.Context, j *river.Job[jobs.Remind]) error {
		return d.Market.Remind(ctx, rental.ID(j.Args.Rental), j.Args.Why)
	}))
	river.AddWorker(w, work(d.postman().send))
	river.AddWorker(w, work(d.upkeep))
	river.AddWorker(w, reconciler{d: d})
	return w
}

// work wraps a consumer with what all have in common: a job that came too
// early waits, one that cannot heal stops.
func work[T river.JobArgs](fn func(ctx context.Context, j *river.Job[T]) error) river.Worker[T] {
	return river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error {
		err := fn(ctx, j)
		var early market.NotYet
		switch {
		case errors.As(err, &early):
			return river.JobSnooze(early.Wait + time.Second)
		case errors.Is(err, gateway.ErrRefused) || mail.IsPermanent(err):
			return river.JobCancel(err)
		}
		return err
	})
}

func (d Deps) applyEvent(ctx context.Context, j *river.Job[jobs.ApplyEvent]) error {
	kind, outcome, err := d.Market.ApplyEvent(ctx, j.Args.Event)
	if err != nil {
		outcome = "failed"
	}
	d.Metrics.Webhooks.WithLabelValues(telemetry.KnownEvent(kind), outcome).Inc()
	return err
}

// giveUpForeign is how long a refund may wait for its payment to be known;
// after that it is taken for somebody else's.
const giveUpForeign = 10 * time.Minute

func (d Deps) syncRefunds(ctx context.Context, j *river.Job[jobs.SyncRefunds]) error {
	err := d.Market.SyncRefunds(ctx, j.Args.PaymentIntent)
	var early market.NotYet
	if errors.As(err, &early) && j.AttemptedAt != nil && j.AttemptedAt.Sub(j.CreatedAt) > giveUpForeign {
		return nil
	}
	return err
}

// upkeep keeps the queue's planner statistics fresh: with stale ones the
// promotion of scheduled jobs goes quadratic.
func (d Deps) upkeep(ctx context.Context, _ *river.Job[jobs.Upkeep]) error {
	if _, err := d.Pool.Exec(ctx, `ANALYZE river_job`); err != nil {
		return err
	}
	if err := (mourner{d}).buryDead(ctx); err != nil {
		return err
	}
	if err := d.Market.ForgetRequests(ctx); err != nil {
		return err
	}
	if err := d.Market.SweepPictures(ctx); err != nil {
		return err
	}
	return d.Sweep(ctx)
}
