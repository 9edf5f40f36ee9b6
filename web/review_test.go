package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// waiting is the key of the revision that waits.
func (s *stack) waiting() string {
	s.t.Helper()
	var key string
	if err := s.pool.QueryRow(s.ctx(), `SELECT key FROM creatives WHERE state = 'pending' ORDER BY id LIMIT 1`).Scan(&key); err != nil {
		s.t.Fatal(err)
	}
	return key
}

// live is a rental of this browser that is on the canvas, with its path and
// public id.
func (s *stack) live(b, admin *browser, col, row, w, h int) (path, publicID string) {
	s.t.Helper()
	path = s.paid(b, col, row, w, h)
	b.submit(path).wants(http.StatusSeeOther, http.StatusOK)
	admin.post("/admin/creatives/"+s.waiting()+"/approve", "revision", "1").wants(http.StatusSeeOther, http.StatusOK)
	if err := s.pool.QueryRow(s.ctx(), `SELECT public_id FROM rentals WHERE key = $1`, strings.TrimPrefix(path, "/rentals/")).Scan(&publicID); err != nil {
		s.t.Fatal(err)
	}
	return path, publicID
}

func TestApprovalPutsTheExactRevisionOnTheCanvas(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	for i, scripts := range []bool{false, true} {
		path := s.paid(b, 1+20*i, 1, 6, 4)
		b.submit(path).wants(http.StatusSeeOther)
		queue := admin.get("/admin/reviews").wants(http.StatusOK).says("North Pier", "https://a.example/x", "a.example", "1 picture waiting")
		key := s.waiting()
		queue.has("form", "action", "/admin/creatives/"+key+"/approve")
		admin.htmx = scripts
		a := admin.post("/admin/creatives/"+key+"/approve", "revision", "1")
		if scripts {
			a.wants(http.StatusOK).whole(false).says("Approved: North Pier").has("", "data-outcome", "approved")
		} else {
			a.wants(http.StatusSeeOther)
			admin.follow(a).says("North Pier", "approved", "Nothing waits")
		}
		// Again: it was decided.
		admin.post("/admin/creatives/"+key+"/approve", "revision", "1").wants(http.StatusConflict).whole(!scripts).says("Changed since you looked")
		admin.htmx = false
		b.get(path).says("Your picture is on the canvas", "See its page")
	}
}

func TestARejectionNeedsAReasonAndTellsIt(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	b.submit(path)
	reject := "/admin/creatives/" + s.waiting() + "/reject"
	admin.post(reject, "revision", "1", "reason", " ").wants(http.StatusUnprocessableEntity).whole(true).says("The reason is missing")
	admin.post(reject, "revision", "1", "reason", strings.Repeat("x", 501)).wants(http.StatusUnprocessableEntity)
	admin.scripted().post(reject, "revision", "one", "reason", "Because.").wants(http.StatusUnprocessableEntity).whole(false)
	admin.post(reject, "revision", "2", "reason", "Because.").wants(http.StatusConflict)
	admin.post(reject, "revision", "1", "reason", "Too <b>dark</b>.").wants(http.StatusSeeOther)
	b.get(path).says("Your picture needs a change", "Too <b>dark</b>.")
	b.submit(path).wants(http.StatusSeeOther)
	admin.get("/admin/reviews").says("version 2", "Too <b>dark</b>.")
}

func TestANewerUploadMakesTheOldDecisionTooLate(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	b.submit(path)
	old := s.waiting()
	b.submit(path)
	admin.post("/admin/creatives/"+old+"/approve", "revision", "1").wants(http.StatusConflict)
	admin.scripted().post("/admin/creatives/"+s.waiting()+"/approve", "revision", "1").wants(http.StatusConflict).has("", "data-outcome", "conflict")
	if n := s.count(`SELECT count(*) FROM creatives WHERE state = 'approved'`); n != 0 {
		t.Error("something nobody looked at is approved")
	}
}

