package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/localpg"
)

// PostgreSQL dies in the middle of a rush and comes back. Meanwhile people
// are told to try again, never met by an error of ours; afterwards holds go
// on, nothing is half claimed, and what was answered is there.
func TestPostgreSQLRestartsInTheMiddleOfARush(t *testing.T) {
	dir := t.TempDir()
	cluster, err := localpg.Start(t.Context(), localpg.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	url, err := cluster.EnsureDatabase(t.Context(), "tuval")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, append(roomy(), "DATABASE_URL="+url)...)
	c := crowd(32)
	var winners, away atomic.Int64
	begun, downSeen, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var onceBegun, onceDown, onceBack sync.Once
	restarted := &atomic.Bool{}
	ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
	defer stop()
	var people sync.WaitGroup
	for i := range 32 {
		people.Go(func() {
			rnd := rand.New(rand.NewPCG(11, uint64(i)))
			for ctx.Err() == nil {
				a := c.hold(p.base, grid.Rect{X: rnd.IntN(96), Y: rnd.IntN(96), W: 1 + rnd.IntN(4), H: 1 + rnd.IntN(4)})
				switch {
				case a.err != nil:
					t.Errorf("hold: %v", a.err)
					return
				case a.status == http.StatusCreated:
					if winners.Add(1) > 30 {
						onceBegun.Do(func() { close(begun) })
					}
					if restarted.Load() {
						onceBack.Do(func() { close(back) })
						return
					}
				case a.status == http.StatusServiceUnavailable:
					away.Add(1)
					onceDown.Do(func() { close(downSeen) })
				case a.status != http.StatusConflict:
					t.Errorf("hold answers %d %s", a.status, a.code)
				}
			}
		})
	}
	await(ctx, t, begun, "the rush")
	cluster.Kill()
	await(ctx, t, downSeen, "a clear answer while PostgreSQL is away")
	typedWordsComeBack(t, p)
	again, err := localpg.Start(ctx, localpg.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := again.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	restarted.Store(true)
	await(ctx, t, back, "holds after the restart")
	stop()
	people.Wait()
	sound(t, url)
	if err := p.terminate(t); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// typedWordsComeBack posts forms while the database is away: the answer says
// so and has what was typed, with a button that sends it again.
func typedWordsComeBack(t *testing.T, p *process) {
	t.Helper()
	for path, form := range map[string]url.Values{
		"/rentals/unknown/checkout": {"request_id": {"a-request-of-mine"}, "email": {"keep-me@example.com"}, "weeks": {"7"}},
		"/holds":                    {"request_id": {"another-request"}, "col": {"17"}, "row": {"23"}, "w": {"5"}, "h": {"6"}},
	} {
		req, err := http.NewRequest(http.MethodPost, p.base+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.AddCookie(&http.Cookie{Name: "tuval", Value: strings.Repeat("x", 43)})
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("POST %s answers %d, Retry-After %q, %v", path, resp.StatusCode, resp.Header.Get("Retry-After"), err)
		}
		for name, typed := range form {
			if !strings.Contains(string(body), `value="`+typed[0]+`"`) {
				t.Errorf("POST %s loses %s=%s", path, name, typed[0])
			}
		}
	}
}

func await(ctx context.Context, t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-ctx.Done():
		t.Fatalf("never came: %s", what)
	}
}
