package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/stripesim"
)

// charged is what the payment service was asked for, by its newest session.
func (s *stack) charged() (amount int64, currency string) {
	s.t.Helper()
	const sql = `SELECT amount_total, currency FROM stripesim.sessions WHERE id = $1`
	if err := s.pool.QueryRow(s.ctx(), sql, s.session()).Scan(&amount, &currency); err != nil {
		s.t.Fatal(err)
	}
	return amount, currency
}

func (s *stack) dashboardRefund(amount int64) {
	s.t.Helper()
	intent := s.text(`SELECT payment_intent FROM payments WHERE payment_intent IS NOT NULL ORDER BY id DESC LIMIT 1`)
	want := stripesim.RefundRequest{PaymentIntent: intent}
	if amount > 0 {
		want.Amount = &amount
	}
	if _, err := s.sim.DashboardRefund(s.ctx(), want); err != nil {
		s.t.Fatal(err)
	}
	s.settled()
}

// N01: amounts go to the payment service in the currency's own smallest unit,
// and pages and mails write as many digits after the point as it has.
func TestN01CurrenciesKeepTheirPowerOfTen(t *testing.T) {
	for _, c := range []struct {
		code           string
		perPixel       int64 // 100 pixels: one block
		charged        int64
		refund         int64
		words, refunds string
	}{
		{"jpy", 5, 500, 200, "500 JPY", "200 JPY"},
		{"bhd", 50, 5000, 2000, "5.000 BHD", "2.000 BHD"},
		{"kwd", 50, 5000, 2000, "5.000 KWD", "2.000 KWD"},
		{"usd", 5, 500, 200, "5.00 USD", "2.00 USD"},
	} {
		t.Run(c.code, func(t *testing.T) {
			s := newStackUnder(t, func(r *market.Rules) { r.Currency, r.PricePerPixel = currency(t, c.code), c.perPixel })
			b := s.browser()
			b.get("/").says(c.words)
			path := b.hold(1, 1, 1, 1)
			b.get(path).says(c.words)
			b.post(path+"/checkout", "weeks", "1", "email", "b@example.com", "expected_amount", fmt.Sprint(c.charged)).wants(http.StatusSeeOther)
			if amount, code := s.charged(); amount != c.charged || code != c.code {
				t.Fatalf("asked for %d %s", amount, code)
			}
			s.pay(s.session())
			s.settled()
			b.get(path).says(c.words)
			if mail := s.text(`SELECT text_body FROM mails WHERE kind = 'paid'`); !strings.Contains(mail, c.words) {
				t.Errorf("the receipt does not say %s:\n%s", c.words, mail)
			}
			s.dashboardRefund(c.refund)
			b.get(path).says(c.refunds)
			if got := s.ledger(); got != int(c.charged-c.refund) {
				t.Errorf("the ledger keeps %d", got)
			}
			s.dashboardRefund(0)
			if got := s.ledger(); got != 0 || s.state(path) != "closed/refunded" {
				t.Errorf("the ledger keeps %d of a rental that is %s", got, s.state(path))
			}
			if mail := s.text(`SELECT text_body FROM mails WHERE kind = 'cancelled'`); !strings.Contains(mail, strings.Fields(c.words)[1]) {
				t.Errorf("the mail about the cancellation names no %s:\n%s", c.code, mail)
			}
		})
	}
}

// N01: how numbers are written in the buyer's country cannot change an amount.
func TestN01WrittenNumbersAreNotAmounts(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	for _, typed := range []string{"4.800,00", "4,800.00", "4800,00", "480000.0", "4 800", "٤٨٠٠٠٠", "4.8e5"} {
		b.checkout(path, "expected_amount", typed).wants(http.StatusUnprocessableEntity)
	}
	b.checkout(path, "expected_amount", "4800").wants(http.StatusConflict).says("4,800.00 USD")
	for _, weeks := range []string{"2,0", "2.0", "1.000", "1,000"} {
		b.post(path+"/checkout", "weeks", weeks, "email", "b@example.com").wants(http.StatusUnprocessableEntity).marks("weeks")
	}
	if n := s.count(`SELECT count(*) FROM payments`); n != 0 {
		t.Errorf("%d payments were begun", n)
	}
}

