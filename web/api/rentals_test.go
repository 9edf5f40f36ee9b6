package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

type rentalAnswer struct {
	ID, State    string
	ClosedReason string `json:"closed_reason"`
	Rect         rect
	Weeks        int
	LeasedUntil  *time.Time `json:"leased_until"`
	PaidAt       *time.Time `json:"paid_at"`
	ApproveBy    *time.Time `json:"approve_by"`
	GoLiveAt     *time.Time `json:"go_live_at"`
	LiveFrom     *time.Time `json:"live_from"`
	EndsAt       *time.Time `json:"ends_at"`
	Payments     []struct {
		ID, Purpose, State string
		Weeks              int
		Amount             cash
		Refunds            []struct {
			ID, State, Reason string
			Amount            cash
		}
	}
	Creative, LiveCreative *creativeAnswer
}

type creativeAnswer struct {
	Revision      int
	State, Reason string
	ImageURL      string `json:"image_url"`
}

// UnmarshalJSON reads the names that Go would not find by itself.
func (r *rentalAnswer) UnmarshalJSON(b []byte) error {
	type plain rentalAnswer
	more := struct {
		*plain
		LiveCreative *creativeAnswer `json:"live_creative"`
	}{plain: (*plain)(r)}
	err := json.Unmarshal(b, &more)
	r.LiveCreative = more.LiveCreative
	return err
}

type offerAnswer struct {
	PaymentID   string    `json:"payment_id"`
	CheckoutURL string    `json:"checkout_url"`
	ExpiresAt   time.Time `json:"expires_at"`
	Amount      cash
}

func (s *stack) look(h heldAnswer) rentalAnswer {
	s.t.Helper()
	return as[rentalAnswer](s.bearer(h.Token).get("/api/v1/rentals/" + h.ID).wants(http.StatusOK))
}

func (s *stack) checkout(h heldAnswer, body any) *answer {
	s.t.Helper()
	return s.bearer(h.Token).post("/api/v1/rentals/"+h.ID+"/checkout", body)
}

// buying is what most tests buy.
func buying(weeks int) map[string]any {
	return map[string]any{"weeks": weeks, "email": "Buyer@example.com"}
}

// session is the id at Stripe of a payment.
func (s *stack) session(o offerAnswer) string {
	s.t.Helper()
	var id string
	if err := s.pool.QueryRow(s.ctx(), `SELECT session_id FROM payments WHERE key = $1`, o.PaymentID).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *stack) pay(o offerAnswer, how stripesim.Payment) {
	s.t.Helper()
	if _, err := s.sim.Pay(s.ctx(), s.session(o), how); err != nil {
		s.t.Fatal(err)
	}
	s.applyEvents()
}

// rented is a hold that was paid for.
func (s *stack) rented(r rect, weeks int) heldAnswer {
	s.t.Helper()
	h := s.hold(s.stranger(), r)
	s.pay(as[offerAnswer](s.checkout(h, buying(weeks)).wants(http.StatusOK)), stripesim.Payment{})
	return h
}

