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

// The outcomes. Busy means that somebody else is at it: look again when Lease
// is over, in case they died.
const (
	Sent    Outcome = "sent"
	Already Outcome = "already sent"
	Busy    Outcome = "busy"
)

// Lease is how long a mail belongs to whoever sends it; sendLimit, how long
// they may try, is well below.
const (
	Lease     = 2 * time.Minute
	sendLimit = 45 * time.Second
)

const (
	leaseMail = `UPDATE mails SET sending_until = now() + make_interval(secs => @lease), attempts = attempts + 1
WHERE id = @id AND sent_at IS NULL AND (sending_until IS NULL OR sending_until <= now())
RETURNING ` + columns

	markSent = `UPDATE mails SET sent_at = now(), sending_until = NULL,
    text_body = CASE WHEN confidential AND NOT @keep THEN '' ELSE text_body END,
    html_body = CASE WHEN confidential AND NOT @keep THEN '' ELSE html_body END
WHERE id = @id AND sent_at IS NULL`

	// Only by whoever made the last attempt: another's lease is left alone.
	releaseMail = `UPDATE mails SET sending_until = NULL WHERE id = @id AND sent_at IS NULL AND attempts = @attempts`
)

// SendOne sends a mail of the outbox, if it still is to be sent and nobody
// else is at it. After an error the mail is free for the next attempt. An
// unknown id is a fault of kind NotFound.
func SendOne(ctx context.Context, pool *pgxpool.Pool, s Sender, id int64) (Outcome, error) {
	m, ok, err := lease(ctx, pool, id)
	if err != nil {
		return "", err
	}
	if !ok {
		return lookAgain(ctx, pool, id)
	}
	if err := send(ctx, s, m); err != nil {
		return "", errors.Join(fmt.Errorf("mail: send %d: %w", id, err), finish(ctx, pool, releaseMail, pgx.NamedArgs{"id": id, "attempts": m.Attempts}))
	}
	return Sent, finish(ctx, pool, markSent, pgx.NamedArgs{"id": id, "keep": s.Keeps()})
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

// lookAgain says why a mail could not be leased.
func lookAgain(ctx context.Context, pool *pgxpool.Pool, id int64) (Outcome, error) {
	m, err := Get(ctx, pool, id)
	if err != nil {
		return "", err
	}
	if m.SentAt != nil {
		return Already, nil
	}
	return Busy, nil
}

func send(ctx context.Context, s Sender, m Mail) error {
	ctx, stop := context.WithTimeout(ctx, sendLimit)
	defer stop()
	return s.Send(ctx, m)
}

// finish writes down how it came out, also when the process is told to stop.
func finish(ctx context.Context, pool *pgxpool.Pool, sql string, args pgx.NamedArgs) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	_, err := pool.Exec(ctx, sql, args)
	return db.Explain("mail: note the outcome", err)
}
