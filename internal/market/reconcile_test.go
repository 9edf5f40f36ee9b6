package market_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// pass runs one pass and what comes of it, and fails the test unless it could
// look at everything.
func (w *world) pass() market.Report {
	w.t.Helper()
	w.exec(`DELETE FROM river_job WHERE kind = 'reconcile'`)
	// Writers in other databases of the tests' server keep readers back.
	w.await(`SELECT count(*) FROM ledger WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())`, 0)
	r, err := w.m.Reconcile(w.ctx(), "admin")
	w.must(err)
	if r.Trouble != "" || !r.Finished {
		w.t.Fatalf("the pass had trouble: %+v", r)
	}
	w.settled()
	return r
}

// finds fails the test unless a pass found these kinds, each so often, and no
// others.
func (w *world) finds(r market.Report, want map[string]int) {
	w.t.Helper()
	got := map[string]int{}
	for _, t := range r.Tallies {
		got[t.Kind] = t.Count
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("found %v, want %v", got, want)
	}
}

// unheard is a payment that was made and that nobody told us of.
func (w *world) unheard() (buyer, market.Held, market.Offer) {
	w.t.Helper()
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	w.pay(o)
	return b, h, o
}

// Webhooks switched off: the pass fetches the events, and the payment is
// booked. What is only seconds old is no finding; what is older is.
func TestPassBooksWithoutWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	_, h, _ := w.unheard()
	w.finds(w.pass(), map[string]int{})
	w.state(h.Key, rental.Paid)
	if n := w.mailsOf("paid"); n != 1 {
		t.Errorf("%d receipts", n)
	}
	w.sound()

	b := w.buyer()
	h2 := b.hold(rect(20, 20, 3, 3))
	w.pay(b.checkout(h2.Key, 1))
	w.longAgo(10 * time.Minute)
	r := w.pass()
	w.finds(r, map[string]int{"events not received": 1})
	w.state(h2.Key, rental.Paid)
	w.finds(w.pass(), map[string]int{})
	if last, ok, err := w.m.LastPass(w.ctx()); err != nil || !ok || last.By != "admin" || last.ID <= r.ID {
		t.Errorf("%+v, %v, %v", last, ok, err)
	}
	fs, err := w.m.Findings(w.ctx(), 10)
	w.must(err)
	if len(fs) != 1 || fs[0].Over == nil || fs[0].Times != 1 || fs[0].Done == "" {
		t.Errorf("%+v", fs)
	}
	// The webhooks after all: nothing happens twice.
	w.deliver()
	w.kept(2*24*100*100 + 9*100*100)
	w.sound()
}

// longAgo makes Stripe's events older.
func (w *world) longAgo(by time.Duration) {
	w.t.Helper()
	w.exec(`UPDATE stripesim.events SET created = created - $1::interval,
		payload = regexp_replace(payload, '"created": \d+,\s+"data"', '"created": ' || floor(extract(epoch FROM created - $1::interval)) || ', "data"')`, by)
}

// The job for the end of the page is lost too, and Stripe's list forgot: the
// pass has Stripe asked for the payment itself.
func TestPassAsksForLostPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	_, h, _ := w.unheard()
	w.exec(`DELETE FROM stripesim.events`)
	w.exec(`DELETE FROM river_job`)
	w.age(62 * time.Minute)
	w.finds(w.pass(), map[string]int{"payment not ended": 1, "unpaid lease over": 1})
	w.state(h.Key, rental.Paid)
	w.pass()
	w.sound()
}

// Money under way whose end nobody told of.
func TestPassAsksForMoneyUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	o := b.checkout(h.Key, 2)
	w.payHow(o, stripesim.Payment{Pending: true})
	w.deliver()
	w.state(h.Key, rental.Paying)
	w.age(50 * time.Hour)
	_, err := w.sim.AsyncSucceed(w.ctx(), w.session(o))
	w.must(err)
	w.exec(`DELETE FROM stripesim.events`)
	w.finds(w.pass(), map[string]int{"payment processing long": 1})
	w.state(h.Key, rental.Paid)
	w.sound()
}