func TestFromAHoldToAPaidRental(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 6, 4})
	if got := s.look(h); got.State != "held" || len(got.Payments) != 0 || got.Weeks != 0 || got.Rect != h.Rect {
		t.Errorf("a hold is %+v", got)
	}
	first := as[offerAnswer](s.checkout(h, buying(4)).wants(http.StatusOK))
	if first.Amount != (cash{960_000, "usd"}) || !strings.HasPrefix(first.CheckoutURL, s.simURL) {
		t.Errorf("offered is %+v", first)
	}
	if again := as[offerAnswer](s.checkout(h, buying(4)).wants(http.StatusOK)); again != first {
		t.Errorf("the same again is %+v, not %+v", again, first)
	}
	got := s.look(h)
	if got.State != "paying" || len(got.Payments) != 1 || got.Payments[0].State != "open" || got.Payments[0].ID != first.PaymentID {
		t.Errorf("a checkout is %+v", got)
	}
	s.pay(first, stripesim.Payment{})
	got = s.look(h)
	if got.State != "paid" || got.Weeks != 4 || got.PaidAt == nil || got.ApproveBy.Sub(*got.PaidAt) != 720*time.Hour {
		t.Errorf("paid is %+v", got)
	}
	if p := got.Payments[0]; p.State != "paid" || p.Purpose != "new" || p.Weeks != 4 || p.Amount.Amount != 960_000 {
		t.Errorf("its payment is %+v", p)
	}
	s.checkout(h, buying(4)).refuses(http.StatusConflict, "conflict", "")
	s.bearer(h.Token).delete("/api/v1/holds/"+h.ID).refuses(http.StatusConflict, "conflict", "")
	s.bearer(h.Token).send("POST", "/api/v1/holds/"+h.ID+"/keep", nil).refuses(http.StatusConflict, "conflict", "")
	if b := s.board(); b.Counts["taken"] != 24 || b.Areas[0].State != "taken" {
		t.Errorf("the board has %v", b.Counts)
	}
}

// P10: going back and choosing otherwise makes another page; the price stays
// the one of the hold, and what the buyer expects is what is asked.
func TestOtherWeeksMakeAnotherPage(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	two := as[offerAnswer](s.checkout(h, buying(2)).wants(http.StatusOK))
	wrong := map[string]any{"weeks": 4, "email": "b@example.com", "expected_amount": 20_000}
	r := s.checkout(h, wrong).refuses(http.StatusConflict, "conflict", "")
	if string(r.Details) != `{"amount":{"amount":40000,"currency":"usd"}}` {
		t.Errorf("it says %s", r.Details)
	}
	wrong["expected_amount"] = 40_000
	four := as[offerAnswer](s.checkout(h, wrong).wants(http.StatusOK))
	if four.Amount.Amount != 40_000 || four.PaymentID == two.PaymentID || four.CheckoutURL == two.CheckoutURL {
		t.Errorf("four weeks are %+v after %+v", four, two)
	}
	if _, err := s.sim.Pay(s.ctx(), s.session(two), stripesim.Payment{}); err == nil {
		t.Error("the old page can be paid")
	}
	s.pay(four, stripesim.Payment{})
	if got := s.look(h); got.State != "paid" || got.Weeks != 4 || len(got.Payments) != 2 || got.Payments[0].State != "expired" {
		t.Errorf("it is %+v", got)
	}
}

// P10: a payment of another amount buys nothing and waits for a person.
func TestAWrongAmountBuysNothing(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	s.pay(as[offerAnswer](s.checkout(h, buying(2)).wants(http.StatusOK)), stripesim.Payment{Amount: 19_999})
	if got := s.look(h); got.State != "paying" || got.PaidAt != nil {
		t.Errorf("it is %+v", got)
	}
	list := as[map[string][]map[string]any](s.admin().get("/api/v1/admin/anomalies").wants(http.StatusOK))["anomalies"]
	if len(list) == 0 || list[0]["kind"] != "payment mismatch" || list[0]["rental_id"] != h.ID || list[0]["payment_id"] == nil || list[0]["action"] == "" {
		t.Errorf("anomalies are %v", list)
	}
}

