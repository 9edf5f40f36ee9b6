package web_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"tuval/web"
)

// W08: whoever is not the buyer gets the same 404 for every address of a
// rental, in every state of it, as for one that does not exist; nothing
// happens to it, and none of it shows in public.
func TestW08StrangersFindNothing(t *testing.T) {
	s := newStack(t)
	admin, owner := s.admin(), s.browser()
	livePath, publicID := s.live(owner, admin, 61, 1, 6, 4)
	states := map[string]string{
		"live":   livePath,
		"paid":   s.paid(owner, 31, 1, 6, 4),
		"held":   owner.hold(1, 1, 6, 4),
		"paying": owner.hold(1, 31, 6, 4),
		"closed": owner.hold(1, 61, 6, 4),
	}
	owner.submit(states["paid"]).wants(http.StatusSeeOther)
	owner.checkout(states["paying"]).wants(http.StatusSeeOther)
	owner.post(states["closed"] + "/cancel").wants(http.StatusSeeOther)
	hash := s.text(`SELECT c.picture FROM creatives c JOIN rentals r ON r.id = c.rental_id WHERE r.key = $1`, keyOf.FindStringSubmatch(states["paid"])[1])
	stranger, other := s.browser(), s.browser()
	other.hold(91, 91, 1, 1)
	before := s.everything()
	for state, path := range states {
		t.Run(state, func(t *testing.T) {
			for _, b := range []*browser{stranger, other, stranger.scripted(), other.scripted()} {
				s.strangersView(t, b, path, hash)
			}
		})
	}
	if after := s.everything(); after != before {
		t.Error("something was done")
	}
	// The owner of one rental cannot reach the pictures of another through it.
	other.get("/rentals/" + publicID).wants(http.StatusNotFound) // the public id leads nowhere
	stranger.get("/pictures/" + hash + "x").wants(http.StatusNotFound)
	s.inPublic(t, stranger, publicID)
	s.age(15 * 24 * time.Hour) // live becomes ended
	s.settled()
	if got := s.state(livePath); got != "ended" {
		t.Fatalf("it is %s", got)
	}
	for _, b := range []*browser{stranger, other.scripted()} {
		s.strangersView(t, b, livePath, hash)
	}
}

// strangersView asks for everything of a rental and compares with one that
// does not exist.
func (s *stack) strangersView(t *testing.T, b *browser, path, hash string) {
	t.Helper()
	none := "/rentals/" + strings.Repeat("a", 26)
	for _, get := range []string{"", "/return", "/return?session_id=" + s.session(), "/pictures/" + hash} {
		same(t, b.get(path+get), b.get(none+get))
	}
	for _, verb := range []string{"/keep", "/cancel", "/checkout"} {
		same(t, b.post(path+verb, "weeks", "1", "email", "a@b.example"), b.post(none+verb, "weeks", "1", "email", "a@b.example"))
	}
	same(t, b.submit(path), b.submit(none))
	for _, later := range []string{"/extend", "/renew", "/withdraw", "/receipt"} {
		if a := b.post(path+later, "weeks", "1"); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", a.what, a.status)
		}
	}
	// A sign-in link is mailed to the rental's own address only, and the answer
	// tells nothing.
	one, two := b.post(path+"/signin-link"), b.post(none+"/signin-link")
	if one.status != two.status || one.leads() != two.leads() {
		t.Errorf("%s: %d %s, for none %d %s", one.what, one.status, one.leads(), two.status, two.leads())
	}
}

// everything is what the tables of orders hold, in one word.
func (s *stack) everything() string {
	s.t.Helper()
	all := ""
	for _, table := range []string{"rentals", "payments", "refunds", "creatives", "blocks", "ledger"} {
		all += s.text(`SELECT COALESCE(md5(string_agg(x::text, ',' ORDER BY x::text)), '') FROM ` + table + ` x`)
	}
	return all
}

// inPublic looks for the buyer in all that everybody may see.
func (s *stack) inPublic(t *testing.T, b *browser, publicID string) {
	t.Helper()
	keys := s.text(`SELECT string_agg(key, ' ') FROM (SELECT key FROM rentals UNION ALL SELECT key FROM payments UNION ALL SELECT key FROM creatives) k`)
	for _, path := range []string{"/", "/areas", "/areas/" + publicID, "/about"} {
		a := b.get(path).wants(http.StatusOK)
		for _, secret := range append(strings.Fields(keys), "buyer@example.com", "Buyer@example.com", "4,800.00", "cs_test_") {
			if strings.Contains(a.body, secret) {
				t.Errorf("%s shows %s", path, secret)
			}
		}
	}
}

