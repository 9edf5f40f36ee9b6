package workers_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"tuval/internal/check"
	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/telemetry"
	"tuval/internal/workers"
)

// sends makes a sender of a function.
type sends func(ctx context.Context, m mail.Mail) error

func (s sends) Send(ctx context.Context, m mail.Mail) error { return s(ctx, m) }
func (sends) Keeps() bool                                   { return false }

// pace is a test's: short jobs, and as many mails as asked for.
func pace(perSecond float64) workers.Pace {
	return workers.Pace{JobTimeout: 2 * time.Second, RescueAfter: 2 * time.Second, Mails: perSecond}
}

// startMailing starts workers with another sender and pace.
func (h *house) startMailing(sender mail.Sender, pace workers.Pace) {
	h.t.Helper()
	client, err := workers.New(workers.Deps{
		Pool: h.pool, Market: h.m, Mail: sender, Metrics: telemetry.New(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
		Sweep: func(context.Context) error { return nil }, Pace: pace,
	})
	must(h.t, err)
	ended, unsubscribe := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobCancelled, river.EventKindJobFailed, river.EventKindJobSnoozed)
	must(h.t, client.Start(context.WithoutCancel(h.t.Context())))
	h.client, h.ended = client, ended
	h.t.Cleanup(func() {
		unsubscribe()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = client.StopAndCancel(ctx)
	})
}

// mails puts mails into the outbox, with their jobs, as the market does.
func (h *house) mails(n int, m mail.Message) {
	h.t.Helper()
	must(h.t, db.InTx(h.t.Context(), h.pool, "mails", func(ctx context.Context, tx pgx.Tx) error {
		for i := range n {
			one := m
			one.Fact, one.Kind = fmt.Sprintf("%s:%d", m.Fact, i), "k"
			id, _, err := mail.Enqueue(ctx, tx, one)
			if err != nil {
				return err
			}
			if err := h.queue.Put(ctx, tx, jobs.Request{Args: jobs.SendMail{Mail: id}}); err != nil {
				return err
			}
		}
		return nil
	}))
}

const unsent = `SELECT count(*) FROM mails WHERE sent_at IS NULL`

// Many mails that are due at one instant go out one after the other.
func TestMailsGoOutAtARate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const n, perSecond = 31, 20
	h.mails(n, mail.Message{Fact: "f", To: "a@b.example"})
	times := make(chan time.Time, n)
	h.startMailing(sends(func(context.Context, mail.Mail) error {
		times <- time.Now()
		return nil
	}), pace(perSecond))
	h.until(unsent, 0)
	first := <-times
	last := first
	for range n - 1 {
		last = <-times
	}
	if took, least := last.Sub(first), time.Second*(n-1)/perSecond; took < least*9/10 {
		t.Errorf("%d mails in %v, want at least %v", n, took, least)
	}
	if n := h.count(`SELECT count(*) FROM mails WHERE attempts <> 1`); n != 0 {
		t.Errorf("%d mails were tried again", n)
	}
}

// A mail server that takes calls and says nothing delays mails and nothing
// else: meanwhile every other job is done, and nothing waits in a transaction.
func TestASilentMailServerDelaysMailsOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	called := make(chan net.Conn, 1000)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			called <- conn
		}
	}()
	smtp, err := mail.NewSMTP("smtp://"+l.Addr().String(), "no-reply@tuval.example")
	must(t, err)
	var mended atomic.Bool
	const n = 30
	h.mails(n, mail.Message{Fact: "f", To: "a@b.example", Text: "x\n"})
	h.startMailing(sends(func(ctx context.Context, m mail.Mail) error {
		if mended.Load() {
			return nil
		}
		return smtp.Send(ctx, m)
	}), workers.Pace{Mails: 1000})
	const most = 8 // conversations at once
	var calls []net.Conn
	for range most {
		calls = append(calls, <-called)
	}
	for i := range 60 {
		h.put(jobs.Unblock{Area: int64(1000 + i)})
	}
	h.until(`SELECT count(*) FROM river_job WHERE kind = 'unblock' AND state <> 'completed'`, 0)
	if begun := h.count(`SELECT count(*) FROM mails WHERE attempts > 0`); begun != most {
		t.Errorf("the other jobs waited until %d mails had been tried", begun)
	}
	if idle := h.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`); idle != 0 {
		t.Errorf("%d transactions wait for the mail server", idle)
	}
	mended.Store(true)
	for _, conn := range calls {
		_ = conn.Close()
	}
	h.until(unsent, 0)
	if found := h.count(`SELECT count(*) FROM anomalies`); found != 0 {
		t.Errorf("%d anomalies of what healed", found)
	}
}

// What is not sent on purpose needs no job: a reminder after its event, and
// what the server will never take.
func TestDroppedMailsNeedNoJob(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	smtp, err := mail.NewSMTP("smtp://127.0.0.1:1", "no-reply@tuval.example")
	must(t, err)
	h.mails(1, mail.Message{Fact: "late", To: "a@b.example", StaleAt: time.Now().Add(-time.Second)})
	h.mails(1, mail.Message{Fact: "never", To: "nobody"})
	h.startMailing(smtp, pace(1000))
	h.until(`SELECT count(*) FROM mails WHERE dropped_at IS NULL`, 0)
	h.until(`SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND finalized_at IS NULL`, 0)
	if n := h.count(`SELECT count(*) FROM mails WHERE (fact, dropped_why) IN (('late:0', 'stale'), ('never:0', 'refused'))`); n != 2 {
		t.Errorf("%d mails were dropped for the right reason", n)
	}
	if n := h.count(`SELECT count(*) FROM anomalies`); n != 1 {
		t.Errorf("%d anomalies, want that of the refused mail", n)
	}
	if found, err := check.Run(t.Context(), h.pool); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// The job of a worker that died is run again: the mail goes out when the dead
// worker's lease is over, and not before.
func TestAMailOfADeadWorker(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.mails(2, mail.Message{Fact: "f", To: "a@b.example"})
	h.exec(`UPDATE mails SET attempts = 1, sending_until = now() + CASE fact WHEN 'f:0' THEN interval '-1 second' ELSE interval '1 hour' END;
		UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 hour', attempted_by = ARRAY['dead']`)
	sent := make(chan string, 9)
	h.startMailing(sends(func(_ context.Context, m mail.Mail) error {
		sent <- m.Fact
		return nil
	}), pace(1000))
	var snoozed *river.Event
	for snoozed == nil {
		if e := h.await("send_mail"); e.Kind == river.EventKindJobSnoozed {
			snoozed = e
		}
	}
	h.until(unsent, 1)
	if fact := <-sent; fact != "f:0" || len(sent) > 0 {
		t.Errorf("%s went out, and %d more", fact, len(sent))
	}
	if at := snoozed.Job.ScheduledAt; at.Before(time.Now().Add(mail.Lease/2)) || at.After(time.Now().Add(2*time.Minute)) {
		t.Errorf("looked at again at %v", at)
	}
}
