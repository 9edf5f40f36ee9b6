package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"tuval/internal/limits"
	"tuval/web"
)

// mailedLink is the path of the newest mailed sign-in link.
func (s *stack) mailedLink() string {
	s.t.Helper()
	var body string
	if err := s.pool.QueryRow(s.ctx(), `SELECT text_body FROM mails WHERE kind = 'sign_in' ORDER BY id DESC LIMIT 1`).Scan(&body); err != nil {
		s.t.Fatal(err)
	}
	link := regexp.MustCompile(`https?://\S+/login/\S+`).FindString(body)
	path, ok := strings.CutPrefix(link, s.server.URL)
	if !ok {
		s.t.Fatalf("the mail has no link of ours: %s", body)
	}
	return path
}

func TestASignInLinkWorksOnceAndOnlyByItsButton(t *testing.T) {
	s := newStack(t)
	buyer := s.browser()
	path := s.paid(buyer, 1, 1, 6, 4)
	b := s.browser()
	b.get(path).wants(http.StatusNotFound).says("This rental is private")
	b.follow(b.post("/login", "email", "buyer@EXAMPLE.com", "next", path).wants(http.StatusSeeOther)).says("Look into your mail", "open the mailbox")
	link := s.mailedLink()
	for range 3 { // programs that look after mail open links
		s.browser().get(link).wants(http.StatusOK).says("One press and you are in").has("form", "action", link, "method", "post")
	}
	a := b.post(link).wants(http.StatusSeeOther)
	if a.leads() != path {
		t.Errorf("leads to %s", a.leads())
	}
	b.follow(a).wants(http.StatusOK).says("Paid. Now your picture", "You are signed in.", "belongs to the account")
	b.get(path).saysNot("You are signed in.") // said once
	b.get("/account").says("Signed in as", "6 × 4 blocks")
	again := s.browser()
	again.post(link).wants(http.StatusGone).says("too old")
	again.get(link).wants(http.StatusGone)
	again.get("/login/none").wants(http.StatusGone)
	again.post("/login/none").wants(http.StatusGone)
	buyer.get(path).wants(http.StatusOK) // the browser that made it keeps it
}

func TestHoldsMadeBeforeSigningInStay(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 2, 2)
	b.post("/login", "email", "me@example.com").wants(http.StatusSeeOther)
	old := b.client.Jar.Cookies(must(http.NewRequest("GET", s.server.URL, nil)).URL)[0].Value
	b.post(s.mailedLink()).wants(http.StatusSeeOther)
	if now := b.client.Jar.Cookies(must(http.NewRequest("GET", s.server.URL, nil)).URL)[0].Value; now == old {
		t.Error("the session token is the same after signing in")
	}
	b.get(path).wants(http.StatusOK)
	b.checkout(path).wants(http.StatusSeeOther) // a page from before works
	b.hold(1, 1, 3, 3)                          // replaces the own hold
}

func TestARentalsLinkGoesToItsAddressAndTellsNothing(t *testing.T) {
	s := newStack(t)
	buyer := s.browser()
	path := s.paid(buyer, 1, 1, 6, 4)
	id := strings.TrimPrefix(path, "/rentals/")
	unpaid := s.browser().hold(50, 50, 1, 1)
	mails := func() int { return s.count(`SELECT count(*) FROM mails WHERE kind = 'sign_in'`) }
	var said []string
	for _, key := range []string{id, strings.Repeat("a", 26), strings.TrimPrefix(unpaid, "/rentals/"), "%00"} {
		v := s.browser()
		before := mails()
		a := v.post("/login", "rental", strings.ReplaceAll(key, "%00", "x"), "next", "/rentals/"+key)
		said = append(said, v.follow(a).words())
		if key != "%00" {
			said = append(said, v.follow(v.post("/rentals/"+key+"/signin-link")).words())
		}
		if sent := mails() - before; (sent == 2) != (key == id) || sent != 2 && sent != 0 {
			t.Errorf("%s: %d mails", key, sent)
		}
	}
	for _, words := range said {
		if words != said[0] || strings.Contains(words, "@") {
			t.Errorf("said %q", words)
		}
	}
	var to string
	if err := s.pool.QueryRow(s.ctx(), `SELECT recipient FROM mails WHERE kind = 'sign_in' LIMIT 1`).Scan(&to); err != nil || to != "Buyer@example.com" {
		t.Errorf("sent to %q, %v", to, err)
	}
	// Many more in an hour are not sent, and look just the same.
	for range 8 {
		v := s.browser()
		if words := v.follow(v.post("/login", "rental", id)).words(); words != said[0] {
			t.Errorf("said %q", words)
		}
	}
	v := s.browser()
	if a := v.post(s.mailedLink()); a.leads() != path {
		t.Errorf("leads to %s", a.leads())
	}
}

func TestABadAddressIsNamedAndKept(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	for _, bad := range []string{"", "nobody", "a@b.example\r\nBcc: x@y.example", "a\x00@b.example", "\xff", strings.Repeat("x", 2000)} {
		a := b.post("/login", "email", bad, "next", "/account").wants(http.StatusUnprocessableEntity).whole(true).marks("email")
		if a.form("/login").Get("next") != "/account" {
			t.Error("where to go is lost")
		}
	}
	if b.post("/login", "email", "nobody").value("email") != "nobody" {
		t.Error("what was typed is lost")
	}
}

func TestNobodyIsLedToAnotherSite(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	for _, next := range []string{"https://evil.example/", "//evil.example/", `/\evil.example/`, "/\t/evil.example", "javascript:alert(1)", "evil"} {
		a := b.get("/login?next=" + strings.NewReplacer("\t", "%09", `\`, "%5C").Replace(next)).wants(http.StatusOK)
		if a.form("/login").Has("next") {
			t.Errorf("%q is kept", next)
		}
	}
}

func TestSigningOutEndsTheSession(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 1, 1)
	b.get(path).wants(http.StatusOK).has("body", "data-private", "")
	b.post("/logout").wants(http.StatusSeeOther)
	b.get(path).wants(http.StatusNotFound)
	b.get("/account").wants(http.StatusOK).says("Nothing here yet")
	if n := s.count(`SELECT count(*) FROM sessions`); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestTooManySignInsHaveToWait(t *testing.T) {
	s := newStack(t, func(d *web.Deps) { d.Limits = limits.New(true) })
	b := s.browser()
	for _, path := range []string{"/login", "/admin/login"} {
		var last *answer
		for range 30 {
			if last = b.post(path, "email", "x@y.example", "password", "wrong password"); last.status == http.StatusTooManyRequests {
				break
			}
		}
		last.wants(http.StatusTooManyRequests).whole(true)
		if last.header.Get("Retry-After") == "" || last.value("email") != "x@y.example" {
			t.Errorf("%s: %v, %q", path, last.header, last.value("email"))
		}
	}
}

func TestTheAccountListsWhatIsMine(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	b.hold(80, 80, 1, 1)
	s.live(b, admin, 1, 1, 6, 4)
	s.browser().hold(50, 50, 7, 7)
	b.get("/account").wants(http.StatusOK).says("North Pier", "On the canvas", "Held for you", "1 block at column 80").saysNot("7 × 7")
	b.get("/").says("Your blocks", "On the canvas")
}
