package mail_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/mail"
	"tuval/internal/testdb"
)

func enqueue(t *testing.T, pool *pgxpool.Pool, m mail.Message) (id int64, fresh bool) {
	t.Helper()
	err := db.InTx(t.Context(), pool, "test", func(ctx context.Context, tx pgx.Tx) (err error) {
		id, fresh, err = mail.Enqueue(ctx, tx, m)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id, fresh
}

func letter(fact string) mail.Message {
	return mail.Message{Fact: fact, Kind: "paid", To: "ada@example.com", Subject: "Receipt", Text: "Thank you.\n", HTML: "<p>Thank you.</p>"}
}

func get(t *testing.T, pool *pgxpool.Pool, id int64) mail.Mail {
	t.Helper()
	m, err := mail.Get(t.Context(), pool, id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAFactIsToldOnce(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	first, fresh := enqueue(t, pool, letter("paid:1"))
	if !fresh {
		t.Error("the first mail is not fresh")
	}
	other := letter("paid:1")
	other.Text = "Once more."
	again, fresh := enqueue(t, pool, other)
	if fresh || again != first || get(t, pool, first).Text != "Thank you.\n" {
		t.Errorf("told again as %d, fresh %v", again, fresh)
	}
	if second, fresh := enqueue(t, pool, letter("paid:2")); !fresh || second == first {
		t.Error("another fact is not told")
	}
}

func TestAFactToldAtOnceIsToldOnce(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	type told struct {
		id    int64
		fresh bool
	}
	all := make(chan told, 12)
	start := make(chan struct{})
	for range cap(all) {
		go func() {
			<-start
			id, fresh := enqueue(t, pool, letter("paid:1"))
			all <- told{id, fresh}
		}()
	}
	close(start)
	ids, fresh := map[int64]bool{}, 0
	for range cap(all) {
		one := <-all
		ids[one.id] = true
		if one.fresh {
			fresh++
		}
	}
	if len(ids) != 1 || fresh != 1 {
		t.Errorf("told %d times, under the ids %v", fresh, ids)
	}
}

func TestTheDevelopmentMailboxShowsEverything(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	secret := letter("sign-in:1")
	secret.Confidential = true
	id, _ := enqueue(t, pool, secret)
	newest, _ := enqueue(t, pool, letter("paid:1"))
	if out, err := mail.SendOne(t.Context(), pool, mail.Mailbox{}, id); out != mail.Sent || err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	all, err := mail.List(t.Context(), pool)
	if err != nil || len(all) != 2 || all[0].ID != newest || all[1].SentAt == nil || all[1].Text != "Thank you.\n" || all[1].To != "ada@example.com" {
		t.Errorf("the mailbox holds %+v, %v", all, err)
	}
	if _, err := mail.Get(t.Context(), pool, 4711); fault.As(err).Kind != fault.NotFound {
		t.Errorf("an unknown mail: %v", err)
	}
}

// sender is told how to answer.
type sender struct {
	send func(ctx context.Context, m mail.Mail) error
}

func (s sender) Send(ctx context.Context, m mail.Mail) error { return s.send(ctx, m) }
func (sender) Keeps() bool                                   { return false }

func TestAMailIsSentByOne(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	id, _ := enqueue(t, pool, letter("paid:1"))
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := sender{func(context.Context, mail.Mail) error {
		close(entered)
		<-leave
		return nil
	}}
	never := sender{func(context.Context, mail.Mail) error {
		t.Error("sent twice")
		return nil
	}}
	first := make(chan mail.Outcome)
	go func() {
		out, err := mail.SendOne(t.Context(), pool, slow, id)
		if err != nil {
			t.Error(err)
		}
		first <- out
	}()
	<-entered
	if out, err := mail.SendOne(t.Context(), pool, never, id); out != mail.Busy || err != nil {
		t.Errorf("the second attempt: %q, %v", out, err)
	}
	close(leave)
	if out := <-first; out != mail.Sent {
		t.Errorf("the first attempt: %q", out)
	}
	if out, err := mail.SendOne(t.Context(), pool, never, id); out != mail.Already || err != nil {
		t.Errorf("an attempt after that: %q, %v", out, err)
	}
	if _, err := mail.SendOne(t.Context(), pool, never, 4711); fault.As(err).Kind != fault.NotFound {
		t.Errorf("an unknown mail: %v", err)
	}
}

func TestAFailedMailIsFreeForTheNextAttempt(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	id, _ := enqueue(t, pool, letter("paid:1"))
	ctx, stop := context.WithCancel(t.Context())
	failing := sender{func(ctx context.Context, _ mail.Mail) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a server may take for ever")
		}
		stop() // the process is told to stop meanwhile
		return ctx.Err()
	}}
	if out, err := mail.SendOne(ctx, pool, failing, id); err == nil || mail.IsPermanent(err) {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := mail.SendOne(t.Context(), pool, mail.Mailbox{}, id); out != mail.Sent || err != nil {
		t.Errorf("the next attempt: %q, %v", out, err)
	}
	if m := get(t, pool, id); m.Attempts != 2 {
		t.Errorf("%d attempts were counted", m.Attempts)
	}
}

// A sender that died is taken over; if it only slept, it changes nothing.
func TestALeaseRunsOut(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	id, _ := enqueue(t, pool, letter("paid:1"))
	sleeper := sender{func(ctx context.Context, _ mail.Mail) error {
		if _, err := pool.Exec(ctx, `UPDATE mails SET sending_until = now()`); err != nil {
			t.Error(err)
		}
		busy := sender{func(ctx context.Context, m mail.Mail) error {
			return context.DeadlineExceeded // the second attempt fails as well, later
		}}
		_, _ = mail.SendOne(ctx, pool, busy, id)
		if _, err := pool.Exec(ctx, `UPDATE mails SET sending_until = now() + interval '1 minute', attempts = 3`); err != nil {
			t.Error(err) // and a third is at it
		}
		return context.DeadlineExceeded
	}}
	if _, err := mail.SendOne(t.Context(), pool, sleeper, id); err == nil {
		t.Error("the failure is hidden")
	}
	if out, err := mail.SendOne(t.Context(), pool, mail.Mailbox{}, id); out != mail.Busy || err != nil {
		t.Errorf("the late first runner freed another's lease: %q, %v", out, err)
	}
}

func TestConfidentialWordsAreForgotten(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	secret := letter("sign-in:1")
	secret.Confidential = true
	for fact, want := range map[string]string{"sign-in:1": "", "paid:1": "Thank you.\n"} {
		secret.Fact, secret.Confidential = fact, want == ""
		id, _ := enqueue(t, pool, secret)
		s := sender{func(_ context.Context, m mail.Mail) error {
			if m.Text != "Thank you.\n" {
				t.Error("the words are gone too early")
			}
			return nil
		}}
		if _, err := mail.SendOne(t.Context(), pool, s, id); err != nil {
			t.Fatal(err)
		}
		if m := get(t, pool, id); m.Text != want || (m.HTML == "") != (want == "") || m.Subject != "Receipt" {
			t.Errorf("%s is kept as %+v", fact, m)
		}
	}
}
