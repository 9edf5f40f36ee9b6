package mail_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/mail"
	"tuval/internal/testdb"
)

// reminder is a mail that is worth nothing after the given time from now.
func reminder(fact string, left time.Duration) mail.Message {
	m := letter(fact)
	m.StaleAt = time.Now().Add(left)
	return m
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func unsendable(t *testing.T) mail.Sender {
	return sender{func(_ context.Context, m mail.Mail) error {
		t.Errorf("%s is sent", m.Fact)
		return nil
	}}
}

func try(t *testing.T, pool *pgxpool.Pool, s mail.Sender, id int64, want mail.Outcome) {
	t.Helper()
	if out, err := mail.SendOne(t.Context(), pool, s, id); out != want || err != nil {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}

// A reminder goes out before its event, and never after it.
func TestAReminderIsNeverSentAfterItsEvent(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	early, _ := enqueue(t, pool, reminder("ends:1", time.Hour))
	try(t, pool, mail.Mailbox{}, early, mail.Sent)
	exec(t, pool, `UPDATE mails SET stale_at = now() - interval '1 hour'`)
	try(t, pool, unsendable(t), early, mail.Already)
	if m := get(t, pool, early); m.SentAt == nil || m.DroppedAt != nil {
		t.Errorf("sent in time, and kept as %+v", m)
	}

	secret := reminder("ends:2", -time.Microsecond)
	secret.Confidential = true
	late, _ := enqueue(t, pool, secret)
	for range 2 {
		try(t, pool, unsendable(t), late, mail.Dropped)
	}
	m := get(t, pool, late)
	if m.SentAt != nil || m.DroppedAt == nil || m.Why != mail.Stale || m.Attempts != 0 || m.Text != "" || m.HTML != "" {
		t.Errorf("dropped, and kept as %+v", m)
	}
}

// Each side of the instant, on the clock of the database: the same statement
// looks at the time and begins the attempt.
func TestTheInstantItself(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	id, _ := enqueue(t, pool, reminder("ends:1", time.Hour))
	failing := sender{func(context.Context, mail.Mail) error { return context.DeadlineExceeded }}
	if _, err := mail.SendOne(t.Context(), pool, failing, id); err == nil {
		t.Error("the failure is hidden")
	}
	// The server was down until the event: what failed before is dropped now.
	exec(t, pool, `UPDATE mails SET stale_at = now()`)
	try(t, pool, unsendable(t), id, mail.Dropped)
	if m := get(t, pool, id); m.Attempts != 1 {
		t.Errorf("%d attempts", m.Attempts)
	}
}

// What has changed takes the sense from the mails about it that still wait,
// and from no others.
func TestAChangeMakesMailsStale(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	exec(t, pool, `ALTER TABLE mails DROP CONSTRAINT mails_rental_id_fkey`) // the rentals do not matter here
	put := func(fact, kind string, rental int64, left time.Duration) int64 {
		m := reminder(fact, left)
		m.Kind, m.RentalID = kind, rental
		id, _ := enqueue(t, pool, m)
		return id
	}
	never := letter("never")
	never.Kind, never.RentalID = "ends soon", 1
	forever, _ := enqueue(t, pool, never)
	sent := put("sent", "ends soon", 1, time.Hour)
	try(t, pool, mail.Mailbox{}, sent, mail.Sent)
	waiting, other, receipt := put("1", "ends soon", 1, time.Hour), put("2", "ends soon", 2, time.Hour), put("3", "paid", 1, time.Hour)
	err := db.InTx(t.Context(), pool, "test", func(ctx context.Context, tx pgx.Tx) error {
		return mail.MakeStale(ctx, tx, 1, "ends soon", "ended")
	})
	if err != nil {
		t.Fatal(err)
	}
	try(t, pool, unsendable(t), waiting, mail.Dropped)
	try(t, pool, unsendable(t), forever, mail.Dropped)
	try(t, pool, mail.Mailbox{}, other, mail.Sent)
	try(t, pool, mail.Mailbox{}, receipt, mail.Sent)
	if m := get(t, pool, sent); m.StaleAt.Before(time.Now().Add(time.Minute)) {
		t.Errorf("what was sent was changed: %+v", m)
	}
}

// While somebody sends it, a mail is not dropped; and what went out counts as
// sent, also when another has dropped it meanwhile.
func TestWhatGoesOutIsNotDropped(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	id, _ := enqueue(t, pool, reminder("ends:1", time.Hour))
	slow := sender{func(context.Context, mail.Mail) error {
		exec(t, pool, `UPDATE mails SET stale_at = now()`)
		try(t, pool, unsendable(t), id, mail.Busy)
		exec(t, pool, `UPDATE mails SET sending_until = now()`)
		try(t, pool, unsendable(t), id, mail.Dropped)
		return nil
	}}
	try(t, pool, slow, id, mail.Sent)
	if m := get(t, pool, id); m.SentAt == nil || m.DroppedAt != nil || m.Why != "" {
		t.Errorf("kept as %+v", m)
	}
}

// What a server refuses for good waits for nobody, but a person may try again.
func TestARefusedMailIsDroppedUntilSomebodyTriesAgain(t *testing.T) {
	t.Parallel()
	pool, server := testdb.New(t), plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	id, _ := enqueue(t, pool, letter("paid:1"))
	server.when("RCPT", "550 5.1.1 no such user")
	for range 2 {
		if _, err := mail.SendOne(t.Context(), pool, smtp, id); !mail.IsPermanent(err) {
			t.Errorf("refused: %v", err)
		}
		if m := get(t, pool, id); m.DroppedAt == nil || m.Why != mail.Refused || m.Text == "" {
			t.Errorf("kept as %+v", m)
		}
	}
	server.healthy()
	try(t, pool, smtp, id, mail.Sent)
	if m := get(t, pool, id); m.SentAt == nil || m.DroppedAt != nil || m.Why != "" {
		t.Errorf("sent in the end, and kept as %+v", m)
	}

	stale, _ := enqueue(t, pool, reminder("ends:1", time.Hour))
	server.when("RCPT", "550 5.1.1 no such user")
	_, _ = mail.SendOne(t.Context(), pool, smtp, stale)
	server.healthy()
	exec(t, pool, `UPDATE mails SET stale_at = now() WHERE sent_at IS NULL`)
	try(t, pool, smtp, stale, mail.Dropped)
}
