package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/age"
	"tuval/internal/app"
	"tuval/internal/config"
	"tuval/internal/gateway"
	"tuval/internal/market"
	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

const (
	adminEmail    = "admin@tuval.example"
	adminPassword = "correct horse battery"
)

// site is a running Tuval: web, workers, payment simulator.
type site struct {
	t    *testing.T
	base string // http://127.0.0.1:port
	pool *pgxpool.Pool
	sim  *stripesim.Sim // the simulator's controls

	market *market.Market // for what other people do; it knows no payment service
	log    *serverLog
}

// serve starts Tuval with settings like "TUVAL_HOLD_TTL=2s". When the test ends it
// stops, its log must hold no error, and the database must keep the invariants.
func serve(t *testing.T, settings ...string) *site {
	t.Helper()
	browser(t) // skips before anything is started
	url := testdb.URL(t)
	c, err := config.Load(lookup(append([]string{
		"TUVAL_ADDR=127.0.0.1:0", "DATABASE_URL=" + url, "TUVAL_DATA_DIR=" + t.TempDir(), "TUVAL_RATE_LIMITS=off",
		"TUVAL_ADMIN_EMAIL=" + adminEmail, "TUVAL_ADMIN_PASSWORD=" + adminPassword,
	}, settings...)))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, log: &serverLog{}}
	logger := slog.New(slog.NewTextHandler(s.log, nil))
	base, err := app.Open(t.Context(), c, logger, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.pool = base.Pool
	s.market = base.Market(gateway.Settings{SecretKey: "sk_test_none", URL: "http://127.0.0.1:1"})
	s.run(base)
	// The same simulator, on the same data: what it has to send, the server's sends.
	s.sim, err = stripesim.New(stripesim.Options{
		Pool: base.Pool, SecretKey: "sk_test_simulator", Logger: logger,
		WebhookURL: s.base + "/webhooks/stripe", WebhookSecrets: []string{"the server's own"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lookup reads settings from a list; later ones win.
func lookup(settings []string) func(string) (string, bool) {
	all := map[string]string{}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		all[name] = value
	}
	return func(name string) (string, bool) {
		value, ok := all[name]
		return value, ok
	}
}

var greeting = regexp.MustCompile(`Tuval is at\s+(\S+)`)

// run serves until the test ends and returns when the site says where it is.
func (s *site) run(base *app.Base) {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	said, say := io.Pipe()
	gone := make(chan error, 1)
	go func() {
		err := app.Serve(ctx, base, app.Roles{Web: true, Workers: true}, say)
		_ = say.Close()
		gone <- err
	}()
	s.t.Cleanup(func() {
		stop()
		if err := <-gone; err != nil {
			s.t.Errorf("serve: %v", err)
		}
		if err := base.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
		s.log.report(s.t)
	})
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if m := greeting.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case s.base = <-found:
	case err := <-gone:
		gone <- nil
		s.t.Fatalf("serve: %v", err)
	case <-time.After(patience):
		s.t.Fatal("the server never came up")
	}
}

// serverLog keeps what the server wrote.
type serverLog struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

// report fails the test for errors, and shows a failed test what led to it.
func (l *serverLog) report(t *testing.T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.all.String()) {
		if strings.Contains(line, "level=ERROR") {
			t.Errorf("server: %s", strings.TrimSpace(line))
		}
	}
	if t.Failed() {
		t.Logf("log of the server:\n%s", l.all.String())
	}
}

// age lets time pass.
func (s *site) age(by time.Duration) {
	s.t.Helper()
	if err := age.Move(s.t.Context(), s.pool, by); err != nil {
		s.t.Fatal(err)
	}
}

// count asks the database for a number.
func (s *site) count(sql string, args ...any) int {
	s.t.Helper()
	var n int
	if err := s.pool.QueryRow(s.t.Context(), sql, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// counts fails the test unless the database says that number.
func (s *site) counts(want int, sql string, args ...any) {
	s.t.Helper()
	if got := s.count(sql, args...); got != want {
		s.t.Errorf("%s: %d, want %d", sql, got, want)
	}
}

// becomes waits until the database answers true.
func (s *site) becomes(sql string, args ...any) {
	s.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); ; {
		var yes bool
		if err := s.pool.QueryRow(s.t.Context(), sql, args...).Scan(&yes); err != nil {
			s.t.Fatal(err)
		}
		if yes {
			return
		}
		select {
		case <-look.C:
		case <-late:
			s.t.Fatalf("it never became true that %s", sql)
		}
	}
}

// fault makes the payment simulator misbehave.
func (s *site) fault(f stripesim.Fault) {
	s.t.Helper()
	if _, err := s.sim.AddFault(s.t.Context(), f); err != nil {
		s.t.Fatal(err)
	}
}

// well takes all faults away and lets go of webhooks that were kept back.
func (s *site) well() {
	s.t.Helper()
	if err := s.sim.ClearFaults(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := s.sim.ReleaseWebhooks(s.t.Context(), stripesim.OrderAny); err != nil {
		s.t.Fatal(err)
	}
}

// rect is a place in blocks, counted from 0.
type rect struct{ x, y, w, h int }

func itoa(n int) string { return strconv.Itoa(n) }

// form is how the four fields of the page write it.
func (r rect) form() string { return fmt.Sprintf("%d,%d,%d,%d", r.x+1, r.y+1, r.w, r.h) }

// heldAs fails the test unless the rental holds exactly these blocks.
func (s *site) heldAs(key string, r rect) {
	s.t.Helper()
	var got rect
	err := s.pool.QueryRow(s.t.Context(), `SELECT x, y, w, h FROM rentals WHERE key = $1`, key).Scan(&got.x, &got.y, &got.w, &got.h)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != r {
		s.t.Errorf("rental %s holds %+v, want %+v", key, got, r)
	}
	s.counts(r.w*r.h, `SELECT count(*) FROM blocks b JOIN rentals r ON r.id = b.claim_id WHERE r.key = $1 AND b.leased_until > now()
		AND b.x >= r.x AND b.x < r.x + r.w AND b.y >= r.y AND b.y < r.y + r.h`, key)
}