// C03: the payment page is left, or could not be opened; the buyer goes on,
// others do not come in between.
func TestTryingAgain(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 4, 4})
	first := as[offerAnswer](s.checkout(h, buying(1)).wants(http.StatusOK))
	if back := as[offerAnswer](s.checkout(h, buying(1)).wants(http.StatusOK)); back.CheckoutURL != first.CheckoutURL {
		t.Error("after going back there is another page")
	}
	shifted := s.hold(s.bearer(h.Token), rect{1, 0, 4, 4})
	as[offerAnswer](s.checkout(shifted, buying(1)).wants(http.StatusOK))
	s.stranger().post("/api/v1/holds", rect{1, 0, 4, 4}).refuses(http.StatusConflict, "taken", "")
	if n := s.count(`SELECT count(*) FROM rentals WHERE state <> 'closed'`); n != 1 {
		t.Errorf("%d holds are open", n)
	}

	other := s.hold(s.stranger(), rect{50, 50, 1, 1})
	fault := stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: "POST /v1/checkout/sessions"}
	if _, err := s.sim.AddFault(s.ctx(), fault); err != nil {
		t.Fatal(err)
	}
	a := s.checkout(other, buying(1))
	a.refuses(http.StatusServiceUnavailable, "unavailable", "")
	if a.header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	if err := s.sim.ClearFaults(s.ctx()); err != nil {
		t.Fatal(err)
	}
	s.checkout(other, buying(1)).wants(http.StatusOK)
	if n := s.count(`SELECT count(*) FROM ledger WHERE kind = 'payment.booked'`); n != 0 {
		t.Errorf("%d sales are booked", n)
	}
}

// C04: a hold that is over is over for every click, and somebody else's stays
// what it is.
func TestAHoldThatIsOver(t *testing.T) {
	s := newStack(t)
	mine := s.hold(s.stranger(), rect{0, 0, 4, 4})
	s.age(11 * time.Minute)
	theirs := s.hold(s.stranger(), rect{0, 0, 4, 4})
	page := as[offerAnswer](s.checkout(theirs, buying(2)).wants(http.StatusOK))
	before := s.look(theirs)
	sessions := s.count(`SELECT count(*) FROM payments`)

	s.checkout(mine, buying(1)).refuses(http.StatusGone, "gone", "")
	s.bearer(mine.Token).send("POST", "/api/v1/holds/"+mine.ID+"/keep", nil).refuses(http.StatusGone, "gone", "")
	s.bearer(mine.Token).delete("/api/v1/holds/" + mine.ID).wants(http.StatusNoContent)

	after := s.look(theirs)
	if after.State != "paying" || !after.LeasedUntil.Equal(*before.LeasedUntil) || s.count(`SELECT count(*) FROM payments`) != sessions {
		t.Errorf("theirs was %+v and is %+v", before, after)
	}
	s.pay(page, stripesim.Payment{})
	if got := s.look(theirs); got.State != "paid" {
		t.Errorf("they cannot pay: %s", got.State)
	}
}

// P01: the money comes after the hold is over: all of the rect, or all of the
// money back.
func TestLateMoney(t *testing.T) {
	s := newStack(t)
	for name, taken := range map[string]bool{"blocks still free": false, "one block taken": true} {
		h := s.hold(s.stranger(), rect{0, 0, 4, 4})
		page := as[offerAnswer](s.checkout(h, buying(1)).wants(http.StatusOK))
		s.age(2 * time.Hour)
		var other heldAnswer
		if taken {
			other = s.hold(s.stranger(), rect{3, 3, 4, 4})
		}
		s.pay(page, stripesim.Payment{Late: true})
		got := s.look(h)
		switch {
		case !taken && (got.State != "paid" || got.Weeks != 1):
			t.Errorf("%s: it is %+v", name, got)
		case taken && (got.State != "closed" || len(got.Payments[0].Refunds) != 1 || got.Payments[0].Refunds[0].Amount != page.Amount || got.Weeks != 0):
			t.Errorf("%s: it is %+v", name, got)
		case taken && s.look(other).State != "held":
			t.Errorf("%s: the other's is %s", name, s.look(other).State)
		}
		s.age(31 * 24 * time.Hour) // nobody sends a picture; the blocks are free again
	}
}

