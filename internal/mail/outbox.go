package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Message is a mail to be queued.
type Message struct {
	Fact     string // what it tells of, once for ever
	Kind     string // what sort of mail it is
	RentalID int64  // 0: none
	To       string // one address, as package text returns it
	Subject  string
	Text     string
	HTML     string

	// Confidential mails lose their words when they are sent or become stale.
	Confidential bool

	// StaleAt is when the mail has lost its sense, such as the event that a
	// reminder is about: from then on it is dropped, not sent. Zero: never.
	StaleAt time.Time
}

// Mail is a row of the outbox.
type Mail struct {
	ID        int64
	Fact      string
	Kind      string
	RentalID  int64 // 0: none
	To        string
	Subject   string
	Text      string
	HTML      string
	CreatedAt time.Time
	SentAt    *time.Time
	Attempts  int // how often it was begun to be sent

	StaleAt   *time.Time // nil: never
	DroppedAt *time.Time // when it was decided not to send it
	Why       Drop       // why it was dropped, empty when it was not
}

// Drop says why a mail is not sent.
type Drop string

// The reasons for a drop. A refused mail may be tried again; a stale one is
// out of the question.
const (
	Stale   Drop = "stale"
	Refused Drop = "refused"
)

const columns = `id, fact, kind, coalesce(rental_id, 0), recipient, subject, text_body, html_body, created_at, sent_at, attempts, stale_at, dropped_at, dropped_why`

const (
	insertMail = `INSERT INTO mails (fact, kind, rental_id, recipient, subject, text_body, html_body, confidential, stale_at)
VALUES (@fact, @kind, nullif(@rental::bigint, 0), @to, @subject, @text, @html, @confidential, @stale)
ON CONFLICT (fact) DO NOTHING RETURNING id`

	findFact = `SELECT id FROM mails WHERE fact = @fact`

	listMails = `SELECT ` + columns + ` FROM mails ORDER BY id DESC LIMIT $1`

	getMail = `SELECT ` + columns + ` FROM mails WHERE id = $1`
)

// Enqueue puts a mail into the outbox. fresh is false when the fact was told
// before: then id is that earlier mail's, and there is nothing to send. The
// caller inserts the job for a fresh one in the same transaction.
func Enqueue(ctx context.Context, tx pgx.Tx, m Message) (id int64, fresh bool, err error) {
	args := pgx.NamedArgs{
		"fact": m.Fact, "kind": m.Kind, "rental": m.RentalID, "to": m.To, "subject": m.Subject,
		"text": m.Text, "html": m.HTML, "confidential": m.Confidential, "stale": nullTime(m.StaleAt),
	}
	err = tx.QueryRow(ctx, insertMail, args).Scan(&id)
	if err == nil {
		return id, true, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return 0, false, fmt.Errorf("mail: enqueue: %w", err)
	}
	if err := tx.QueryRow(ctx, findFact, args).Scan(&id); err != nil {
		return 0, false, fmt.Errorf("mail: find what was told: %w", err)
	}
	return id, false, nil
}

const makeStale = `UPDATE mails SET stale_at = now()
WHERE rental_id = @rental AND kind = ANY(@kinds) AND sent_at IS NULL AND dropped_at IS NULL AND (stale_at IS NULL OR stale_at > now())`

// MakeStale takes the sense from the mails of a rental that are of the given
// kinds and still wait: what they were written about has changed, such as an
// end that was moved after its reminder was queued. They are dropped when
// their turn comes; one that is being sent at this moment goes out.
func MakeStale(ctx context.Context, tx pgx.Tx, rentalID int64, kinds ...string) error {
	_, err := tx.Exec(ctx, makeStale, pgx.NamedArgs{"rental": rentalID, "kinds": kinds})
	return db.Explain("mail: make stale", err)
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// shown is how many mails List returns.
const shown = 200

// List returns the newest mails, newest first, for the development mailbox.
func List(ctx context.Context, q db.Querier) ([]Mail, error) {
	rows, err := q.Query(ctx, listMails, shown)
	if err != nil {
		return nil, db.Explain("mail: list", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Mail])
	return all, db.Explain("mail: list", err)
}

// Get returns a mail. An unknown id is a fault of kind NotFound.
func Get(ctx context.Context, q db.Querier, id int64) (Mail, error) {
	rows, err := q.Query(ctx, getMail, id)
	if err != nil {
		return Mail{}, db.Explain("mail: get", err)
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Mail])
	if errors.Is(err, pgx.ErrNoRows) {
		return Mail{}, fault.New(fault.NotFound, "There is no such mail.")
	}
	return m, db.Explain("mail: get", err)
}