// A refund made at the dashboard while webhooks are off closes the rental.
func TestPassBooksRefundsOfTheDashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	r := w.buyer().paid(rect(1, 1, 6, 4), 1)
	var intent string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT payment_intent FROM payments`).Scan(&intent))
	_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: intent})
	w.must(err)
	w.pass()
	w.state(r.Key, rental.Closed, rental.Refunded)
	w.sound()
}

// A refund that Stripe has and that nobody told the end of is asked for.
func TestPassAsksForRefunds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: "pending", Count: 1})
	w.unapproved()
	w.settled()
	var id string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT stripe_id FROM refunds WHERE state = 'pending'`).Scan(&id))
	w.finds(w.pass(), map[string]int{})
	_, err := w.sim.SucceedRefund(w.ctx(), id)
	w.must(err)
	w.exec(`DELETE FROM stripesim.events`)
	w.age(61 * time.Minute)
	w.finds(w.pass(), map[string]int{"refund waits": 1})
	if n := w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`); n != 1 {
		t.Error("the refund is not through")
	}
	w.finds(w.pass(), map[string]int{})
	w.sound()
}

// A refund that failed is brought up daily until somebody resolves it.
func TestRefundsOutstandingComeUpDaily(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: "failed", Count: 1})
	w.unapproved()
	w.settled()
	w.exec(`UPDATE anomalies SET last_seen = now() - interval '25 hours'`)
	w.finds(w.pass(), map[string]int{"refund outstanding": 1})
	if n := w.count(`SELECT count(*) FROM anomalies WHERE kind = 'refund failed' AND last_seen > now() - interval '1 minute'`); n != 1 {
		t.Error("its anomaly did not come up again")
	}
	w.exec(`UPDATE anomalies SET resolved_at = now()`)
	w.finds(w.pass(), map[string]int{})
	if w.anomalies("refund failed") != 0 {
		t.Error("what a person resolved came up again")
	}
}

// everyState makes rentals in every state that waits for something.
func (w *world) everyState() {
	w.t.Helper()
	b := w.buyer()
	b.onCanvas(rect(40, 0, 2, 2), 1)
	w.age(169 * time.Hour)
	w.settled()
	b.onCanvas(rect(30, 0, 2, 2), 1)
	b.paid(rect(20, 0, 2, 2), 1)
	h := b.hold(rect(10, 0, 2, 2))
	b.checkout(h.Key, 1)
	b.hold(rect(0, 0, 2, 2))
	_, err := w.m.Block(w.ctx(), "admin", rect(50, 0, 2, 2), "", nil)
	w.must(err)
	w.unapprovedAt(60)
	for _, e := range w.news() {
		w.must(w.receive(w.m, e))
	}
}

// onCanvas is a rental that was paid and whose picture was approved.
func (b buyer) onCanvas(r grid.Rect, n int) rental.Rental {
	b.t.Helper()
	paid := b.paid(r, n)
	_, err := b.decide(b.submit(paid.Key, r.X), true)
	b.must(err)
	return b.rental(paid.Key)
}

// unapprovedAt is a refund that no job has made yet.
func (w *world) unapprovedAt(x int) {
	w.t.Helper()
	r := w.buyer().paid(rect(x, 0, 2, 2), 1)
	w.exec(`UPDATE rentals SET approve_by = now() WHERE id = $1`, r.ID)
	w.must(w.m.Settle(w.ctx(), r.ID))
}

// All jobs are lost: each state gets the one it needs, but no reminders.
func TestPassPutsInMissingJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.everyState()
	events := w.count(`SELECT count(*) FROM stripe_events WHERE applied_at IS NULL`)
	mails := w.count(`SELECT count(*) FROM mails WHERE sent_at IS NULL`)
	if events == 0 || mails == 0 || w.count(`SELECT count(DISTINCT state) FROM rentals`) != 6 {
		t.Fatalf("%d events, %d mails", events, mails)
	}
	w.exec(`DELETE FROM river_job`)
	r, err := w.m.Reconcile(w.ctx(), "admin")
	w.must(err)
	// Five rentals that are not closed, one page, one area, one refund.
	w.finds(r, map[string]int{"job missing": 8 + mails, "event not applied": events})
	w.sound()
	jobs := w.count(`SELECT count(*) FROM river_job`)
	r, err = w.m.Reconcile(w.ctx(), "admin")
	w.must(err)
	w.finds(r, map[string]int{})
	if n := w.count(`SELECT count(*) FROM river_job`); n != jobs {
		t.Errorf("%d jobs more", n-jobs)
	}
	w.settled()
	w.sound()
}

// A job that was given up is not put in beside itself: an admin has it.
func TestPassLeavesDeadJobsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.unapproved()
	w.exec(`UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE kind = 'make_refund'`)
	w.finds(w.pass(), map[string]int{})
	if n := w.count(`SELECT count(*) FROM river_job WHERE kind = 'make_refund' AND state <> 'discarded'`); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// A repair that does not help is made daily after a while, and a person told.
func TestRepairInVain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 2, 2))
	lose := func() { w.exec(`DELETE FROM river_job`) }
	put := func() int { return w.count(`SELECT count(*) FROM river_job WHERE kind = 'settle'`) }
	for i := range 7 {
		lose()
		w.pass()
		if want := min(1, max(0, 5-i)); put() != want {
			t.Errorf("pass %d: %d jobs, want %d", i+1, put(), want)
		}
	}
	if w.anomalies("repair in vain") != 1 {
		t.Error("nobody was told")
	}
	w.exec(`UPDATE findings SET repaired_at = now() - interval '25 hours'`)
	w.pass()
	if put() != 1 {
		t.Error("not tried again after a day")
	}
	w.state(h.Key, rental.Held)
}

// What does not agree is told, and again when it was resolved and is still so;
// when it agrees again the finding is over.
func TestWhatDiffersIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{unchecked: true})
	r := w.buyer().paid(rect(1, 1, 6, 4), 1)
	w.finds(w.pass(), map[string]int{})
	const lie = `INSERT INTO ledger (kind, effective_at, claim_id, payment_id, blocks, amount, currency, actor)
		SELECT 'hold.kept', now(), rental_id, id, $1, $2, 'usd', 'nobody' FROM payments`
	w.exec(lie, 5, -7)
	w.finds(w.pass(), map[string]int{"ledger's blocks differ": 1, "ledger's money differs": 1})
	if w.anomalies("ledger's blocks differ") != 1 || w.anomalies("ledger's money differs") != 1 {
		t.Error("nobody was told")
	}
	w.exec(`UPDATE anomalies SET resolved_at = now(), resolved_by = 'somebody', done = 'nothing'`)
	w.pass()
	if w.anomalies("ledger's blocks differ") != 1 || w.count(`SELECT count(*) FROM anomalies WHERE done <> ''`) != 0 {
		t.Error("not told again")
	}
	w.exec(lie, -5, 7)
	w.finds(w.pass(), map[string]int{})
	if n := w.count(`SELECT count(*) FROM findings WHERE over_at IS NULL`); n != 0 {
		t.Errorf("%d findings are not over", n)
	}
	// Blocks that are not where the rental says.
	w.exec(`ALTER TABLE blocks DISABLE TRIGGER claims_stay_whole`)
	w.exec(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id = $1 AND x = 1`, r.ID)
	w.exec(lie, 0, 0)
	w.finds(w.pass(), map[string]int{"blocks differ": 1})
	w.exec(`UPDATE blocks SET claim_id = $1, leased_until = now() WHERE x = 1 AND y BETWEEN 1 AND 4`, r.ID)
	w.finds(w.pass(), map[string]int{"blocks differ": 1}) // another lease
	w.exec(`UPDATE blocks SET leased_until = (SELECT leased_until FROM rentals WHERE id = $1) WHERE claim_id = $1`, r.ID)
	w.finds(w.pass(), map[string]int{})
}

