package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tuval/internal/app"
	"tuval/internal/config"
	"tuval/internal/grid"
	"tuval/internal/telemetry"
)

const httpText = `A hold from the outside: ` + "`POST /api/v1/holds`" + ` of a free 6 x 4 rect, then ` + "`DELETE`" + `, by %d clients at once, each from a network address of
its own, on one process that also works its jobs, against a PostgreSQL on the same two cores. Only the POST is timed. %s.

| holds/s | p50 | p99 |
|---|---|---|
| %s | %s | %s |
`

const httpClients = 64

// httpSection measures a hold over HTTP, end to end.
func httpSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	url, err := s.cluster.EnsureDatabase(ctx, "http")
	if err != nil {
		return part{}, err
	}
	base, stop, err := serve(ctx, url)
	if err != nil {
		return part{}, err
	}
	defer stop()
	r, err := holdOverHTTP(ctx, base, b.cell)
	if err != nil {
		return part{}, err
	}
	b.logf("holds over http %8.0f/s p50 %v p99 %v", r.winners, r.p50, r.p99)
	return part{
		title: "A hold over HTTP",
		text:  fmt.Sprintf(httpText, httpClients, b.cell, thousands(r.winners), duration(r.p50), duration(r.p99)),
	}, nil
}

// serve starts Tuval as it is run, with its limits on people lifted: here
// everybody comes from one machine.
func serve(ctx context.Context, url string) (base string, stop func(), err error) {
	set := map[string]string{
		"TUVAL_ADDR": "127.0.0.1:0", "DATABASE_URL": url, "TUVAL_SECRET": strings.Repeat("s", 32), "TUVAL_LOG_LEVEL": "error",
		"TUVAL_RATE_LIMITS": "off", "TUVAL_MAX_HELD_SHARE": "1", "TUVAL_TRUSTED_PROXIES": "127.0.0.1/32",
		"STRIPE_SECRET_KEY": "sk_test_bench", "STRIPE_API_URL": "http://127.0.0.1:9", "STRIPE_WEBHOOK_SECRET": "whsec_bench", // no simulator at its side
		"TUVAL_ADMIN_EMAIL": "bench@example.com", "TUVAL_ADMIN_PASSWORD": "not a secret here",
		"TUVAL_BLOCK_MINUTES_PER_ADDRESS": "1000000000", "TUVAL_MAX_HOLDS_PER_ADDRESS": "1000000",
	}
	c, err := config.Load(func(name string) (string, bool) { v, ok := set[name]; return v, ok })
	if err != nil {
		return "", nil, err
	}
	base0, err := app.Open(ctx, c, telemetry.Logger(io.Discard, "text", "error"), io.Discard)
	if err != nil {
		return "", nil, err
	}
	running, cancel := context.WithCancel(ctx)
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := app.Serve(running, base0, app.Roles{Web: true, Workers: true}, in)
		in.CloseWithError(io.EOF)
		done <- err
	}()
	base, err = greeted(out)
	return base, func() { cancel(); <-done; _ = base0.Close() }, err
}

// greeted reads where the server says it is, and whatever it says later.
func greeted(out io.Reader) (string, error) {
	var said strings.Builder
	where := regexp.MustCompile(`Tuval is at\s+(\S+)`)
	buffer := make([]byte, 4096)
	for {
		n, err := out.Read(buffer)
		said.Write(buffer[:n])
		if m := where.FindStringSubmatch(said.String()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return m[1], nil
		}
		if err != nil {
			return "", fmt.Errorf("the server never came up: %s", said.String())
		}
	}
}

// holdOverHTTP holds and gives back, each client in a corner of its own.
func holdOverHTTP(ctx context.Context, base string, during time.Duration) (result, error) {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: httpClients}}
	begin := time.Now().Add(2 * time.Second)
	end := begin.Add(during)
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var people sync.WaitGroup
	for i := range httpClients {
		people.Go(func() {
			rect := grid.Rect{X: i % 16 * 6, Y: i / 16 * 4, W: 6, H: 4}
			var took []time.Duration
			var err error
			for n := 0; err == nil && ctx.Err() == nil && time.Now().Before(end); n++ {
				start := time.Now()
				var one time.Duration
				one, err = holdOnce(ctx, client, base, rect, fmt.Sprintf("10.%d.%d.%d", i, n/250%250, n%250))
				if start.After(begin) {
					took = append(took, one)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			if err != nil {
				failed = err
			}
		})
	}
	people.Wait()
	if failed != nil || len(all) == 0 {
		return result{}, fmt.Errorf("holds over http: %d done: %w", len(all), failed)
	}
	slices.Sort(all)
	return result{
		winners: float64(len(all)) / during.Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100],
	}, nil
}

// holdOnce times one hold and gives it back.
func holdOnce(ctx context.Context, client *http.Client, base string, r grid.Rect, from string) (time.Duration, error) {
	body, _ := json.Marshal(r)
	start := time.Now()
	var held struct{ ID, Token string }
	status, err := call(ctx, client, http.MethodPost, base+"/api/v1/holds", string(body), from, "", &held)
	took := time.Since(start)
	if err != nil || status != http.StatusCreated {
		return took, fmt.Errorf("a hold answers %d: %w", status, err)
	}
	status, err = call(ctx, client, http.MethodDelete, base+"/api/v1/holds/"+held.ID, "", from, held.Token, nil)
	if err != nil || status != http.StatusNoContent {
		return took, fmt.Errorf("giving it back answers %d: %w", status, err)
	}
	return took, nil
}

func call(ctx context.Context, client *http.Client, method, url, body, from, token string, into any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-For", from)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if into != nil {
		err = json.NewDecoder(resp.Body).Decode(into)
	} else {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return resp.StatusCode, err
}
