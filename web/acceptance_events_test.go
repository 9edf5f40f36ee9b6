package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

// event writes what Stripe would send about the newest payment's session.
// change may make it wrong.
func (s *stack) event(id, kind string, change ...func(object map[string]any)) string {
	s.t.Helper()
	var session, key, rentalKey, code string
	var amount int64
	const sql = `SELECT p.session_id, p.key, r.key, p.amount, p.currency FROM payments p JOIN rentals r ON r.id = p.rental_id ORDER BY p.id DESC LIMIT 1`
	if err := s.pool.QueryRow(s.ctx(), sql).Scan(&session, &key, &rentalKey, &amount, &code); err != nil {
		s.t.Fatal(err)
	}
	object := map[string]any{
		"id": session, "object": "checkout.session", "mode": "payment", "status": "complete", "payment_status": "paid",
		"amount_total": amount, "currency": code, "client_reference_id": key, "payment_intent": "pi_of_" + session, "livemode": false,
		"metadata":         map[string]string{"payment_id": key, "rental_id": rentalKey},
		"customer_details": map[string]string{"email": "somebody.else@example.com", "name": "Zoë 你"},
	}
	for _, c := range change {
		c(object)
	}
	return stripeEvent(id, kind, object)
}

func stripeEvent(id, kind string, object map[string]any) string {
	return string(must(json.MarshalIndent(map[string]any{
		"id": id, "object": "event", "api_version": "2031-01-01", "created": 0, "livemode": object["livemode"], "pending_webhooks": 1,
		"request": map[string]any{"id": nil, "idempotency_key": nil}, "type": kind, "data": map[string]any{"object": object},
	}, "", "  "))) + "\n"
}

func (s *stack) genuine(payload string) *answer {
	s.t.Helper()
	return s.deliver(payload, sign(payload, time.Now(), webhookSecret))
}

// mute keeps the simulator's own webhooks from coming, so that a test says
// what is told and when.
func (s *stack) mute() {
	s.t.Helper()
	if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: stripesim.FaultMute}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stack) booked() int {
	s.t.Helper()
	return s.count(`SELECT count(*) FROM ledger WHERE kind = 'payment.booked'`)
}

// P02: twenty copies of one event at once, and more of them later, are one
// sale; after the order was refunded they revive nothing.
func TestP02CopiesOfAnEventAreOneSale(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.checkout(path).wants(http.StatusSeeOther)
	s.mute()
	s.pay(s.session())
	intent := s.text(`SELECT payment_intent FROM stripesim.sessions WHERE id = $1`, s.session())
	payload := s.event("evt_twenty", "checkout.session.completed", func(o map[string]any) { o["payment_intent"] = intent })
	copies := func(n int) {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				if a := s.genuine(payload); a.status != http.StatusOK {
					t.Errorf("a copy: %d %s", a.status, a.body)
				}
			})
		}
		all.Wait()
		s.work()
	}
	copies(20)
	for _, later := range []time.Duration{time.Hour, 71 * time.Hour} {
		s.age(later)
		copies(2)
	}
	if s.booked() != 1 || s.ledger() != 480_000 || s.mails("paid") != 1 || !strings.HasPrefix(s.state(path), "paid") {
		t.Errorf("booked %d times, ledger %d, %d mails, %s", s.booked(), s.ledger(), s.mails("paid"), s.state(path))
	}
	if err := s.sim.ClearFaults(s.ctx()); err != nil {
		t.Fatal(err)
	}
	s.dashboardRefund(0)
	// The same again, and the same fact under another id.
	copies(2)
	s.genuine(s.event("evt_other", "checkout.session.completed", func(o map[string]any) { o["payment_intent"] = intent })).wants(http.StatusOK)
	s.settled()
	if s.state(path) != "closed/refunded" || s.ledger() != 0 || s.booked() != 1 {
		t.Errorf("after the refund: %s, ledger %d, booked %d times", s.state(path), s.ledger(), s.booked())
	}
	s.browser().hold(1, 1, 6, 4)
}

