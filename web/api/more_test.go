package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

// live is a rental whose picture is on the canvas.
func (s *stack) live(r rect, weeks int) heldAnswer {
	s.t.Helper()
	h := s.rented(r, weeks)
	s.submitted(h)
	admin := s.admin()
	for _, one := range as[reviewsAnswer](admin.get("/api/v1/admin/reviews").wants(http.StatusOK)).Reviews {
		if one.RentalID == h.ID {
			admin.post("/api/v1/admin/creatives/"+one.CreativeID+"/approve", map[string]int{"revision": one.Revision}).wants(http.StatusOK)
		}
	}
	return h
}

func TestExtensions(t *testing.T) {
	s := newStack(t)
	h := s.live(rect{0, 0, 6, 4}, 2)
	c, path := s.bearer(h.Token), "/api/v1/rentals/"+h.ID+"/extensions"
	ends := *s.look(h).EndsAt
	first := as[offerAnswer](c.post(path, map[string]int{"weeks": 3}).wants(http.StatusOK))
	if first.Amount != (cash{720_000, "usd"}) || !strings.HasPrefix(first.CheckoutURL, s.simURL) {
		t.Errorf("offered is %+v", first)
	}
	keyed := c.with(key, "extend-2027-01")
	same(t, http.StatusOK, keyed.post(path, map[string]int{"weeks": 3}), keyed.post(path, map[string]int{"weeks": 3}), c.post(path, map[string]int{"weeks": 3, "expected_amount": 720_000}))
	keyed.post(path, map[string]int{"weeks": 4}).refuses(http.StatusUnprocessableEntity, "invalid", key)
	c.post(path, map[string]int{"weeks": 3, "expected_amount": 1}).refuses(http.StatusConflict, "conflict", "")
	s.pay(first, stripesim.Payment{})
	got := s.look(h)
	if want := ends.Add(3 * 7 * 24 * time.Hour); !got.EndsAt.Equal(want) || got.Weeks != 5 || got.Payments[1].Purpose != "extend" {
		t.Errorf("extended is %+v, want until %s", got, want)
	}
	c.post("/api/v1/rentals/"+h.ID+"/renewals", map[string]int{"weeks": 1}).refuses(http.StatusConflict, "conflict", "")

	held := s.hold(s.stranger(), rect{50, 50, 1, 1})
	r := s.bearer(held.Token).post("/api/v1/rentals/"+held.ID+"/extensions", map[string]int{"weeks": 1}).refuses(http.StatusConflict, "conflict", "")
	if !strings.Contains(r.Message, "a hold that is not paid yet") {
		t.Errorf("said: %s", r.Message)
	}
}

func TestRenewals(t *testing.T) {
	s := newStack(t)
	h := s.live(rect{0, 0, 2, 2}, 1)
	c, path := s.bearer(h.Token), "/api/v1/rentals/"+h.ID+"/renewals"
	s.age(7*24*time.Hour + 47*time.Hour)
	offer := as[offerAnswer](c.post(path, map[string]int{"weeks": 2}).wants(http.StatusOK))
	s.pay(offer, stripesim.Payment{})
	got := s.look(h)
	if got.State != "live" || got.LiveCreative == nil || got.Payments[1].Purpose != "renew" || got.Weeks != 3 {
		t.Errorf("renewed is %+v", got)
	}
	s.age(14*24*time.Hour + 48*time.Hour + time.Minute)
	r := c.post(path, map[string]int{"weeks": 2}).refuses(http.StatusConflict, "conflict", "")
	if !strings.Contains(r.Message, "it was not renewed") {
		t.Errorf("said: %s", r.Message)
	}
}

func TestWithdrawals(t *testing.T) {
	s := newStack(t)
	h := s.rented(rect{0, 0, 2, 2}, 1)
	c, path := s.bearer(h.Token), "/api/v1/rentals/"+h.ID+"/withdraw"
	keyed := c.with(key, "withdraw-1")
	same(t, http.StatusOK, together(4, func() *answer { return keyed.post(path, "") })...)
	got := s.look(h)
	if got.State != "closed" || got.ClosedReason != "cancelled" || got.Payments[0].Refunds[0].Amount != got.Payments[0].Amount || got.Payments[0].Refunds[0].State != "pending" {
		t.Errorf("withdrawn is %+v", got)
	}
	c.post(path, "{}").refuses(http.StatusConflict, "conflict", "")
	c.post(path, `{"sure":true}`).refuses(http.StatusUnprocessableEntity, "invalid", "sure")
	live := s.live(rect{10, 0, 2, 2}, 1)
	s.bearer(live.Token).post("/api/v1/rentals/"+live.ID+"/withdraw", "").refuses(http.StatusConflict, "conflict", "")
	if n := s.count(`SELECT count(*) FROM refunds`); n != 1 {
		t.Errorf("%d refunds", n)
	}
}

