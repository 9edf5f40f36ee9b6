package web_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/gateway"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/web"
)

// under changes the rules of the market that the site stands on.
func under(change func(*market.Rules)) func(*web.Deps) {
	return func(d *web.Deps) {
		rules := d.Market.Rules()
		change(&rules)
		stripe := gateway.New(gateway.Settings{SecretKey: stripeKey, URL: d.Settings.CheckoutOrigins[0], Timeout: 5 * time.Second}, false)
		d.Market = market.New(d.Pool, d.Queue, stripe, rules, slog.New(slog.DiscardHandler))
	}
}

// newStackUnder is newStack with other rules of the market.
func newStackUnder(t *testing.T, change func(*market.Rules)) *stack {
	t.Helper()
	s := newStack(t, under(change))
	s.market = s.deps.Market
	return s
}

// tightAddress is the product's own limit of a network address.
func tightAddress(d *web.Deps) {
	under(func(r *market.Rules) { r.Address = market.Limits{Holds: 10, Blocks: 1500, BlockMinutes: 270_000} })(d)
}

func currency(t *testing.T, code string) money.Currency {
	t.Helper()
	c, ok := money.Lookup(code)
	if !ok {
		t.Fatalf("no currency %s", code)
	}
	return c
}

// signIn signs a browser in to the account of an address.
func (s *stack) signIn(b *browser, email string) {
	s.t.Helper()
	b.post("/login", "email", email).wants(http.StatusSeeOther)
	b.post(s.mailedLink()).wants(http.StatusSeeOther)
}

const takeJob = `
	UPDATE river_job SET state = 'running', attempt = attempt + 1
	WHERE id = (SELECT id FROM river_job WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= now()
		AND kind <> 'send_mail' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
	RETURNING id, kind, args, attempt`

// work works off every job that is due but the mails, as workers do.
func (s *stack) work() {
	s.t.Helper()
	for {
		var id int64
		var kind string
		var args []byte
		var attempt int
		err := s.pool.QueryRow(s.ctx(), takeJob).Scan(&id, &kind, &args, &attempt)
		if errors.Is(err, pgx.ErrNoRows) {
			return
		}
		if err != nil {
			s.t.Fatal(err)
		}
		early := market.NotYet{}
		switch err := s.do(kind, args, attempt); {
		case errors.As(err, &early):
			s.exec(`UPDATE river_job SET state = 'scheduled', attempt = attempt - 1, scheduled_at = now() + $2 WHERE id = $1`, id, early.Wait+time.Millisecond)
		case err != nil:
			s.t.Fatalf("job %s %s: %v", kind, args, err)
		default:
			s.exec(`UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = $1`, id)
		}
	}
}

// do is what the workers do with a job.
func (s *stack) do(kind string, args []byte, attempt int) error {
	var a struct {
		Rental, Payment, Refund, Area int64
		Event, Why                    string
		Intent                        string `json:"payment_intent"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return err
	}
	switch kind {
	case "settle":
		return s.market.Settle(s.ctx(), rental.ID(a.Rental))
	case "remind":
		return s.market.Remind(s.ctx(), rental.ID(a.Rental), a.Why)
	case "end_checkout":
		return s.market.EndCheckout(s.ctx(), payment.ID(a.Payment), attempt)
	case "expire_session":
		return s.market.ExpireSession(s.ctx(), payment.ID(a.Payment), attempt)
	case "make_refund":
		return s.market.MakeRefund(s.ctx(), payment.RefundID(a.Refund))
	case "sync_refunds":
		return s.market.SyncRefunds(s.ctx(), a.Intent)
	case "unblock":
		return s.market.BlockOver(s.ctx(), a.Area)
	case "apply_event":
		_, _, err := s.market.ApplyEvent(s.ctx(), a.Event)
		return err
	}
	return errors.New("nobody works " + kind)
}

// settled lets webhooks and jobs come to rest.
func (s *stack) settled() {
	s.t.Helper()
	for range 4 { // a job may cause a webhook, and that a job
		if err := s.sim.Idle(s.ctx()); err != nil {
			s.t.Fatal(err)
		}
		s.work()
	}
}

// ledger is the money that the ledger keeps, minor units.
func (s *stack) ledger() int {
	s.t.Helper()
	return s.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`)
}

// mails is how many mails of a kind there are.
func (s *stack) mails(kind string) int {
	s.t.Helper()
	return s.count(`SELECT count(*) FROM mails WHERE kind = $1`, kind)
}

// text asks the database for a word.
func (s *stack) text(sql string, args ...any) string {
	s.t.Helper()
	var v string
	if err := s.pool.QueryRow(s.ctx(), sql, args...).Scan(&v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

var keyOf = regexp.MustCompile(`/rentals/([^/?]+)`)

// state is a rental's, as the table has it.
func (s *stack) state(path string) string {
	s.t.Helper()
	return s.text(`SELECT state || COALESCE('/' || closed_reason, '') FROM rentals WHERE key = $1`, keyOf.FindStringSubmatch(path)[1])
}

// drain reads a body to its end.
func drain(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
