package mail_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/mail"
	"tuval/internal/testdb"
)

// A worker that dies between the server's answer and our note is the one way
// to two copies: not before its lease is over, and under the same Message-ID.
func TestACrashBetweenTheAnswerAndTheNote(t *testing.T) {
	t.Parallel()
	pool, server := testdb.New(t), plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	id, _ := enqueue(t, pool, letter("paid:1"))
	dying := sender{func(ctx context.Context, m mail.Mail) error {
		if err := smtp.Send(ctx, m); err != nil {
			t.Error(err)
		}
		panic("killed")
	}}
	func() {
		defer func() { _ = recover() }()
		_, _ = mail.SendOne(t.Context(), pool, dying, id)
	}()
	try(t, pool, smtp, id, mail.Busy)
	if n := len(server.mails()); n != 1 {
		t.Fatalf("%d copies while the lease runs", n)
	}
	exec(t, pool, `UPDATE mails SET sending_until = now()`)
	try(t, pool, smtp, id, mail.Sent)
	all := server.mails()
	if len(all) != 2 {
		t.Fatalf("%d copies", len(all))
	}
	first, _, _ := read(t, all[0].data)
	second, _, _ := read(t, all[1].data)
	if a, b := first.Get("Message-Id"), second.Get("Message-Id"); a == "" || a != b {
		t.Errorf("the copies are %s and %s", a, b)
	}
}

// refusal tells when the note of a sent mail was refused by the database.
type refusal struct{ noted chan struct{} }

type queryKey struct{}

func (refusal) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, queryKey{}, d.SQL)
}

func (r refusal) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	sql, _ := ctx.Value(queryKey{}).(string)
	if d.Err != nil && strings.HasPrefix(sql, "UPDATE mails SET sent_at") {
		select {
		case r.noted <- struct{}{}:
		default:
		}
	}
}

// The database is away for a moment just when a mail has gone out: the note
// is made when it is back, and the mail does not go out again.
func TestTheNoteInsists(t *testing.T) {
	t.Parallel()
	own := testdb.New(t)
	settings := own.Config()
	refused := refusal{make(chan struct{}, 1)}
	settings.ConnConfig.Tracer = refused
	pool, err := pgxpool.NewWithConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	id, _ := enqueue(t, own, letter("paid:1"))
	back := make(chan error, 1)
	s := sender{func(ctx context.Context, _ mail.Mail) error {
		exec(t, own, `ALTER TABLE mails RENAME TO elsewhere`)
		go func() {
			<-refused.noted
			_, err := own.Exec(context.WithoutCancel(ctx), `ALTER TABLE elsewhere RENAME TO mails`)
			back <- err
		}()
		return nil
	}}
	try(t, pool, s, id, mail.Sent)
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	try(t, pool, unsendable(t), id, mail.Already)
}

// While a server is spoken to, the database has nothing to do with it.
func TestSendingHoldsNoConnection(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	id, _ := enqueue(t, pool, letter("paid:1"))
	s := sender{func(context.Context, mail.Mail) error {
		if n := pool.Stat().AcquiredConns(); n != 0 {
			t.Errorf("%d connections are held", n)
		}
		return nil
	}}
	try(t, pool, s, id, mail.Sent)
}

// silent answers as often as it has answers, tells when it was asked for one
// more, and returns when the caller has hung up.
func silent(t *testing.T, l net.Listener, answers []string, asked func()) {
	conn, err := l.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	for heard := make([]byte, 4096); ; {
		if len(answers) == 0 {
			asked()
		} else {
			_, _ = conn.Write([]byte(answers[0] + "\r\n"))
			answers = answers[1:]
		}
		if _, err := conn.Read(heard); err != nil {
			return
		}
	}
}

// A server that falls silent is left when the job is told to stop, at any
// step, and nothing of the call stays open.
func TestASilentServerIsLeftAtOnce(t *testing.T) {
	t.Parallel()
	answers := []string{"220 test", "250 test greets you", "250 ok", "250 ok", "354 go on"}
	for n := range len(answers) + 1 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		hungUp := make(chan struct{})
		go func() {
			defer close(hungUp)
			silent(t, l, answers[:n], stop)
		}()
		began := time.Now()
		err = newSMTP(t, "smtp://"+l.Addr().String()).Send(ctx, sample())
		if took := time.Since(began); err == nil || mail.IsPermanent(err) || took > 5*time.Second {
			t.Errorf("after %d answers: %v, in %v", n, err, took)
		}
		<-hungUp
		_ = l.Close()
		stop()
	}
}
