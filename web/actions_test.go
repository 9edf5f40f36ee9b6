package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tuval/internal/market"
)

// act sends a form of a rental's page in the admin, with its reason and tick.
func (b *browser) act(path, verb string, more ...string) *answer {
	b.t.Helper()
	return b.post("/admin"+path+"/"+verb, append([]string{"reason", "Agreed <b>by phone</b>", "confirm", "yes"}, more...)...)
}

func TestAnAdminRefundsInPartAndInFull(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path, public := s.live(b, admin, 1, 1, 6, 4)
	page := admin.get("/admin"+path).says("What can be done", "2 weeks, 4,800.00 USD", "Empty: all that is left of it.")
	id := page.form("/admin" + path + "/refund").Get("request_id")
	for range 2 { // a double click is one refund
		admin.follow(admin.act(path, "refund", "amount", "1000.50", "request_id", id).wants(http.StatusSeeOther)).says("The refund is on its way.")
	}
	s.settled()
	admin.get("/admin"+path).says("of which 3,799.50 USD is left", "−1,000.50 USD", "by phone").saysNot("<b>by phone</b>")
	b.get(path).says("Refunded", "1,000.50 USD", "Your picture is on the canvas")
	if n := s.count(`SELECT count(*) FROM refunds`); n != 1 {
		t.Errorf("%d refunds", n)
	}
	admin.act(path, "refund", "amount", "3799.51").wants(http.StatusUnprocessableEntity).says("3,799.50 USD").has("input", "id", "refund-amount", "value", "3799.51", "aria-invalid", "true")
	admin.follow(admin.act(path, "refund", "payment", s.text(`SELECT key FROM payments`)).wants(http.StatusSeeOther))
	s.settled()
	b.get(path).says("This rental was refunded")
	s.browser().get("/areas/" + public).wants(http.StatusGone)
	admin.get("/admin"+path).says("Nothing: no money is left and the rental is over.").hasNot("form", "action", "/admin"+path+"/refund")
	admin.act(path, "refund").wants(http.StatusConflict).says("Nothing was changed", "gone back in full")
	admin.act(path, "refund", "payment", "nothing").wants(http.StatusNotFound)
	admin.act(path, "refund", "payment", strings.Repeat("x", 300)).wants(http.StatusNotFound)
	if s.ledger() != 0 {
		t.Errorf("%d is kept", s.ledger())
	}
}

func TestWhatAnAdminTypesIsJudgedAndKept(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path, _ := s.live(b, admin, 1, 1, 2, 2)
	before := s.everything()
	good := url.Values{"reason": {"Why"}, "confirm": {"yes"}, "amount": {"1"}, "refund": {"yes"}}
	for _, c := range []struct{ verb, field, value string }{
		{"refund", "amount", "x"},
		{"refund", "amount", "1,000.00"},
		{"refund", "amount", "1.001"},
		{"refund", "amount", "-1"},
		{"refund", "amount", "+1"},
		{"refund", "amount", "0"},
		{"refund", "amount", "1e3"},
		{"refund", "amount", ".5"},
		{"refund", "amount", "1.2.3"},
		{"refund", "amount", "٤"},
		{"refund", "amount", "99999999999999999999"},
		{"refund", "amount", "1\x00"},
		{"refund", "amount", "9999999"},
		{"refund", "payment", "\xff"},
		{"refund", "reason", ""},
		{"refund", "reason", strings.Repeat("r", 501)},
		{"refund", "reason", "a\x00"},
		{"refund", "confirm", ""},
		{"hide", "reason", " "},
		{"hide", "confirm", "on"},
		{"close", "reason", "\xff"},
		{"close", "confirm", "no"},
		{"close", "refund", "perhaps"},
		{"close", "refund", ""},
	} {
		v := url.Values{}
		for name, value := range good {
			v[name] = value
		}
		v.Set(c.field, c.value)
		a := admin.postRaw("/admin"+path+"/"+c.verb, formKind, v.Encode()).wants(http.StatusUnprocessableEntity).whole(true)
		id := c.verb + "-" + c.field
		if c.field == "refund" {
			id = "refund"
		}
		if len(a.all("", "id", id+"-error")) == 0 {
			t.Errorf("%s %s %.20q: not marked: %s", c.verb, c.field, c.value, a.words())
		}
		if c.field != "reason" && c.verb == "refund" && !strings.Contains(a.body, ">Why</textarea>") {
			t.Errorf("%s %s: the reason is lost", c.verb, c.field)
		}
	}
	admin.act(path, "hide", "request_id", "x").wants(http.StatusUnprocessableEntity).says("request_id")
	if s.everything() != before {
		t.Error("something was done")
	}
}