func TestOnlyAdminsComeIn(t *testing.T) {
	s := newStack(t)
	s.addAdmin()
	stranger, buyer := s.browser(), s.browser()
	buyer.hold(1, 1, 1, 1)
	for _, path := range []string{"/admin", "/admin/", "/admin/reviews", "/admin/rentals", "/admin/rentals/x", "/admin/payments", "/admin/anomalies", "/admin/blocked", "/admin/admins", "/admin/jobs/"} {
		stranger.get(path).wants(http.StatusUnauthorized).whole(true).has("form", "action", "/admin/login")
		buyer.get(path).wants(http.StatusForbidden).whole(true).has("input", "name", "next", "value", path)
	}
	for _, path := range []string{"/admin/creatives/x/approve", "/admin/creatives/x/reject", "/admin/blocked", "/admin/blocked/x/delete"} {
		stranger.post(path, "revision", "1").wants(http.StatusUnauthorized)
		buyer.post(path, "revision", "1").wants(http.StatusForbidden)
		buyer.scripted().post(path, "revision", "1").wants(http.StatusForbidden).whole(false)
	}
	stranger.post("/admin/login", "email", adminEmail, "password", "wrong password").wants(http.StatusUnauthorized).says("wrong")
	a := stranger.post("/admin/login", "email", adminEmail, "password", adminPassword, "next", "https://evil.example/").wants(http.StatusSeeOther)
	if a.leads() != "/admin/reviews" {
		t.Errorf("leads to %s", a.leads())
	}
	stranger.get("/admin/reviews").wants(http.StatusOK).says(adminEmail)
	s.exec(`UPDATE admins SET disabled_at = now()`)
	stranger.get("/admin/reviews").wants(http.StatusUnauthorized)
}

func TestTheAdminsPagesAnswer(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path, _ := s.live(b, admin, 1, 1, 6, 4)
	b.hold(50, 50, 1, 1)
	s.exec(`INSERT INTO anomalies (key, fact, kind, message) VALUES ('k', 'f', 'odd', 'Something <odd>.')`)
	admin.get("/admin/rentals").wants(http.StatusOK).says("6 × 4 at 1, 1", "Buyer@example.com", "4,800.00 USD", "held")
	admin.get("/admin/rentals?state=live").says("6 × 4 at 1, 1").saysNot("1 × 1 at 50")
	admin.get("/admin/rentals?q=BUYER@example.com").says("6 × 4 at 1, 1").saysNot("1 × 1 at 50")
	admin.get("/admin/rentals?q=" + strings.TrimPrefix(path, "/rentals/")).says("6 × 4 at 1, 1")
	admin.get("/admin/rentals?state=none").wants(http.StatusUnprocessableEntity)
	admin.get("/admin/rentals?q=%00").wants(http.StatusUnprocessableEntity)
	admin.get("/admin/rentals?below=x").wants(http.StatusUnprocessableEntity)
	admin.get("/admin"+path).wants(http.StatusOK).says("Payments and refunds", "4,800.00 USD", "North Pier", "payment.booked")
	admin.get("/admin/rentals/none").wants(http.StatusNotFound)
	admin.get("/admin/payments?state=paid").wants(http.StatusOK).says("4,800.00 USD")
	admin.get("/admin/anomalies").wants(http.StatusOK).says("odd", "Something <odd>.")
	admin.get("/admin/admins").wants(http.StatusOK).says(adminEmail, "Enabled")
	admin.follow(admin.get("/admin").wants(http.StatusSeeOther)).wants(http.StatusOK)
	// The buyer's page is there to be looked at, without its buttons.
	admin.get(path).wants(http.StatusOK).hasNot("form", "action", path+"/creative")
}

func TestBlockedAreas(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	b.hold(1, 1, 2, 2)
	block := func(col int, more ...string) *answer {
		return admin.post("/admin/blocked", holdPairs(col, 1, 2, 2, more...)...)
	}
	block(2, "note", "N").wants(http.StatusConflict).says("already")
	block(99).wants(http.StatusUnprocessableEntity).marks("note")
	block(99, "note", "N", "until", "2001-01-01T00:00").wants(http.StatusUnprocessableEntity).says("future")
	block(99, "until", "soon").wants(http.StatusUnprocessableEntity).marks("until")
	block(100).wants(http.StatusUnprocessableEntity).marks("w")
	block(99, "note", strings.Repeat("x", 201)).wants(http.StatusUnprocessableEntity).marks("note")
	admin.follow(block(99, "note", "A <fountain>").wants(http.StatusSeeOther)).says("A <fountain>", "Blocked: 2 × 2 blocks at column 99, row 1")
	b.post("/holds", holdPairs(98, 1, 2, 1)...).wants(http.StatusConflict)
	id := admin.get("/admin/blocked").form("/admin/blocked").Get("request_id")
	for range 2 { // a double click is one
		block(90, "note", "N", "request_id", id).wants(http.StatusSeeOther)
	}
	block(80, "note", "N", "request_id", id).wants(http.StatusUnprocessableEntity).says("request_id was used")
	block(80, "note", "N", "request_id", "x").wants(http.StatusUnprocessableEntity).says("request_id")
	var key string
	if err := s.pool.QueryRow(s.ctx(), `SELECT key FROM blocked_areas WHERE note <> 'N'`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	admin.post(fmt.Sprintf("/admin/blocked/%s/delete", key)).wants(http.StatusSeeOther)
	admin.post(fmt.Sprintf("/admin/blocked/%s/delete", key)).wants(http.StatusNotFound)
	b.hold(98, 1, 2, 1)
}