// P05: events that come late or in reverse move nothing backwards.
func TestP05RefundBeforeTheSale(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.checkout(path).wants(http.StatusSeeOther)
	s.mute()
	s.pay(s.session())
	intent := s.text(`SELECT payment_intent FROM stripesim.sessions WHERE id = $1`, s.session())
	if _, err := s.sim.DashboardRefund(s.ctx(), stripesim.RefundRequest{PaymentIntent: intent}); err != nil {
		t.Fatal(err)
	}
	refunded := stripeEvent("evt_refund", "charge.refunded", map[string]any{
		"id": "ch_1", "object": "charge", "payment_intent": intent, "amount": 480000, "amount_refunded": 480000, "refunded": true, "currency": "usd", "livemode": false,
	})
	s.genuine(refunded).wants(http.StatusOK)
	s.work()
	s.genuine(s.event("evt_paid", "checkout.session.completed", func(o map[string]any) { o["payment_intent"] = intent })).wants(http.StatusOK)
	s.work()
	s.age(31 * time.Second) // the refund's job looks again
	s.work()
	if s.state(path) != "closed/refunded" || s.ledger() != 0 {
		t.Errorf("%s, ledger %d", s.state(path), s.ledger())
	}
	if n := s.count(`SELECT count(*) FROM refunds`); n != 1 {
		t.Errorf("%d refunds", n)
	}
	s.browser().hold(1, 1, 6, 4)
}

func TestP05OldNewsDoesNotUndoASale(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.checkout(path).wants(http.StatusSeeOther)
	s.mute()
	old := s.event("evt_old", "checkout.session.expired", expired)
	oldFailed := s.event("evt_old_failed", "checkout.session.async_payment_failed", func(o map[string]any) { o["payment_status"] = "unpaid" })
	b.post(path+"/checkout", "weeks", "4", "email", "b@example.com").wants(http.StatusSeeOther) // a second session
	s.pay(s.session())
	s.genuine(s.event("evt_paid", "checkout.session.completed")).wants(http.StatusOK)
	s.work()
	for _, late := range []string{old, oldFailed, s.event("evt_same", "checkout.session.expired", expired)} {
		s.genuine(late).wants(http.StatusOK)
		s.work()
	}
	if !strings.HasPrefix(s.state(path), "paid") || s.ledger() != 960_000 {
		t.Errorf("%s, ledger %d", s.state(path), s.ledger())
	}
	if n := s.count(`SELECT count(*) FROM mails WHERE kind <> 'paid'`); n != 0 {
		t.Errorf("%d other mails", n)
	}
	s.browser().post("/holds", holdPairs(1, 1, 6, 4)...).wants(http.StatusConflict)
}

func expired(o map[string]any) { o["status"], o["payment_status"] = "expired", "unpaid" }

// P07: two pages of one order, both paid: one buys it, the other goes back.
func TestP07TheSecondPaymentGoesBack(t *testing.T) {
	for _, newestFirst := range []bool{false, true} {
		t.Run(fmt.Sprintf("newest first %v", newestFirst), func(t *testing.T) {
			s := newStack(t)
			b := s.browser()
			path := b.hold(1, 1, 6, 4)
			b.checkout(path).wants(http.StatusSeeOther)
			one := s.session()
			b.post(path+"/checkout", "weeks", "3", "email", "b@example.com").wants(http.StatusSeeOther)
			two := s.session()
			s.settled()
			if open := s.openPages(); open != 1 {
				t.Errorf("%d pages can be paid", open)
			}
			order := []string{one, two}
			if newestFirst {
				order = []string{two, one}
			}
			for _, session := range order {
				s.pay(session)
				s.settled()
			}
			if s.booked() != 2 || s.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded' AND reason = 'second_payment'`) != 1 {
				t.Errorf("booked %d", s.booked())
			}
			if got := s.ledger(); got != 480_000 && got != 720_000 {
				t.Errorf("the ledger keeps %d", got)
			}
			if !strings.HasPrefix(s.state(path), "paid") || s.mails("paid") != 1 || s.mails("refunded") != 1 {
				t.Errorf("%s, %d and %d mails", s.state(path), s.mails("paid"), s.mails("refunded"))
			}
		})
	}
}