func TestAPictureIsHiddenAndShownAgain(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path, public := s.live(b, admin, 1, 1, 2, 2)
	ends := s.ends(path)
	admin.follow(admin.act(path, "hide")).says("The picture is hidden.", "Show again").hasNot("form", "action", "/admin"+path+"/hide")
	s.browser().get("/areas/" + public).wants(http.StatusGone)
	b.get(path).says("Your picture is hidden for now", "paid time runs on")
	admin.act(path, "hide").wants(http.StatusConflict).says("hidden already")
	admin.follow(admin.act(path, "unhide")).says("The picture shows again.")
	admin.act(path, "unhide").wants(http.StatusConflict).says("not hidden")
	s.browser().get("/areas/" + public).wants(http.StatusOK)
	if got := s.ends(path); !got.Equal(ends) {
		t.Errorf("it ends %s, not %s", got, ends)
	}
	admin.act(b.hold(50, 50, 1, 1), "hide").wants(http.StatusConflict).says("not paid yet")
	admin.act("/rentals/none", "hide").wants(http.StatusNotFound)
}

func TestARentalIsRemovedWithAndWithoutItsMoney(t *testing.T) {
	for _, refund := range []string{"yes", "no"} {
		t.Run(refund, func(t *testing.T) {
			s := newStack(t)
			admin, b := s.admin(), s.browser()
			path, _ := s.live(b, admin, 1, 1, 2, 2)
			id := admin.get("/admin" + path).form("/admin" + path + "/close").Get("request_id")
			for range 2 {
				admin.follow(admin.act(path, "close", "refund", refund, "request_id", id).wants(http.StatusSeeOther)).says("The rental is removed", "closed, removed")
			}
			s.settled()
			b.get(path).says("This rental was removed")
			s.browser().hold(1, 1, 2, 2) // free at once
			kept := 80_000
			if refund == "yes" {
				kept = 0
			}
			if s.ledger() != kept {
				t.Errorf("%d is kept", s.ledger())
			}
			for _, verb := range []string{"close", "hide", "unhide"} {
				admin.act(path, verb, "refund", "no").wants(http.StatusConflict).says("Nothing was changed", "This one is closed: it was removed")
			}
		})
	}
}

func TestAnomaliesHaveButtons(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	for _, fact := range []string{"one", "two"} {
		if err := s.market.Report(s.ctx(), market.Anomaly{Kind: "a <test>", Fact: fact, Message: "Message " + fact, Action: "Look at it."}); err != nil {
			t.Fatal(err)
		}
	}
	key := s.text(`SELECT key FROM anomalies WHERE fact = 'one'`)
	admin.get("/admin/anomalies").says("Message one", "Message two", "Look at it.", "a <test>").hasNot("form", "action", "/admin/anomalies/"+key+"/remedy")
	admin.post("/admin/anomalies/" + key + "/remedy").wants(http.StatusConflict).says("nothing that can be done about this by a button")
	admin.follow(admin.post("/admin/anomalies/"+key+"/resolve").wants(http.StatusSeeOther)).says("marked as dealt with", "Message two").saysNot("Message one")
	admin.post("/admin/anomalies/" + key + "/resolve").wants(http.StatusConflict).whole(true).says("dealt with before: dealt with by hand")
	admin.get("/admin/anomalies?show=all").says("Message one", "Message two", "dealt with by hand", "Resolved")
	for _, none := range []string{"none", "%00", "%ff"} {
		admin.post("/admin/anomalies/" + none + "/resolve").wants(http.StatusNotFound)
		admin.post("/admin/anomalies/" + none + "/remedy").wants(http.StatusNotFound)
	}
}