// Passes at once, in several processes: one runs, the others say so.
func TestPassesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	w.everyState()
	w.exec(`DELETE FROM river_job`)
	ms := w.processes(8, options{})
	errs := together(8, func(i int) error {
		_, err := ms[i].Reconcile(w.ctx(), fmt.Sprint(i))
		return err
	})
	if won := winners(t, errs, "reconciling"); len(won) == 0 {
		t.Error("nobody ran")
	}
	w.sound()
	if n := w.count(`SELECT count(*) FROM (SELECT kind, args FROM river_job GROUP BY 1, 2 HAVING count(*) > 1) d`); n != 0 {
		t.Errorf("%d jobs are there twice", n)
	}
	w.noDeadlocks()
}

// While one runs another is refused.
func TestPassIsRefusedWhileOneRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	conn, err := w.gate.Acquire(w.ctx())
	w.must(err)
	_, err = conn.Exec(w.ctx(), `SELECT pg_advisory_lock($1)`, int64(0x7475_7661_6c72_6563))
	w.must(err)
	_, err = w.m.Reconcile(w.ctx(), "admin")
	w.wants(err, "reconciling")
	_, err = conn.Exec(w.ctx(), `SELECT pg_advisory_unlock_all()`)
	w.must(err)
	conn.Release()
	w.pass()
	if n := w.count(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); n != 0 {
		t.Errorf("%d locks are left", n)
	}
	w.pass()
}

