package market

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tuval/internal/creative"
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
	mails  []draft
	stale  []outdated
	places []placing
	says   word // goes with the events that its admin makes
}

func (fx *effects) event(e ledger.Event) {
	if fx.says.by != "" && e.Actor == fx.says.by {
		e.Note = fx.says.text
	}
	fx.events = append(fx.events, e)
}

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
	fx.mailTitled(r, stale, kind, fact, func(string) mailtext.Mail { return text })
}

// mailTitled is mailUntil for words that name the picture that shows.
func (fx *effects) mailTitled(r rental.Rental, stale time.Time, kind, fact string, words func(title string) mailtext.Mail) {
	if r.Email == nil {
		return
	}
	fx.mails = append(fx.mails, draft{words: words, to: mail.Message{
		Fact: kind + ":" + fact, Kind: kind, RentalID: int64(r.ID), To: *r.Email, StaleAt: stale,
	}})
}

// outdate takes the sense from mails of these kinds that still wait: what they
// say has changed.
func (fx *effects) outdate(r rental.Rental, kinds ...string) {
	fx.mails = slices.DeleteFunc(fx.mails, func(d draft) bool {
		return d.to.RentalID == int64(r.ID) && slices.Contains(kinds, d.to.Kind)
	})
	fx.stale = append(fx.stale, outdated{r.ID, kinds})
}

// draft is a mail whose words wait until all is decided.
type draft struct {
	to    mail.Message
	words func(title string) mailtext.Mail
}

type outdated struct {
	rental rental.ID
	kinds  []string
}

// write ends a transition's transaction.
func (m *Market) write(ctx context.Context, tx pgx.Tx, fx *effects) error {
	for _, o := range fx.stale {
		if err := mail.MakeStale(ctx, tx, int64(o.rental), o.kinds...); err != nil {
			return err
		}
	}
	for _, d := range fx.mails {
		title, err := creative.TitleOf(ctx, tx, rental.ID(d.to.RentalID))
		if err != nil {
			return err
		}
		msg, words := d.to, d.words(title)
		msg.Subject, msg.Text, msg.HTML = words.Subject, words.Text, words.HTML
		id, fresh, err := mail.Enqueue(ctx, tx, msg)
		if err != nil {
			return err
		}
		if fresh {
			fx.job(jobs.SendMail{Mail: id})
		}
	}
	if err := m.occupy(ctx, tx, fx); err != nil {
		return err
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
