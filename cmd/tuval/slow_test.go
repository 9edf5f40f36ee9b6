package main

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/stripesim"
)

// Stripe takes 30 s for everything while 60 people press pay: they get a clear
// answer before they lose patience, and pages, claims and webhooks go on as if
// nothing were. No transaction waits for Stripe.
func TestSlowStripeHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	const people = 60
	h := newHouse(t)
	p := h.start()
	session := h.rentals(1)[0]
	if _, err := h.sim.AddFault(t.Context(), stripesim.Fault{Kind: stripesim.FaultSlow, Delay: stripesim.Delay(30 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	holds := make([]answer, people)
	for i := range holds {
		if holds[i] = h.c.hold(p.base, grid.Rect{X: i % 20 * 4, Y: 10 + i/20*4, W: 4, H: 4}); holds[i].status != http.StatusCreated {
			t.Fatalf("%+v", holds[i])
		}
	}
	var pressing sync.WaitGroup
	var waiting atomic.Int64
	for _, a := range holds {
		pressing.Go(func() {
			waiting.Add(1)
			defer waiting.Add(-1)
			status, err := h.post(a, "/checkout", map[string]any{"weeks": 1, "email": "a@example.com"}, nil)
			if err != nil || status != http.StatusServiceUnavailable {
				t.Errorf("pay answers %d, %v", status, err)
			}
		})
	}
	h.until(20*time.Second, "payments begun", `SELECT count(*) FROM payments`, people+1)
	if _, err := h.sim.Pay(t.Context(), session, stripesim.Payment{}); err != nil {
		t.Fatal(err)
	}
	h.until(5*time.Second, "booked by a webhook meanwhile", `SELECT count(*) FROM rentals WHERE state = 'paid'`, 1)
	rounds := 0
	for rounds = range 20 {
		if waiting.Load() == 0 {
			break
		}
		h.undisturbed(p)
	}
	if rounds < 3 {
		t.Errorf("only %d rounds while people waited: this shows nothing", rounds)
	}
	pressing.Wait()
	if n := h.count(`SELECT count(*) FROM rentals WHERE state = 'held'`); n != people {
		t.Errorf("%d of %d holds are left", n, people)
	}
}

// undisturbed does what others do meanwhile: each must be answered well before
// Stripe is.
func (h *house) undisturbed(p *process) {
	h.t.Helper()
	brisk := &http.Client{Timeout: 5 * time.Second}
	for _, path := range []string{"/", "/areas", "/api/v1/board", "/healthz"} {
		resp, err := brisk.Get(p.base + path)
		if err != nil {
			h.t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			h.t.Errorf("GET %s answers %d", path, resp.StatusCode)
		}
	}
	c := claimant{brisk}
	a := c.hold(p.base, grid.Rect{X: 90, Y: 90, W: 3, H: 3})
	if a.status != http.StatusCreated {
		h.t.Fatalf("a hold answers %+v", a)
	}
	if err := c.release(p.base, a); err != nil {
		h.t.Error(err)
	}
	const idle = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND state_change < now() - interval '5 seconds'`
	if n := h.count(idle); n > 0 {
		h.t.Errorf("%d transactions wait for something outside", n)
	}
}