// Stripe is away: what can be looked at is looked at, and after an hour of
// such passes a person is told.
func TestPassWithoutStripe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 2, 2))
	w.exec(`DELETE FROM river_job`)
	w.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: "GET /v1/events"})
	r, err := w.m.Reconcile(w.ctx(), "clock")
	w.must(err)
	if r.Trouble != "Stripe's events (no answer)" || r.Found() != 1 {
		t.Errorf("%+v", r)
	}
	if w.anomalies("reconciliation incomplete") != 0 {
		t.Error("told at once")
	}
	w.exec(`UPDATE reconciliations SET started_at = started_at - interval '61 minutes', ended_at = ended_at - interval '61 minutes'`)
	_, err = w.m.Reconcile(w.ctx(), "clock")
	w.must(err)
	if w.anomalies("reconciliation incomplete") != 1 {
		t.Error("nobody was told")
	}
	if since, err := market.SinceReconciled(w.ctx(), w.pool); err != nil || since != 0 {
		t.Errorf("%v, %v", since, err)
	}
	w.must(w.sim.ClearFaults(w.ctx()))
	w.pass()
	if since, err := market.SinceReconciled(w.ctx(), w.pool); err != nil || since <= 0 || since > time.Minute {
		t.Errorf("%v, %v", since, err)
	}
	w.state(h.Key, rental.Held)
}

// A pass whose caller leaves gives its turn back.
func TestPassWhoseCallerLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	ctx, leave := context.WithCancel(w.ctx())
	w.exec(`DELETE FROM river_job`)
	leave()
	if _, err := w.m.Reconcile(ctx, "admin"); err == nil {
		t.Error("a caller who left got an answer")
	}
	w.pass()
}

// A refused delivery is told once a day.
func TestRefusedWebhooksAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	for range 3 {
		w.must(w.m.WebhookRefused(w.ctx(), "its time is not ours"))
	}
	if w.anomalies("webhook refused") != 1 {
		t.Errorf("told %d times", w.anomalies("webhook refused"))
	}
	w.exec(`UPDATE anomalies SET fact = 'webhook refused:2001-01-01'`)
	w.must(w.m.WebhookRefused(w.ctx(), "its time is not ours"))
	if w.anomalies("webhook refused") != 2 {
		t.Error("not told on another day")
	}
}

// An event that cannot be read hides no other.
func TestUnreadableEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	_, h, _ := w.unheard()
	w.exec(`INSERT INTO stripesim.events (id, created, type, payload) VALUES ('evt_odd', now(), 'charge.refunded',
		'{"id": "evt_odd", "type": "charge.refunded", "created": 1, "data": {"object": []}}')`)
	w.pass()
	w.state(h.Key, rental.Paid)
	if w.anomalies("event unreadable") != 1 {
		t.Error("nobody was told")
	}
	w.pass()
	if !fault.Is(market.ErrReconciling(), "reconciling") {
		t.Error("no code")
	}
}
