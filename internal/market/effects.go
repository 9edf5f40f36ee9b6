package market

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/mail"
	"tuval/internal/mailtext"
	"tuval/internal/rental"
)

// effects are what a transition leaves to be written when its locks and
// decisions are done: history, later work and mails, last in the lock order.
type effects struct {
	events []ledger.Event
	jobs   []jobs.Request
	mails  []mail.Message
}

func (fx *effects) event(e ledger.Event) { fx.events = append(fx.events, e) }

func (fx *effects) job(args river.JobArgs) { fx.jobs = append(fx.jobs, jobs.Request{Args: args}) }

func (fx *effects) jobAt(at time.Time, args river.JobArgs) {
	fx.jobs = append(fx.jobs, jobs.Request{Args: args, At: at})
}

// mail queues one mail about a rental. The fact is said once, whatever
// repeats. A rental without an address gets none.
func (fx *effects) mail(r rental.Rental, kind, fact string, text mailtext.Mail) {
	fx.mailUntil(r, time.Time{}, kind, fact, text)
}

// mailUntil is mail for what has lost its sense after an instant.
func (fx *effects) mailUntil(r rental.Rental, stale time.Time, kind, fact string, text mailtext.Mail) {
	if r.Email == nil {
		return
	}
	fx.mails = append(fx.mails, mail.Message{
		Fact: kind + ":" + fact, Kind: kind, RentalID: int64(r.ID), To: *r.Email,
		Subject: text.Subject, Text: text.Text, HTML: text.HTML, StaleAt: stale,
	})
}

// write ends a transition's transaction.
func (m *Market) write(ctx context.Context, tx pgx.Tx, fx *effects) error {
	for _, msg := range fx.mails {
		id, fresh, err := mail.Enqueue(ctx, tx, msg)
		if err != nil {
			return err
		}
		if fresh {
			fx.job(jobs.SendMail{Mail: id})
		}
	}
	if len(fx.events) > 0 {
		if err := ledger.Append(ctx, tx, fx.events...); err != nil {
			return err
		}
	}
	return m.queue.Put(ctx, tx, fx.jobs...)
}

// about starts an event of a rental.
func about(r rental.Rental, kind ledger.Kind, actor string) ledger.Event {
	return ledger.Event{
		Kind: kind, Claim: int64(r.ID), Rect: r.Rect, Currency: r.PricePerWeek.Currency, Actor: actor,
	}
}