// W08: what is somebody else's looks like what does not exist.
func TestSomebodyElsesRental(t *testing.T) {
	s := newStack(t)
	held, paid := s.hold(s.stranger(), rect{0, 0, 2, 2}), s.rented(rect{10, 0, 2, 2}, 1)
	hash := s.submitted(paid)
	other := s.hold(s.stranger(), rect{20, 0, 2, 2})
	calls := []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/v1/rentals/{id}", nil},
		{"POST", "/api/v1/holds/{id}/keep", "{}"},
		{"DELETE", "/api/v1/holds/{id}", nil},
		{"POST", "/api/v1/rentals/{id}/checkout", buying(1)},
		{"POST", "/api/v1/rentals/{id}/checkout", "{}"},
		{"POST", "/api/v1/rentals/{id}/checkout", "nonsense"},
		{"PUT", "/api/v1/rentals/{id}/creative", nil},
		{"GET", "/api/v1/rentals/{id}/pictures/" + hash, nil},
	}
	ask := func(c *client, method, path string, body any) *answer {
		if body != nil {
			return c.post(path, body)
		}
		if method == "PUT" {
			return c.upload(path, okQuad(), "link", "https://example.com", "alt", "x")
		}
		return c.send(method, path, nil)
	}
	for _, call := range calls {
		var said []string
		for _, id := range []string{held.ID, paid.ID, "none", strings.Repeat("n", 26)} {
			path := strings.Replace(call.path, "{id}", id, 1)
			a := ask(s.bearer(other.Token), call.method, path, call.body)
			a.refuses(http.StatusNotFound, "not_found", "")
			said = append(said, string(a.body))
			ask(s.stranger(), call.method, path, call.body).refuses(http.StatusUnauthorized, "unauthorized", "")
		}
		for _, one := range said[1:] {
			if one != said[0] {
				t.Errorf("%s %s tells what exists: %s, %s", call.method, call.path, said[0], one)
			}
		}
	}
	for _, path := range []string{"reviews", "blocked", "anomalies", "rentals", "ledger"} {
		s.bearer(paid.Token).get("/api/v1/admin/"+path).refuses(http.StatusUnauthorized, "unauthorized", "")
		s.stranger().get("/api/v1/admin/"+path).refuses(http.StatusUnauthorized, "unauthorized", "")
	}
	if s.look(held).State != "held" || s.look(paid).State != "paid" {
		t.Error("something was changed all the same")
	}
}

// A browser's session opens what the browser made, also by this API, and no
// more than that.
func TestTheSessionOfABrowser(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.form("/holds", "col", "1", "row", "1", "w", "2", "h", "2", "request_id", "request-1").wants(http.StatusSeeOther).header.Get("Location")
	id := strings.TrimPrefix(path, "/rentals/")
	if got := as[rentalAnswer](b.get("/api/v1/rentals/" + id).wants(http.StatusOK)); got.State != "held" {
		t.Errorf("it is %+v", got)
	}
	// What is shown counts, not what is sent along.
	other := s.hold(s.stranger(), rect{50, 50, 1, 1})
	b.with("Authorization", "Bearer "+other.Token).get("/api/v1/rentals/"+id).refuses(http.StatusNotFound, "not_found", "")
	b.get("/api/v1/rentals/"+other.ID).refuses(http.StatusNotFound, "not_found", "")
	b.get("/api/v1/admin/rentals").refuses(http.StatusForbidden, "forbidden", "")
	// The same person by both ways: the hold is replaced.
	moved := s.hold(b, rect{1, 0, 2, 2})
	if got := as[rentalAnswer](b.get("/api/v1/rentals/" + id)); got.State != "closed" {
		t.Errorf("the first is %s", got.State)
	}
	b.post("/api/v1/rentals/"+moved.ID+"/checkout", buying(1)).wants(http.StatusOK)
	b.with("Origin", "https://elsewhere.example").post("/api/v1/holds", rect{9, 9, 1, 1}).refuses(http.StatusForbidden, "forbidden", "")
	b.with("Sec-Fetch-Site", "cross-site").delete("/api/v1/holds/"+moved.ID).refuses(http.StatusForbidden, "forbidden", "")
	b.delete("/api/v1/holds/" + moved.ID).wants(http.StatusNoContent)
}