// P09: what is genuine is taken whatever its dress; what is not ours changes
// nothing and is answered 2xx all the same.
func TestP09GenuineEventsInEveryDress(t *testing.T) {
	for name, send := range map[string]func(s *stack, payload string) *answer{
		"pretty printed": func(s *stack, p string) *answer { return s.genuine(p) },
		"old secret":     func(s *stack, p string) *answer { return s.deliver(p, sign(p, time.Now(), "whsec_old")) },
		"wrong one first": func(s *stack, p string) *answer {
			return s.deliver(p, strings.Replace(sign(p, time.Now(), webhookSecret), ",v1=", ",v1="+strings.Repeat("0", 64)+",v1=", 1))
		},
		"chunked": func(s *stack, p string) *answer {
			r := s.browser().request("POST", "/webhooks/stripe", onlyReader{strings.NewReader(p)}, "Stripe-Signature", sign(p, time.Now(), webhookSecret))
			return s.browser().send(r)
		},
		"200 kB": func(s *stack, p string) *answer {
			p = strings.Replace(p, "Zoë", strings.Repeat("ë", 100_000), 1)
			return s.genuine(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t)
			b := s.browser()
			path := b.hold(1, 1, 6, 4)
			b.checkout(path).wants(http.StatusSeeOther)
			s.mute()
			a := send(s, s.event("evt_1", "checkout.session.completed")).wants(http.StatusOK)
			if a.header.Get("Set-Cookie") != "" || a.leads() != "" {
				t.Errorf("headers: %v", a.header)
			}
			s.work()
			if s.booked() != 1 || !strings.HasPrefix(s.state(path), "paid") {
				t.Errorf("booked %d times, %s", s.booked(), s.state(path))
			}
			if n := s.count(`SELECT count(*) FROM rentals WHERE email LIKE 'somebody.else%'`); n != 0 {
				t.Error("the payer's address became the buyer's")
			}
		})
	}
}

type onlyReader struct {
	r interface{ Read([]byte) (int, error) }
}

func (o onlyReader) Read(b []byte) (int, error) { return o.r.Read(b) }

func TestP09ForeignAndUnknownEventsChangeNothing(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.checkout(path).wants(http.StatusSeeOther)
	s.mute()
	foreign := func(o map[string]any) {
		o["id"], o["client_reference_id"], o["metadata"], o["payment_intent"] = "cs_foreign", "another shop", map[string]string{}, "pi_foreign"
	}
	for id, payload := range map[string]string{
		"unknown type": s.event("evt_unknown", "customer.tax_id.created"),
		"foreign":      s.event("evt_foreign", "checkout.session.completed", foreign),
		"foreign end":  s.event("evt_foreign2", "checkout.session.expired", foreign),
		"livemode":     s.event("evt_live", "checkout.session.completed", func(o map[string]any) { o["livemode"] = true }),
	} {
		if a := s.genuine(payload); a.status != http.StatusOK {
			t.Errorf("%s: %d", id, a.status)
		}
	}
	s.work()
	if s.booked() != 0 || s.state(path) != "paying" {
		t.Errorf("booked %d times, %s", s.booked(), s.state(path))
	}
	if n := s.count(`SELECT count(*) FROM anomalies WHERE kind = 'livemode mismatch'`); n != 1 {
		t.Errorf("%d anomalies", n)
	}
}

// P10: money that is not what was asked for buys nothing, and an admin hears
// of it.
func TestP10WrongMoneyBuysNothing(t *testing.T) {
	for name, wrong := range map[string]func(o map[string]any){
		"a cent less":      func(o map[string]any) { o["amount_total"] = 479_999 },
		"a cent more":      func(o map[string]any) { o["amount_total"] = 480_001 },
		"another currency": func(o map[string]any) { o["currency"] = "jpy" },
		"another session":  func(o map[string]any) { o["id"] = "cs_of_a_cheap_order" },
		"another order": func(o map[string]any) {
			o["client_reference_id"] = "other"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t)
			admin, b := s.admin(), s.browser()
			path := b.hold(1, 1, 6, 4)
			b.checkout(path).wants(http.StatusSeeOther)
			s.mute()
			s.genuine(s.event("evt_1", "checkout.session.completed", wrong)).wants(http.StatusOK)
			s.work()
			if s.booked() != 0 || s.state(path) != "paying" || s.mails("paid") != 0 {
				t.Errorf("booked %d times, %s", s.booked(), s.state(path))
			}
			admin.get("/admin/anomalies").says("payment mismatch", "Nothing was booked")
		})
	}
}

