package workers

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"golang.org/x/time/rate"

	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/market"
)

// The pace of mails of one process. Many become due at one instant, since
// rentals sold by the week end together; a mail server that is flooded stops
// taking any.
const (
	mailsPerSecond = 20
	mailsAtOnce    = 8 // conversations with the server

	// longestTurn is how long a job waits for its turn in its place. It ends
	// before the lease of a mail could outlive its job (see mail.Lease).
	longestTurn = 5 * time.Second
)

// postman sends mails, each when it is its turn.
type postman struct {
	pool   *pgxpool.Pool
	sender mail.Sender
	pace   *rate.Limiter
}

func (d Deps) postman() *postman {
	return &postman{pool: d.Pool, sender: d.Mail, pace: rate.NewLimiter(rate.Limit(cmp.Or(d.Pace.Mails, mailsPerSecond)), 1)}
}

// send waits for the job's turn, with nothing in its hands, and sends.
func (p *postman) send(ctx context.Context, j *river.Job[jobs.SendMail]) error {
	if err := p.turn(ctx); err != nil {
		return err
	}
	outcome, err := mail.SendOne(ctx, p.pool, p.sender, j.Args.Mail)
	if err == nil && outcome == mail.Busy {
		return market.NotYet{Wait: mail.Lease}
	}
	return err
}

// turn waits until the pace allows one more mail. A turn that is far away, or
// that does not come before the job is told to stop, is no failed attempt:
// the job waits in the queue.
func (p *postman) turn(ctx context.Context) error {
	r := p.pace.Reserve()
	wait := r.Delay()
	if wait > longestTurn {
		r.Cancel()
		return market.NotYet{Wait: wait}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		r.Cancel()
		return market.NotYet{}
	}
}
