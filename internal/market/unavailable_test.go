package market_test

import (
	"context"
	"testing"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/rental"
)

// The database goes away under every verb and read: each is a refusal that
// says "try again", none an error without a name, and nothing is half done.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 1)
	p := w.payment(o)
	completed := w.event("completed_paid", w.factsOf(o))
	w.must(w.receive(w.m, completed))
	verbs := map[string]func() error{
		"hold":      func() error { _, err := b.tryHold(rect(20, 20, 2, 2)); return err },
		"keep":      func() error { _, err := b.keep(h.Key); return err },
		"cancel":    func() error { return b.cancel(h.Key) },
		"checkout":  func() error { _, err := b.tryCheckout(h.Key, weeks(2)); return err },
		"return":    func() error { return w.m.Return(w.ctx(), b.who, h.Key) },
		"find":      func() error { _, err := w.m.Find(w.ctx(), h.Key, b.who.Viewer); return err },
		"look":      func() error { _, err := w.m.Look(w.ctx(), h.Key, b.who.Viewer); return err },
		"mine":      func() error { _, _, err := w.m.Mine(w.ctx(), b.who.Viewer, 10); return err },
		"rentals":   func() error { _, _, err := w.m.Rentals(w.ctx(), "", 0, 10); return err },
		"token":     func() error { _, err := w.m.ByToken(w.ctx(), w.m.Token(h.Key, 1)); return err },
		"submit":    func() error { _, err := w.m.Submit(w.ctx(), b.who, h.Key, submission(1), market.Request{}); return err },
		"maySubmit": func() error { _, err := w.m.MaySubmit(w.ctx(), b.who, h.Key); return err },
		"decide":    func() error { _, err := w.m.Decide(w.ctx(), market.Decision{Creative: "x"}); return err },
		"reviews":   func() error { _, err := w.m.Reviews(w.ctx(), 10); return err },
		"block":     func() error { _, err := w.m.Block(w.ctx(), "admin", rect(50, 50, 2, 2), "", nil); return err },
		"unblock":   func() error { return w.m.Unblock(w.ctx(), "admin", "x") },
		"blocked":   func() error { _, err := w.m.BlockedAreas(w.ctx()); return err },
		"anomalies": func() error { _, err := w.m.Anomalies(w.ctx(), 10); return err },
		"report":    func() error { return w.m.Report(w.ctx(), market.Anomaly{Kind: "x", Fact: "x"}) },
		"receive":   func() error { return w.receive(w.m, w.event("expired", facts{})) },
		"apply":     func() error { _, _, err := w.m.ApplyEvent(w.ctx(), completed.ID); return err },
		"settle":    func() error { return w.m.Settle(w.ctx(), h.ID) },
		"end":       func() error { return w.m.EndCheckout(w.ctx(), p.ID, 1) },
		"expire":    func() error { return w.m.ExpireSession(w.ctx(), p.ID, 1) },
		"refund":    func() error { return w.m.MakeRefund(w.ctx(), 1) },
		"sync":      func() error { return w.m.SyncRefunds(w.ctx(), "pi_1") },
		"forget":    func() error { return w.m.ForgetRequests(w.ctx()) },
	}
	for name, verb := range verbs {
		w.cut()
		if f := fault.As(verb()); f.Kind != fault.Unavailable {
			t.Errorf("%s: %v, %v", name, f.Code, f)
		}
	}
	w.exec(`SELECT 1`) // the pool heals
	w.state(h.Key, rental.Paying)
	w.settled()
	w.state(h.Key, rental.Paid)
	w.deliver()
	w.sound()
}

// cut ends every connection that the market has.
func (w *world) cut() {
	w.t.Helper()
	w.warm(1)
	_, err := w.gate.Exec(w.ctx(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'market test' AND state = 'idle'`)
	w.must(err)
}

// A client that leaves in the middle leaves nothing locked.
func TestCallerWhoLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	gate, err := w.gate.Begin(w.ctx())
	w.must(err)
	_, err = gate.Exec(w.ctx(), `LOCK TABLE ledger IN SHARE MODE`) // a hold stops here, with all its locks
	w.must(err)
	ctx, leave := context.WithCancel(w.ctx())
	left := make(chan error)
	go func() {
		_, err := w.m.Hold(ctx, a.who, rect(1, 1, 6, 4), market.Request{})
		left <- err
	}()
	w.await(`SELECT count(*) FROM pg_locks WHERE relation = 'ledger'::regclass AND NOT granted`, 1)
	leave()
	if err := <-left; err == nil {
		t.Error("a hold was made for somebody who left")
	}
	w.must(gate.Rollback(w.ctx()))
	b.hold(rect(1, 1, 6, 4))
	w.intact()
}