// P10: other weeks are another session at the price the hold promised, also
// after the prices went up and the buyer signed in.
func TestP10TheHoldKeepsItsPrice(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.checkout(path).wants(http.StatusSeeOther)
	two := s.session()
	s.signIn(b, "zoe@example.com")
	s.exec(`UPDATE rentals SET price_per_week = price_per_week`) // the hold's own; the list is the operator's setting
	b.post(path+"/checkout", "weeks", "4", "email", "zoe@example.com", "expected_amount", "960000").wants(http.StatusSeeOther)
	if amount, _ := s.charged(); amount != 960_000 {
		t.Errorf("four weeks cost %d", amount)
	}
	if st := s.text(`SELECT status FROM stripesim.sessions WHERE id = $1`, two); st != "expired" {
		t.Errorf("the page for two weeks is %s", st)
	}
	s.pay(s.session())
	s.settled()
	b.get(path).says("9,600.00 USD")
	if s.booked() != 1 || s.ledger() != 960_000 {
		t.Errorf("booked %d times, ledger %d", s.booked(), s.ledger())
	}
}

// P01: the hold is over, the page could still be paid, the news is an hour
// late: either the whole rect or all of the money, and one mail that says so.
func TestP01LateMoney(t *testing.T) {
	for _, c := range []struct {
		name  string
		other bool // somebody has one of the blocks
		late  time.Duration
		state string
		kept  int
		mail  string
	}{
		{"in time", false, time.Minute, "paid", 480_000, "paid"},
		{"late and free", false, 2 * time.Hour, "paid", 480_000, "paid"},
		{"late and taken", true, 2 * time.Hour, "closed/expired", 180_000, "refunded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStack(t)
			b, other := s.browser(), s.browser()
			path := b.hold(1, 1, 6, 4)
			b.checkout(path).wants(http.StatusSeeOther)
			s.mute()
			session := s.session()
			payload := s.event("evt_late", "checkout.session.completed", func(o map[string]any) { o["payment_intent"] = "INTENT" })
			late := func(intent string) string { return strings.Replace(payload, "INTENT", intent, 1) }
			s.age(c.late)
			if c.other {
				theirs := other.hold(6, 4, 3, 3)
				other.checkout(theirs).wants(http.StatusSeeOther)
				s.pay(s.session())
				other.get(theirs + "/return").wants(http.StatusSeeOther)
				s.exec(`DELETE FROM mails`)
			}
			s.pay(session)
			s.age(time.Hour)
			intent := s.text(`SELECT payment_intent FROM stripesim.sessions WHERE id = $1`, session)
			s.genuine(late(intent)).wants(http.StatusOK)
			s.work()
			s.work()
			if s.state(path) != c.state || s.ledger() != c.kept {
				t.Errorf("%s, the ledger keeps %d", s.state(path), s.ledger())
			}
			if n := s.count(`SELECT count(*) FROM mails WHERE kind IN ('paid', 'refunded', 'cancelled')`); n != 1 || s.mails(c.mail) != 1 {
				t.Errorf("%d mails", n)
			}
			want := 24
			if c.other { // what is kept is the other buyer's
				want = 0
			}
			if n := s.count(`SELECT count(*) FROM blocks b JOIN rentals r ON r.id = b.claim_id WHERE r.key = $1`, keyOf.FindStringSubmatch(path)[1]); n != want {
				t.Errorf("%d blocks", n)
			}
			if c.other && s.count(`SELECT count(*) FROM refunds WHERE amount = 480000`) != 1 {
				t.Error("not refunded once")
			}
		})
	}
}