// A refund that the bank sent back is outstanding for the buyer, and has a
// button for admins.
func TestAFailedRefundIsAskedForAgain(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path := s.paid(b, 1, 1, 2, 2)
	b.post(path+"/withdraw", "confirm", "yes").wants(http.StatusSeeOther)
	s.settled()
	refund := s.text(`SELECT stripe_id FROM refunds`)
	if _, err := s.sim.FailRefund(s.ctx(), refund, "expired_or_canceled_card"); err != nil {
		t.Fatal(err)
	}
	s.settled()
	b.get(path).says("Refund outstanding", "This rental is cancelled")
	page := admin.get("/admin"+path).says("refund failed", "Refund again")
	key := s.text(`SELECT key FROM anomalies`)
	page.has("form", "action", "/admin/anomalies/"+key+"/remedy")
	admin.follow(admin.post("/admin/anomalies/" + key + "/remedy").wants(http.StatusSeeOther)).says("asked for again: 800.00 USD")
	admin.post("/admin/anomalies/" + key + "/remedy").wants(http.StatusConflict)
	s.settled()
	if s.ledger() != 0 {
		t.Errorf("%d is kept", s.ledger())
	}
	if n := s.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`); n != 1 {
		t.Errorf("%d refunds came through", n)
	}
}

func TestTheClockOfDevelopment(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 2, 2)
	key := strings.TrimPrefix(path, "/rentals/")
	b.get("/dev/mail").has("a", "href", "/dev/clock")
	b.get("/dev/clock").says("2 × 2 at 1, 1", "Hold ends").has("input", "name", "rental", "value", key)
	b.follow(b.post("/dev/clock", "by", "9m").wants(http.StatusSeeOther)).says("Everything is 9 min 0 s older.")
	b.get(path).says("These blocks are yours for now")
	b.follow(b.post("/dev/clock", "rental", key).wants(http.StatusSeeOther)).says("2 × 2 at 1, 1: held is now closed (expired).", "No rental waits for anything.")
	b.get(path).says("Your hold is over")
	b.post("/dev/clock", "rental", key).wants(http.StatusConflict).says("waits for nothing any more")
	b.post("/dev/clock", "rental", "none").wants(http.StatusConflict)
	b.follow(b.post("/dev/clock", "by", "2d").wants(http.StatusSeeOther)).says("Everything is 2 days 0 h older.")
	for _, bad := range []string{"", "0s", "-1h", "x", "1", "20y", "99999d", "1.5d", "d", "a\x00", "\xff", "999999h"} {
		a := b.postRaw("/dev/clock", formKind, url.Values{"by": {bad}}.Encode()).wants(http.StatusUnprocessableEntity).marks("by")
		if bad == "20y" && a.value("by") != "20y" {
			t.Errorf("what was typed is lost: %q", a.value("by"))
		}
	}
	s.admin().get("/admin/reviews").has("a", "href", "/dev/clock")
	before := time.Now()
	for _, headers := range [][]string{{"X-Forwarded-For", "127.0.0.1"}, {"Host", "evil.example"}} {
		b.get("/dev/clock", headers...).wants(http.StatusNotFound)
		b.postRaw("/dev/clock", formKind, "by=1h", headers...).wants(http.StatusNotFound)
	}
	if n := s.count(`SELECT count(*) FROM clock_shifts`); n != 3 {
		t.Errorf("moved %d times in %s", n, time.Since(before))
	}
}
