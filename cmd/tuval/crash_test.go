package main

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

// takenOver is the time within which the work of a process that was killed
// goes on in another.
const takenOver = 2 * time.Minute

// The process dies by kill -9 while payments are booked and mailed, and again
// while what was not approved is closed, refunded and freed. Each time another
// goes on, and everything has happened once.
func TestKillBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	const n = 30
	h := newHouse(t)
	first := h.start()
	sessions := h.rentals(n)

	var paying sync.WaitGroup
	for _, s := range sessions {
		paying.Go(func() {
			if _, err := h.sim.Pay(t.Context(), s, stripesim.Payment{}); err != nil {
				t.Error(err)
			}
		})
	}
	h.killAfter(first, `SELECT count(*) FROM ledger WHERE kind = 'payment.booked'`, n)
	paying.Wait()
	second := h.start()
	h.until(takenOver, "paid", `SELECT count(*) FROM rentals WHERE state = 'paid'`, n)
	h.until(takenOver, "mailed", `SELECT count(*) FROM mails WHERE kind = 'paid' AND sent_at IS NOT NULL`, n)
	if booked := h.count(`SELECT count(*) FROM ledger WHERE kind = 'payment.booked'`); booked != n {
		t.Errorf("%d payments were booked %d times", n, booked)
	}
	sound(t, h.url)

	if out, code := tool(t, []string{"DATABASE_URL=" + h.url, "TUVAL_DATA_DIR=" + t.TempDir()}, "", "age", "--by", "721h"); code != 0 {
		t.Fatal(out)
	}
	h.killAfter(second, `SELECT count(*) FROM rentals WHERE state = 'closed'`, n)
	h.start()
	h.until(takenOver, "closed", `SELECT count(*) FROM rentals WHERE state = 'closed' AND closed_reason = 'unapproved'`, n)
	h.until(takenOver, "refunded", `SELECT count(*) FROM refunds WHERE state = 'succeeded'`, n)
	h.until(takenOver, "mailed", `SELECT count(*) FROM mails WHERE kind = 'cancelled' AND sent_at IS NOT NULL`, n)
	for what, sql := range map[string]string{
		"payments refunded other than once": `SELECT count(*) FROM stripesim.payment_intents p
			WHERE (SELECT count(*) FROM stripesim.refunds r WHERE r.payment_intent = p.id) <> 1`,
		"blocks still taken": `SELECT count(*) FROM blocks WHERE claim_id IS NOT NULL`,
		"minor units kept":   `SELECT sum(amount) FROM ledger`,
		"anomalies":          `SELECT count(*) FROM anomalies`,
	} {
		if got := h.count(sql); got != 0 {
			t.Errorf("%d %s", got, what)
		}
	}
	sound(t, h.url)
}

// killAfter kills the process when some, but not all, of the n have happened.
func (h *house) killAfter(p *process, sql string, n int) {
	h.t.Helper()
	some := 1 + rand.IntN(n/2)
	for deadline := time.Now().Add(time.Minute); h.count(sql) < some; {
		if time.Now().After(deadline) {
			h.t.Fatalf("never %d of %d", some, n)
		}
	}
	h.now.Store(nil)
	p.kill()
	h.t.Logf("killed at %d of %d", h.count(sql), n)
}