// W08: a buyer reaches nothing of the admin's, by page or by form.
func TestW08BuyersAreNoAdmins(t *testing.T) {
	s := newStack(t)
	s.addAdmin()
	owner := s.browser()
	path := s.paid(owner, 1, 1, 6, 4)
	owner.submit(path).wants(http.StatusSeeOther)
	creative := s.waiting()
	s.signIn(owner, "buyer@example.com")
	before := s.everything()
	for _, b := range []*browser{s.browser(), owner, s.browser().scripted(), owner.scripted()} {
		for _, get := range []string{"", "/reviews", "/rentals", "/rentals/" + keyOf.FindStringSubmatch(path)[1], "/payments", "/anomalies", "/blocked", "/admins", "/jobs/"} {
			a := b.get("/admin"+get).wants(http.StatusUnauthorized, http.StatusForbidden)
			a.saysNot("North Pier", "buyer@example.com", "Buyer@example.com")
		}
		for _, post := range []string{
			"/creatives/" + creative + "/approve", "/creatives/" + creative + "/reject", "/creatives/none/approve", "/blocked", "/blocked/x/delete",
			path + "/refund", path + "/hide", path + "/unhide", path + "/close", "/reconcile", "/anomalies/x/remedy", "/anomalies/x/resolve",
		} {
			b.post("/admin"+post, "revision", "1", "reason", "no", "col", "50", "row", "50", "w", "1", "h", "1", "note", "x", "confirm", "yes", "refund", "yes").wants(http.StatusUnauthorized, http.StatusForbidden)
		}
	}
	if s.everything() != before {
		t.Error("something was done")
	}
}

// W04: a form that was open while its browser signed in elsewhere, while the
// server was started anew, or beyond the end of the session still works or
// keeps what was typed; holds from before signing in stay the buyer's.
func TestW04OpenFormsOutliveSigningIn(t *testing.T) {
	s := newStack(t)
	for i, scripts := range []bool{false, true} {
		b := s.browser()
		path := b.hold(1, 1+20*i, 6, 4)
		key := b.get("/").value("request_id")
		open := b.get(path).form(path + "/checkout")
		s.signIn(b, fmt.Sprintf("zoe%d@example.com", i)) // in another tab
		b.htmx = scripts
		// The canvas page of before still holds, and its double click is one.
		first := b.post("/holds", holdPairs(31, 1+20*i, 2, 2, "request_id", key)...).wants(http.StatusSeeOther, http.StatusOK)
		if again := b.post("/holds", holdPairs(31, 1+20*i, 2, 2, "request_id", key)...); again.leads() != first.leads() {
			t.Errorf("the second click leads to %s, not %s", again.leads(), first.leads())
		}
		open.Del("expected_amount") // for scripts; disabled without them
		open.Set("weeks", "2")
		open.Set("email", "b@example.com")
		a := b.postRaw(path+"/checkout", "application/x-www-form-urlencoded", open.Encode()).wants(http.StatusSeeOther, http.StatusOK)
		if !strings.HasPrefix(a.leads(), s.simURL) {
			t.Errorf("leads to %s", a.leads())
		}
		b.htmx = false
		b.get("/account").says("6 × 4 blocks", "2 × 2 blocks")
	}
}

func TestW04OpenFormsOutliveARestart(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	open := b.get(path).form(path + "/checkout")
	s.server.Config.Handler = must(web.New(s.deps)) // nothing is kept in memory
	open.Del("expected_amount")
	open.Set("weeks", "2")
	open.Set("email", "b@example.com")
	a := b.postRaw(path+"/checkout", "application/x-www-form-urlencoded", open.Encode()).wants(http.StatusSeeOther)
	if !strings.HasPrefix(a.leads(), s.simURL) {
		t.Errorf("leads to %s", a.leads())
	}
}

func TestW04AnEndedSessionKeepsWhatWasChosen(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	key := b.get("/").value("request_id")
	s.exec(`DELETE FROM sessions`)
	b.post("/holds", holdPairs(31, 1, 2, 2, "request_id", key)...).wants(http.StatusSeeOther) // needs no session
	a := b.checkout(path).wants(http.StatusNotFound).whole(true)
	if kept := a.form(path + "/checkout"); kept.Get("email") != "Buyer@example.com" || kept.Get("weeks") != "2" {
		t.Errorf("kept: %v", kept)
	}
}

