package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/grid"
	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

// house is a marketplace whose processes come and go, with a Stripe and a
// database that stay.
type house struct {
	t    *testing.T
	url  string
	pool *pgxpool.Pool
	sim  *stripesim.Sim
	env  []string
	c    claimant
	now  atomic.Pointer[process] // where webhooks go
}

func newHouse(t *testing.T, env ...string) *house {
	t.Helper()
	h := &house{t: t, url: testdb.URL(t), c: crowd(80)}
	var err error
	if h.pool, err = pgxpool.New(t.Context(), h.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.pool.Close)
	if err := stripesim.Migrate(t.Context(), h.pool); err != nil {
		t.Fatal(err)
	}
	door := httptest.NewServer(http.HandlerFunc(h.webhook))
	t.Cleanup(door.Close)
	const secret = "whsec_of_this_test"
	h.sim, err = stripesim.New(stripesim.Options{
		Pool: h.pool, SecretKey: "sk_test_house", WebhookURL: door.URL + "/webhooks/stripe", WebhookSecrets: []string{secret},
		Logger: slog.New(slog.DiscardHandler), Poll: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	stripe := answering(t, h.sim.Handler())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = h.sim.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	h.env = append(roomy(), "DATABASE_URL="+h.url, "STRIPE_SECRET_KEY=sk_test_house", "STRIPE_API_URL="+stripe, "STRIPE_WEBHOOK_SECRET="+secret)
	h.env = append(h.env, env...)
	return h
}

// answering serves on a port of its own until the test ends; what is slow is
// not waited for.
func answering(t *testing.T, handler http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + l.Addr().String()
}

// webhook hands what Stripe sends to the process that runs, if one does.
func (h *house) webhook(w http.ResponseWriter, r *http.Request) {
	p := h.now.Load()
	if p == nil {
		http.Error(w, "nobody is there", http.StatusBadGateway)
		return
	}
	target, _ := url.Parse(p.base)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	proxy.ServeHTTP(w, r)
}

func (h *house) start() *process {
	h.t.Helper()
	p := start(h.t, h.env...)
	h.now.Store(p)
	return p
}

// post calls the API as the holder of a rental.
func (h *house) post(a answer, path string, body any, into any) (int, error) {
	raw, _ := json.Marshal(body)
	req, err := http.NewRequest(http.MethodPost, h.now.Load().base+"/api/v1/rentals/"+a.id+path, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.c.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 && into != nil {
		return resp.StatusCode, json.NewDecoder(resp.Body).Decode(into)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// rentals holds n rects of 2 x 2 and opens a payment page for each. It returns
// the sessions.
func (h *house) rentals(n int) []string {
	h.t.Helper()
	sessions := make([]string, n)
	for i := range n {
		a := h.c.hold(h.now.Load().base, grid.Rect{X: i % 40 * 2, Y: i / 40 * 2, W: 2, H: 2})
		if a.status != http.StatusCreated {
			h.t.Fatalf("hold %d: %+v", i, a)
		}
		status, err := h.post(a, "/checkout", map[string]any{"weeks": 1, "email": fmt.Sprintf("buyer%d@example.com", i)}, nil)
		if err != nil || status != http.StatusOK {
			h.t.Fatalf("checkout %d: %d, %v", i, status, err)
		}
		const sql = `SELECT p.session_id FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`
		if err := h.pool.QueryRow(h.t.Context(), sql, a.id).Scan(&sessions[i]); err != nil {
			h.t.Fatal(err)
		}
	}
	return sessions
}

func (h *house) count(sql string) (n int) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), sql).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// until waits until the database counts n.
func (h *house) until(within time.Duration, what, sql string, n int) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), within)
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for got := h.count(sql); got != n; got = h.count(sql) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			h.t.Fatalf("%s: %d of %d after %s", what, got, n, within)
		}
	}
}