// amended is the answer to an admin's call about a rental.
func (c *client) amended(path string, body any) rentalAnswer {
	c.s.t.Helper()
	return as[rentalAnswer](c.post(path, body).wants(http.StatusOK))
}

func TestRefundsByAdmins(t *testing.T) {
	s := newStack(t)
	h := s.live(rect{0, 0, 2, 2}, 2) // 800.00
	admin, path := s.admin(), "/api/v1/admin/rentals/"+h.ID+"/refund"
	keyed := admin.with(key, "refund-part-1")
	part := map[string]any{"amount": 10_050, "reason": "Agreed"}
	same(t, http.StatusOK, together(4, func() *answer { return keyed.post(path, part) })...)
	got := s.look(h)
	if got.State != "live" || len(got.Payments[0].Refunds) != 1 || got.Payments[0].Refunds[0].Amount != (cash{10_050, "usd"}) {
		t.Errorf("refunded in part is %+v", got)
	}
	keyed.post(path, map[string]any{"amount": 10_051, "reason": "Agreed"}).refuses(http.StatusUnprocessableEntity, "invalid", key)
	admin.post(path, map[string]any{"amount": 69_951, "reason": "Too much"}).refuses(http.StatusUnprocessableEntity, "invalid", "amount")
	admin.post(path, map[string]any{"payment_id": "none", "reason": "Which"}).refuses(http.StatusNotFound, "not_found", "")
	got = admin.amended(path, map[string]any{"payment_id": got.Payments[0].ID, "reason": "All of it"})
	if got.State != "closed" || got.ClosedReason != "refunded" || got.Payments[0].Refunds[1].Amount != (cash{69_950, "usd"}) {
		t.Errorf("refunded is %+v", got)
	}
	admin.post(path, map[string]any{"reason": "Again"}).refuses(http.StatusConflict, "conflict", "")
	admin.post(path, map[string]any{"amount": 1, "reason": "Again"}).refuses(http.StatusConflict, "conflict", "")
	held := s.hold(s.stranger(), rect{50, 50, 1, 1})
	admin.post("/api/v1/admin/rentals/"+held.ID+"/refund", map[string]any{"reason": "None"}).refuses(http.StatusConflict, "conflict", "")
}

func TestHiddenShownAndRemoved(t *testing.T) {
	s := newStack(t)
	h := s.live(rect{0, 0, 2, 2}, 2)
	admin, path := s.admin(), "/api/v1/admin/rentals/"+h.ID
	why := map[string]any{"reason": "Because"}
	state := func() string {
		for _, a := range s.board().Areas {
			if a.X == 0 && a.Y == 0 {
				return a.State
			}
		}
		return "free"
	}
	admin.amended(path+"/hide", why)
	if got := state(); got != "taken" {
		t.Errorf("hidden is %s", got)
	}
	admin.post(path+"/hide", why).refuses(http.StatusConflict, "conflict", "")
	admin.amended(path+"/unhide", why)
	if got := state(); got != "live" {
		t.Errorf("shown again is %s", got)
	}
	admin.post(path+"/unhide", why).refuses(http.StatusConflict, "conflict", "")
	keyed := admin.with(key, "removal-1")
	removal := map[string]any{"reason": "Against the rules", "refund": false}
	same(t, http.StatusOK, keyed.post(path+"/close", removal), keyed.post(path+"/close", removal))
	if got := s.look(h); got.ClosedReason != "removed" || len(got.Payments[0].Refunds) != 0 || state() != "free" {
		t.Errorf("removed is %+v", got)
	}
	for _, verb := range []string{"/close", "/hide", "/unhide"} {
		body := map[string]any{"reason": "Late"}
		if verb == "/close" {
			body["refund"] = true
		}
		r := admin.post(path+verb, body).refuses(http.StatusConflict, "conflict", "")
		if !strings.Contains(r.Message, "it was removed") {
			t.Errorf("%s said: %s", verb, r.Message)
		}
	}
	with := s.live(rect{10, 0, 2, 2}, 1)
	got := admin.amended("/api/v1/admin/rentals/"+with.ID+"/close", map[string]any{"reason": "Against the rules", "refund": true})
	if got.ClosedReason != "removed" || got.Payments[0].Refunds[0].Amount != got.Payments[0].Amount {
		t.Errorf("removed with its money is %+v", got)
	}
	if got := as[map[string][]anomalyAnswer](admin.get("/api/v1/admin/anomalies").wants(http.StatusOK))["anomalies"]; len(got) != 0 {
		t.Errorf("anomalies %+v", got)
	}
}