func TestW04OtherSitesAreRefused(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	before := s.everything()
	for _, to := range []string{"/holds", path + "/keep", path + "/cancel", path + "/checkout", path + "/creative", "/login", "/logout", "/admin/login", "/admin/blocked"} {
		for _, site := range []string{"cross-site", "same-site"} {
			body := url.Values{"col": {"50"}, "row": {"50"}, "w": {"1"}, "h": {"1"}, "weeks": {"1"}, "email": {"a@b.example"}}
			b.postRaw(to, "application/x-www-form-urlencoded", body.Encode(), "Sec-Fetch-Site", site).wants(http.StatusForbidden)
		}
		b.postRaw(to, "application/x-www-form-urlencoded", "a=b", "Origin", "https://elsewhere.example").wants(http.StatusForbidden)
	}
	if s.everything() != before {
		t.Error("something was done")
	}
	b.get(path).wants(http.StatusOK) // nor was anybody signed out
}

// W05: coming back from the payment site, which is another site, keeps the
// session; the address alone pays for nothing and tells nothing.
func TestW05ComingBackFromAnotherSite(t *testing.T) {
	s := newStack(t)
	b, other := s.browser(), s.browser()
	path := b.hold(1, 1, 6, 4)
	s.signIn(b, "zoe@example.com")
	b.checkout(path).wants(http.StatusSeeOther)
	mine := s.session()
	otherPath := other.hold(31, 1, 6, 4)
	other.checkout(otherPath).wants(http.StatusSeeOther)
	theirs := s.session()
	crossSite := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Referer", s.simURL + "/"}
	for _, id := range []string{"", mine, theirs, "{CHECKOUT_SESSION_ID}", "%7BCHECKOUT_SESSION_ID%7D", "cs_test_none", strings.Repeat("x", 3000)} {
		for range 2 {
			a := b.get(path+"/return?session_id="+id, crossSite...).wants(http.StatusOK).whole(true).says("Confirming your payment")
			if a.header.Get("Set-Cookie") != "" {
				t.Errorf("%.40q: a new cookie: %s", id, a.header.Get("Set-Cookie"))
			}
		}
	}
	s.mute()
	s.pay(theirs) // somebody else's money
	b.get(path+"/return?session_id="+theirs, crossSite...).wants(http.StatusOK).says("Confirming your payment")
	if s.state(path) != "paying" {
		t.Errorf("it is %s by somebody else's session", s.state(path))
	}
	// By a POST, as some payment pages do: not an address of ours, and no 5xx.
	b.postRaw(path+"/return", "application/x-www-form-urlencoded", "session_id="+mine, crossSite...).wants(http.StatusMethodNotAllowed, http.StatusForbidden)
	// In another browser: the way to sign in, and nothing of the order.
	s.browser().get(path+"/return?session_id="+mine, crossSite...).wants(http.StatusNotFound).saysNot("4,800", "zoe@")
	b.get("/account").says("Signed in as")
	// Paid, the webhook is not there: the page asks and turns by itself.
	s.pay(mine)
	b.follow(b.get(path+"/return?session_id="+mine, crossSite...).wants(http.StatusSeeOther)).says("Paid. Now your picture")
}

// W03: what was seen once is not shown to the next person at this browser.
func TestW03PrivatePagesAreNotKept(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	for _, private := range []string{path, path + "/return", "/account"} {
		a := b.get(private)
		if a.header.Get("Cache-Control") != "no-store" || !strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Cookie") {
			t.Errorf("%s: %v", private, a.header)
		}
	}
	b.post("/logout").wants(http.StatusSeeOther)
	b.get(path).wants(http.StatusNotFound)
	b.client.Jar = must(cookiejar.New(nil))
	b.get(path).wants(http.StatusNotFound)
}

// W03: a double click on pay, on a slow network: both at once, one session.
func TestW03TwoClicksOnPayAreOneSession(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	clicks := make(chan *answer, 5)
	for range cap(clicks) {
		go func() { clicks <- b.checkout(path) }()
	}
	first := (<-clicks).wants(http.StatusSeeOther)
	for range cap(clicks) - 1 {
		if a := (<-clicks).wants(http.StatusSeeOther); a.leads() != first.leads() {
			t.Errorf("leads to %s and %s", a.leads(), first.leads())
		}
	}
	if n := s.openPages(); n != 1 {
		t.Errorf("%d pages can be paid", n)
	}
}
