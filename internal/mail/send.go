package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
)

// Sender gives mails to whoever delivers them.
type Sender interface {
	// Send returns nil when the mail was taken. An error for which IsPermanent
	// is true will not heal by trying again.
	Send(ctx context.Context, m Mail) error

	// Keeps reports whether sent mails are to stay readable in the outbox.
	Keeps() bool
}

// Mailbox is the Sender of development: the mail stays in the outbox and is
// shown at /dev/mail.
type Mailbox struct{}

// Send does nothing: the mail is where it is read.
func (Mailbox) Send(context.Context, Mail) error { return nil }

// Keeps is true: people read the mails here.
func (Mailbox) Keeps() bool { return true }

// Outcome is how an attempt to send came out when nothing went wrong.
type Outcome string

// The outcomes. Dropped means that the mail's time was over before its turn
// came. Busy means that somebody else is at it: look again when Lease is over,
// in case they died.
const (
	Sent    Outcome = "sent"
	Already Outcome = "already sent"
	Dropped Outcome = "dropped"
	Busy    Outcome = "busy"
)

// Lease is how long a mail belongs to whoever sends it. It covers the time
// they may try and that of their note, and is over before the job of a worker
// that died is handed to another.
const (
	Lease     = 55 * time.Second
	sendLimit = 45 * time.Second
	noteLimit = 10 * time.Second
)

// atRest is true of a mail that nobody is sending.
const atRest = `sent_at IS NULL AND (sending_until IS NULL OR sending_until <= now())`

const (
	leaseMail = `UPDATE mails SET sending_until = now() + make_interval(secs => @lease), attempts = attempts + 1,
    dropped_at = NULL, dropped_why = ''
WHERE id = @id AND ` + atRest + ` AND dropped_why <> 'stale' AND (stale_at IS NULL OR stale_at > now())
RETURNING ` + columns

	dropStale = `UPDATE mails SET sending_until = NULL, dropped_at = now(), dropped_why = 'stale',
    text_body = CASE WHEN confidential THEN '' ELSE text_body END,
    html_body = CASE WHEN confidential THEN '' ELSE html_body END
WHERE id = @id AND ` + atRest + ` AND dropped_why <> 'stale' AND stale_at <= now()`

	// Also when it was dropped meanwhile: what went out went out.
	markSent = `UPDATE mails SET sent_at = now(), sending_until = NULL, dropped_at = NULL, dropped_why = '',
    text_body = CASE WHEN confidential AND NOT @keep THEN '' ELSE text_body END,
    html_body = CASE WHEN confidential AND NOT @keep THEN '' ELSE html_body END
WHERE id = @id AND sent_at IS NULL`

	// Only by whoever made the last attempt: another's lease is left alone.
	mine        = ` WHERE id = @id AND sent_at IS NULL AND dropped_at IS NULL AND attempts = @attempts`
	releaseMail = `UPDATE mails SET sending_until = NULL` + mine
	refuseMail  = `UPDATE mails SET sending_until = NULL, dropped_at = now(), dropped_why = 'refused'` + mine
)

// SendOne sends a mail of the outbox, if it still is to be sent and nobody
// else is at it. No connection to the database is held while the server is
// spoken to. After an error the mail is free for the next attempt; after a
// permanent one it counts as dropped until somebody tries again all the same.
// An unknown id is a fault of kind NotFound.
func SendOne(ctx context.Context, pool *pgxpool.Pool, s Sender, id int64) (Outcome, error) {
	m, ok, err := lease(ctx, pool, id)
	if err != nil {
		return "", err
	}
	if !ok {
		return lookAgain(ctx, pool, id)
	}
	if err := send(ctx, s, m); err != nil {
		after := releaseMail
		if IsPermanent(err) {
			after = refuseMail
		}
		return "", errors.Join(fmt.Errorf("mail: send %d: %w", id, err), note(ctx, pool, after, pgx.NamedArgs{"id": id, "attempts": m.Attempts}))
	}
	return Sent, note(ctx, pool, markSent, pgx.NamedArgs{"id": id, "keep": s.Keeps()})
}

func lease(ctx context.Context, pool *pgxpool.Pool, id int64) (Mail, bool, error) {
	rows, err := pool.Query(ctx, leaseMail, pgx.NamedArgs{"id": id, "lease": Lease.Seconds()})
	if err != nil {
		return Mail{}, false, db.Explain("mail: lease", err)
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Mail])
	if errors.Is(err, pgx.ErrNoRows) {
		return Mail{}, false, nil
	}
	return m, err == nil, db.Explain("mail: lease", err)
}

// lookAgain says why a mail could not be leased, and drops it when its time
// is over.
func lookAgain(ctx context.Context, pool *pgxpool.Pool, id int64) (Outcome, error) {
	if _, err := pool.Exec(ctx, dropStale, pgx.NamedArgs{"id": id}); err != nil {
		return "", db.Explain("mail: drop", err)
	}
	m, err := Get(ctx, pool, id)
	switch {
	case err != nil:
		return "", err
	case m.SentAt != nil:
		return Already, nil
	case m.Why == Stale:
		return Dropped, nil
	}
	return Busy, nil
}

func send(ctx context.Context, s Sender, m Mail) error {
	ctx, stop := context.WithTimeout(ctx, sendLimit)
	defer stop()
	return s.Send(ctx, m)
}

// note writes down how it came out, also when the process is told to stop. It
// insists for a while: a mail that went out unnoted goes out again.
func note(ctx context.Context, pool *pgxpool.Pool, sql string, args pgx.NamedArgs) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer stop()
	for {
		_, err := pool.Exec(ctx, sql, args)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return db.Explain("mail: note the outcome", err)
		case <-time.After(noteAgain):
		}
	}
}

// noteAgain is the pause before a note is tried again.
const noteAgain = 250 * time.Millisecond