// P14: one whole number everywhere, for awkward prices too; what cannot be
// charged is refused before anything is held or charged.
func TestP14OneAmountEverywhere(t *testing.T) {
	shapes := [][2]int{{1, 1}, {3, 1}, {7, 1}, {11, 9}} // 1, 3, 7 and 99 blocks
	for _, perPixel := range []int64{7, 19, 33} {
		t.Run(fmt.Sprint(perPixel), func(t *testing.T) {
			s := newStackUnder(t, func(r *market.Rules) { r.PricePerPixel = perPixel })
			for i, shape := range shapes {
				for _, weeks := range []int64{1, 3, 52} {
					s.oneAmount(1+20*i, 1, shape[0], shape[1], weeks, perPixel)
				}
			}
		})
	}
}

func (s *stack) oneAmount(col, row, w, h int, weeks, perPixel int64) {
	t := s.t
	t.Helper()
	b := s.browser()
	path := b.hold(col, row, w, h)
	total := perPixel * 100 * int64(w*h) * weeks
	m := money.Money{Amount: total, Currency: "usd"}
	b.post(path+"/checkout", "weeks", fmt.Sprint(weeks), "email", "b@example.com", "expected_amount", fmt.Sprint(total)).wants(http.StatusSeeOther)
	if asked, _ := s.charged(); asked != total {
		t.Errorf("%d x %d for %d weeks at %d: asked for %d, not %d", w, h, weeks, perPixel, asked, total)
	}
	b.get(path).says(m.String())
	s.pay(s.session())
	s.settled()
	b.get(path).says("Paid. Now your picture", m.String())
	if booked := s.count(`SELECT amount FROM ledger WHERE kind = 'payment.booked' ORDER BY id DESC LIMIT 1`); booked != int(total) {
		t.Errorf("booked %d, not %d", booked, total)
	}
	if mail := s.text(`SELECT text_body FROM mails WHERE kind = 'paid' ORDER BY id DESC LIMIT 1`); !strings.Contains(mail, m.String()) {
		t.Errorf("the receipt does not say %s", m)
	}
	s.dashboardRefund(0)
	if got := s.ledger(); got != 0 || !strings.HasPrefix(s.state(path), "closed") {
		t.Errorf("after the refund %d is left of a rental that is %s", got, s.state(path))
	}
}

func TestP14TooLittleIsRefused(t *testing.T) {
	s := newStackUnder(t, func(r *market.Rules) { r.Currency, r.PricePerPixel = currency(t, "inr"), 1 })
	b := s.browser()
	path := b.hold(1, 1, 2, 1) // 2.00 INR a week; the least that can be paid are 50.00
	b.post(path+"/checkout", "weeks", "24", "email", "b@example.com").wants(http.StatusUnprocessableEntity).marks("weeks").says("50.00 INR")
	b.post(path+"/checkout", "weeks", "25", "email", "b@example.com").wants(http.StatusSeeOther)
}

func TestP14TooMuchIsRefused(t *testing.T) {
	s := newStackUnder(t, func(r *market.Rules) {
		r.MaxBlocks, r.Person.Blocks, r.Address.Blocks = 10_000, 10_000, 10_000
	})
	b := s.browser()
	b.post("/holds", holdPairs(1, 1, 100, 100)...).wants(http.StatusUnprocessableEntity).marks("w").says("999,999.99 USD")
	if n := s.count(`SELECT count(*) FROM rentals`); n != 0 {
		t.Errorf("%d holds", n)
	}
	path := b.hold(1, 1, 99, 99)
	b.post(path+"/checkout", "weeks", "52", "email", "b@example.com").wants(http.StatusUnprocessableEntity).marks("weeks").says("999,999.99 USD")
	b.post(path+"/checkout", "weeks", "1", "email", "b@example.com").wants(http.StatusSeeOther)
}
