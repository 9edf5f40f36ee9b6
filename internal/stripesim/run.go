package stripesim

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// senders is how many webhooks one process sends at a time.
const senders = 8

// Run sends webhooks and ends sessions until ctx is done; it returns when the
// last of its goroutines has stopped. Any number of processes may run it: a
// webhook belongs to one of them at a time. It always returns nil; trouble
// with the database is logged and tried again.
func (s *Sim) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { s.sendLoop(ctx) })
	all.Go(func() { s.expireLoop(ctx) })
	all.Go(func() { s.tidyLoop(ctx) })
	all.Wait()
	return nil
}

// sendLoop hands what is due to at most senders goroutines.
func (s *Sim) sendLoop(ctx context.Context) {
	var sending sync.WaitGroup
	defer sending.Wait()
	free := make(chan struct{}, senders)
	for range senders {
		free <- struct{}{}
	}
	for ctx.Err() == nil {
		due, err := s.takeDeliveries(ctx, len(free))
		s.complain(ctx, err)
		for _, d := range due {
			<-free
			sending.Go(func() {
				s.deliver(ctx, d)
				free <- struct{}{}
				s.nudge() // a sender is free, and a batch may go on
			})
		}
		if len(due) == 0 {
			s.sleep(ctx, s.untilNextWebhook(ctx))
		}
	}
}

// sleep waits for d, for a nudge, or for the end.
func (s *Sim) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-timer.C:
	}
}

// untilNextWebhook is when the next retry is due, or Poll if that is sooner.
func (s *Sim) untilNextWebhook(ctx context.Context) time.Duration {
	const next = `
		SELECT COALESCE(min(GREATEST(next_attempt_at, COALESCE(sending_until, next_attempt_at))) - now(), @poll::interval) AS gap
		FROM stripesim.deliveries WHERE delivered_at IS NULL AND NOT held AND next_attempt_at > now()`
	return s.until(ctx, next)
}

// until asks for a gap and keeps it between a moment and Poll.
func (s *Sim) until(ctx context.Context, sql string) time.Duration {
	type row struct{ Gap time.Duration }
	r, err := one[row](ctx, s.o.Pool, sql, pgx.StrictNamedArgs{"poll": s.o.Poll})
	if err != nil || r == nil {
		return s.o.Poll
	}
	return min(max(r.Gap, time.Millisecond), s.o.Poll)
}

// expireLoop ends sessions at their time.
func (s *Sim) expireLoop(ctx context.Context) {
	const next = `SELECT COALESCE(min(expires_at) - now(), @poll::interval) AS gap FROM stripesim.sessions WHERE status = 'open'`
	for ctx.Err() == nil {
		more, err := s.expireDue(ctx)
		s.complain(ctx, err)
		if !more {
			pause(ctx, s.until(ctx, next))
		}
	}
}

// tidyLoop throws away, once an hour, what nobody can ask for any more.
func (s *Sim) tidyLoop(ctx context.Context) {
	for ctx.Err() == nil {
		for _, sql := range []string{
			`DELETE FROM stripesim.idempotency_keys WHERE created < now() - interval '25 hours'`,
			`DELETE FROM stripesim.requests WHERE at < now() - interval '7 days'`,
			`DELETE FROM stripesim.events WHERE created < now() - interval '31 days'`,
			`DELETE FROM stripesim.faults WHERE remaining = 0`,
		} {
			_, err := s.o.Pool.Exec(ctx, sql)
			s.complain(ctx, wrap("stripesim: tidy up", err))
		}
		pause(ctx, time.Hour)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// complain logs trouble, and waits a little before the next try.
func (s *Sim) complain(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	s.o.Logger.Warn("stripesim: trouble in the background", "error", err)
	pause(ctx, s.o.Poll)
}
