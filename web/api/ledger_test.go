package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

type eventAnswer struct {
	Position, Kind string
	RentalID       string `json:"rental_id"`
	PaymentID      string `json:"payment_id"`
	RefundID       string `json:"refund_id"`
	Blocks         int
	Amount         int64
	Currency       string
	Actor          string
}

type eventsAnswer struct {
	Events []eventAnswer
	Next   string
}

func (c *client) ledger(since string) eventsAnswer {
	c.s.t.Helper()
	return as[eventsAnswer](c.get("/api/v1/admin/ledger?since=" + url.QueryEscape(since)).wants(http.StatusOK))
}

// settled waits until nothing that runs anywhere in the server, other tests'
// databases included, can still come before an event of this ledger.
func (s *stack) settled() {
	s.t.Helper()
	const sql = `SELECT count(*) FROM ledger WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())`
	for again := time.NewTicker(20 * time.Millisecond); s.count(sql) > 0; <-again.C {
	}
}

func TestTheLedgerTellsWhatHappened(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	if got := admin.get("/api/v1/admin/ledger").wants(http.StatusOK); string(got.body) != "{\"events\":[]}\n" {
		t.Errorf("an empty ledger is %s", got.body)
	}
	h := s.hold(s.stranger(), rect{0, 0, 2, 3})
	page := as[offerAnswer](s.checkout(h, buying(2)).wants(http.StatusOK))
	s.pay(page, stripesim.Payment{})
	s.settled()
	all := admin.ledger("").Events
	sums := map[string]int64{}
	kinds := ""
	for _, e := range all {
		sums["blocks"] += int64(e.Blocks)
		sums["amount"] += e.Amount
		kinds += e.Kind + " "
		if e.RentalID != h.ID || e.Currency != "usd" || e.Actor == "" {
			t.Errorf("an event is %+v", e)
		}
	}
	if kinds != "hold.placed checkout.begun payment.booked rental.paid " || sums["blocks"] != 6 || sums["amount"] != 120_000 {
		t.Errorf("it has %s, sums %v", kinds, sums)
	}
	if all[2].PaymentID != page.PaymentID {
		t.Errorf("booked is %+v", all[2])
	}
	// Reading on from any position gives what stands behind it.
	for i, e := range all {
		if rest := admin.ledger(e.Position).Events; len(rest) != len(all)-i-1 {
			t.Errorf("behind event %d of %d are %d", i, len(all), len(rest))
		}
	}
}

func TestTheLedgerComesInPages(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	const sql = `INSERT INTO ledger (kind, effective_at, currency, actor)
		SELECT 'hold.kept', now(), 'usd', 'test ' || n FROM generate_series(1, 1203) AS n`
	if _, err := s.pool.Exec(s.ctx(), sql); err != nil {
		t.Fatal(err)
	}
	s.settled()
	seen, since := 0, ""
	for pages := range 4 {
		got := admin.ledger(since)
		for _, e := range got.Events {
			if seen++; e.Actor != fmt.Sprint("test ", seen) {
				t.Fatalf("event %d is %+v", seen, e)
			}
		}
		if (pages < 2) != (got.Next != "") {
			t.Fatalf("page %d has next %q", pages, got.Next)
		}
		if len(got.Events) > 0 {
			since = got.Events[len(got.Events)-1].Position
		}
	}
	if seen != 1203 {
		t.Errorf("%d events", seen)
	}
}

// An event of a slow transaction is not jumped over by faster ones.
func TestTheLedgerHasNoGaps(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	const sql = `INSERT INTO ledger (kind, effective_at, currency, actor) VALUES ('hold.kept', now(), 'usd', $1)`
	slow := must(s.pool.Begin(s.ctx()))
	defer func() { _ = slow.Rollback(context.Background()) }()
	if _, err := slow.Exec(s.ctx(), sql, "slow"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(s.ctx(), sql, "fast"); err != nil {
		t.Fatal(err)
	}
	if got := admin.ledger("").Events; len(got) != 0 {
		t.Errorf("while one may still come before: %+v", got)
	}
	if err := slow.Commit(s.ctx()); err != nil {
		t.Fatal(err)
	}
	s.settled()
	got := admin.ledger("").Events
	if len(got) != 2 || got[0].Actor != "slow" || got[1].Actor != "fast" {
		t.Errorf("then %+v", got)
	}
}

func TestPositionsThatAreNone(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	for _, since := range []string{
		"x", "1", "1.", ".1", "1.x", "-1.1", "1.-1", "1.1.1", " 1.1", "01.1", "+1.1", "1.9223372036854775808", "18446744073709551616.1", "\x00", "1e3.1", "'",
	} {
		admin.get("/api/v1/admin/ledger?since="+url.QueryEscape(since)).refuses(http.StatusUnprocessableEntity, "invalid", "since")
	}
	for _, since := range []string{"0.0", "18446744073709551615.9223372036854775807"} {
		admin.ledger(since)
	}
}