type anomalyAnswer struct{ ID, Kind string }

func TestOnlyAdminsAmendAndOnlyOwnersBuyMore(t *testing.T) {
	s := newStack(t)
	h := s.live(rect{0, 0, 2, 2}, 1)
	other := s.hold(s.stranger(), rect{50, 50, 1, 1})
	admin, owner, stranger := s.admin(), s.bearer(h.Token), s.bearer(other.Token)
	for _, verb := range []string{"/extensions", "/renewals", "/withdraw"} {
		body := map[string]int{"weeks": 1}
		if verb == "/withdraw" {
			body = map[string]int{}
		}
		for _, id := range []string{h.ID, "none"} {
			stranger.post("/api/v1/rentals/"+id+verb, body).refuses(http.StatusNotFound, "not_found", "")
			stranger.post("/api/v1/rentals/"+id+verb, `{"weeks":"x","z":1}`).refuses(http.StatusNotFound, "not_found", "")
			s.stranger().post("/api/v1/rentals/"+id+verb, body).refuses(http.StatusUnauthorized, "unauthorized", "")
			admin.post("/api/v1/rentals/"+id+verb, body).refuses(http.StatusUnauthorized, "unauthorized", "")
		}
	}
	for _, verb := range []string{"/refund", "/hide", "/unhide", "/close"} {
		body := map[string]any{"reason": "r"}
		if verb == "/close" {
			body["refund"] = true
		}
		owner.post("/api/v1/admin/rentals/"+h.ID+verb, body).refuses(http.StatusUnauthorized, "unauthorized", "")
		s.stranger().post("/api/v1/admin/rentals/none"+verb, body).refuses(http.StatusUnauthorized, "unauthorized", "")
		admin.post("/api/v1/admin/rentals/none"+verb, body).refuses(http.StatusNotFound, "not_found", "")
	}
	s.stranger().post("/api/v1/admin/reconcile", "").refuses(http.StatusUnauthorized, "unauthorized", "")
	if got := s.look(h); got.State != "live" || len(got.Payments) != 1 {
		t.Errorf("it is %+v", got)
	}
}

type passAnswer struct {
	State, By, Trouble string
	Found              int
	Findings           []struct {
		Kind, Done string
		Count      int
	}
}

func TestReconcileOnDemand(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	h := s.hold(s.stranger(), rect{0, 0, 2, 2})
	offer := as[offerAnswer](s.checkout(h, buying(1)).wants(http.StatusOK))
	if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: stripesim.FaultMute}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.sim.Pay(s.ctx(), s.session(offer), stripesim.Payment{}); err != nil {
		t.Fatal(err)
	}
	s.hold(s.stranger(), rect{10, 0, 1, 1})
	s.age(26 * time.Minute) // no job works: the hold is over by more than a quarter of an hour
	got := as[passAnswer](admin.post("/api/v1/admin/reconcile", "").wants(http.StatusOK))
	if got.State != "done" || got.By != adminEmail || got.Found == 0 || len(got.Findings) == 0 || got.Trouble != "" {
		t.Errorf("the pass is %+v", got)
	}
	s.applyEvents()
	if got := s.look(h); got.State != "paid" {
		t.Errorf("it is %s", got.State)
	}
	if got := as[passAnswer](admin.post("/api/v1/admin/reconcile", "{}").wants(http.StatusOK)); got.Found != 0 {
		t.Errorf("again: %+v", got)
	}
	admin.post("/api/v1/admin/reconcile", `{"x":1}`).refuses(http.StatusUnprocessableEntity, "invalid", "x")
	conn := must(s.pool.Acquire(s.ctx()))
	defer conn.Release()
	if _, err := conn.Exec(s.ctx(), `SELECT pg_advisory_lock($1)`, int64(0x7475_7661_6c72_6563)); err != nil {
		t.Fatal(err)
	}
	admin.post("/api/v1/admin/reconcile", "").refuses(http.StatusConflict, "conflict", "")
	if _, err := conn.Exec(s.ctx(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
}
