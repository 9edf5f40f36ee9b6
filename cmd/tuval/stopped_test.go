package main

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/stripesim"
)

// A process is stopped in the middle of a refund, for longer than its job is
// its own; another does the work; then the first one wakes up and goes on. The
// money goes back once, and the late one changes nothing.
func TestStoppedWorkerWakesUpLate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.start()
	session := h.rentals(1)[0]
	if _, err := h.sim.Pay(t.Context(), session, stripesim.Payment{}); err != nil {
		t.Fatal(err)
	}
	h.until(20*time.Second, "paid", `SELECT count(*) FROM rentals WHERE state = 'paid'`, 1)
	slow := stripesim.Fault{Kind: stripesim.FaultSlow, Delay: stripesim.Delay(5 * time.Second), Endpoint: "POST /v1/refunds", Count: 1}
	if _, err := h.sim.AddFault(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	if out, code := tool(t, []string{"DATABASE_URL=" + h.url, "TUVAL_DATA_DIR=" + t.TempDir()}, "", "age", "--by", "721h"); code != 0 {
		t.Fatal(out)
	}
	h.until(30*time.Second, "refunds asked for", `SELECT count(*) FROM refunds WHERE called_at IS NOT NULL`, 1)
	h.now.Store(nil)
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.until(takenOver, "refunded", `SELECT count(*) FROM refunds WHERE state = 'succeeded'`, 1)
	h.until(takenOver, "refund jobs done", `SELECT count(*) FROM river_job WHERE kind = 'make_refund' AND state = 'completed'`, 1)
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := first.terminate(t); err != nil { // it finishes what it was at
		t.Errorf("the late one: %v", err)
	}
	for what, c := range map[string]struct {
		sql  string
		want int
	}{
		"refunds at Stripe":     {`SELECT count(*) FROM stripesim.refunds`, 1},
		"refunds made":          {`SELECT count(*) FROM ledger WHERE kind = 'refund.made'`, 1},
		"refunds that arrived":  {`SELECT count(*) FROM ledger WHERE kind = 'refund.succeeded'`, 1},
		"mails of the end":      {`SELECT count(*) FROM mails WHERE kind = 'cancelled'`, 1},
		"attempts at the job":   {`SELECT attempt FROM river_job WHERE kind = 'make_refund'`, 2},
		"refund jobs not done":  {`SELECT count(*) FROM river_job WHERE kind = 'make_refund' AND state <> 'completed'`, 0},
		"anomalies":             {`SELECT count(*) FROM anomalies`, 0},
		"minor units kept":      {`SELECT sum(amount) FROM ledger`, 0},
		"blocks that are taken": {`SELECT count(*) FROM blocks WHERE claim_id IS NOT NULL`, 0},
	} {
		if got := h.count(c.sql); got != c.want {
			t.Errorf("%d %s, not %d", got, what, c.want)
		}
	}
	sound(t, h.url)
}

// SIGTERM under load: whoever was let in is answered, and the process is gone
// well within the time it has.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.start()
	stopping, enough := make(chan struct{}), make(chan struct{})
	var answered sync.Once
	var people sync.WaitGroup
	for i := range 16 {
		people.Go(func() {
			for {
				a := h.c.hold(p.base, grid.Rect{X: i * 5, Y: 50, W: 4, H: 4})
				switch {
				case a.err != nil:
					select {
					case <-stopping: // nobody is let in any more
					default:
						t.Errorf("before the stop: %v", a.err)
					}
					return
				case a.status >= http.StatusInternalServerError && a.status != http.StatusServiceUnavailable:
					t.Errorf("a hold answers %d %s", a.status, a.code)
				case a.status == http.StatusCreated && h.c.release(p.base, a) != nil:
					return
				}
				answered.Do(func() { close(enough) })
			}
		})
	}
	<-enough
	close(stopping)
	begun := time.Now()
	if err := p.terminate(t); err != nil {
		t.Errorf("ended with %v", err)
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("took %v to stop", took)
	}
	people.Wait()
	sound(t, h.url)
}
