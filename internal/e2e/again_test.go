package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tuval/internal/stripesim"
)

// pressedTwice: on a slow network a double click, and Enter with a click, hold
// once and open one payment.
func pressedTwice(s *site) {
	b := s.person("buyer", desktop())
	b.canvas("/")
	b.drags(rect{10, 10, 3, 3})
	b.slowly(300)
	b.doubleClick("#hold-button")
	first := b.rental()
	b.slowly(0)
	s.counts(1, ofPerson, first)

	b.canvas("/")
	b.drags(rect{30, 10, 3, 3})
	b.js(`document.getElementById("hold-button").focus()`)
	at := b.middle("#hold-button")
	b.slowly(300)
	b.press(kb.Enter)
	b.drag(at) // the same button, disabled by now
	key := b.rental()
	s.counts(2, ofPerson, key)

	b.write("#email", "buyer@example.com")
	b.doubleClick("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
	b.slowly(0)
	s.counts(1, ofRental, key)
	s.counts(1, `SELECT count(*) FROM stripesim.sessions s JOIN payments p ON p.key = s.client_reference_id JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`, key)

	// Also when no script watches: the same form, sent twice at the same moment.
	b.open("/rentals/" + key)
	same := get[[]string](b, `(async () => {
		const send = () => fetch("/holds", { method: "POST", headers: { "HX-Request": "true" },
			body: new URLSearchParams({ x: 60, y: 60, w: 2, h: 2, request_id: "pressed-twice" }) }).then((a) => a.headers.get("HX-Redirect"));
		return Promise.all([send(), send()]);
	})()`)
	if same[0] != same[1] || !strings.HasPrefix(same[0], "/rentals/") {
		s.t.Errorf("two answers to one form: %q", same)
	}
}

// backAfterPaying: going back never shows a paid rental as one to pay, no button
// is dead, and a form from before is answered with how things stand.
func backAfterPaying(s *site) {
	b := s.person("buyer", desktop())
	b.canvas("/")
	b.drags(rect{10, 16, 3, 3})
	b.click("#hold-button")
	key := b.rental()
	old := b.another("the same, in another tab", desktop())
	old.open("/rentals/" + key)

	b.write("#email", "buyer@example.com")
	b.click("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
	b.back("/rentals/[^/]+$")
	b.alive("form[data-checkout] .btn-primary")
	b.says("Continue to payment")
	b.click(`a[href*="/c/pay/"]`)
	b.arrive("/c/pay/")
	b.click("button[value=pay]")
	b.rental()
	b.says("Paid. Now your picture")

	b.back("/c/pay/")
	b.back("/rentals/[^/]+$")
	b.says("Paid. Now your picture")
	b.unpayable()
	b.back("/(#.*)?$")
	b.ready()
	b.alive("#hold-button")
	b.forward("/rentals/[^/]+$")
	b.says("Paid. Now your picture")
	b.unpayable()
	b.do(chromedp.Reload())
	b.says("Paid. Now your picture")

	b.forward("/c/pay/") // as it was; its button is harmless
	b.click("button[value=pay], a[href*='/return']")
	b.rental()
	b.says("Paid. Now your picture")

	old.expected = []refusal{{409, "/checkout"}}
	old.write("#email", "buyer@example.com")
	old.click("form[data-checkout] .btn-primary")
	old.says("Things have moved on", "Paid. Now your picture")
	old.unpayable()
	s.counts(1, ofRental+` AND p.state = 'paid'`, key)
	s.counts(1, ofRental, key)
}

// holdAfterBack: the canvas page that comes back from before a hold can hold
// something else, at once.
func holdAfterBack(s *site) {
	b := s.person("buyer", desktop())
	b.canvas("/")
	b.drags(rect{70, 10, 3, 3})
	b.js(`window.kept = true`)
	b.open("/about")
	b.back("/(#.*)?$")
	if !get[bool](b, `window.kept === true`) {
		s.t.Error("the canvas page is not kept in the back/forward cache")
	}
	b.alive("#hold-button")
	b.selected(rect{70, 10, 3, 3}, "kept in the cache")
	b.click("#hold-button")
	first := b.rental()
	b.back("/(#.*)?$")
	b.ready()
	b.alive("#hold-button")
	b.says("Your blocks")
	b.drags(rect{80, 10, 3, 3})
	b.click("#hold-button")
	b.wait(fmt.Sprintf(`location.pathname.startsWith("/rentals/") && !location.pathname.endsWith(%q)`, first))
	s.heldAs(b.rental(), rect{80, 10, 3, 3})
	s.heldAs(first, rect{70, 10, 3, 3})
}

// backAfterSignOut: what was private is not to be read by going back.
func backAfterSignOut(s *site) {
	b := s.person("buyer", desktop())
	s.signIn(b, "buyer@example.com")
	b.says("Signed in as buyer@example.com")
	b.open("/about")
	b.open("/account")
	b.click(`form[action="/logout"] button`)
	b.arrive("/$")
	b.back("/(account|login.*)$")
	b.wait(`document.readyState === "complete" && !document.body.hidden`)
	if text := b.text("body"); strings.Contains(text, "buyer@example.com") {
		s.t.Errorf("after signing out it reads: %s", text)
	}
}

// signInElsewhere: signing in in one tab does not harm what was typed in another.
func signInElsewhere(s *site) {
	b := s.person("buyer", desktop())
	b.open("/about")
	key := b.held(rect{10, 70, 3, 3})
	paid := b.paid(rect{20, 70, 3, 3}, "2")
	b.open("/rentals/" + key)
	b.write("#email", "other@example.com")
	picture := b.another("the picture's tab", desktop())
	picture.open("/rentals/" + paid)
	picture.write("[name=link]", "https://shop.example/typed")
	picture.write("[name=alt]", "Typed before")
	picture.files("input[name=image]", quarters(s.t, 30, 30))

	s.signIn(b.another("the sign-in's tab", desktop()), "elsewhere@example.com")

	picture.click("form[data-upload] .btn-primary")
	picture.says("In review", "Typed before")
	b.click("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
	s.counts(1, `SELECT count(*) FROM payments WHERE email = 'other@example.com'`)
	b.open("/account")
	b.says("Signed in as elsewhere@example.com", "3 × 3 blocks at column 11, row 71", "3 × 3 blocks at column 21, row 71")
}

// returnByHand: the address after the payment can be opened by anybody with
// anything in it, and changes nothing.
func returnByHand(s *site) {
	b := s.person("buyer", desktop())
	b.open("/about")
	key, session := b.paying(rect{10, 34, 3, 3}, "2")
	const events = `SELECT count(*) FROM ledger l JOIN rentals r ON r.id = l.claim_id WHERE r.key = $1`
	before := s.count(events, key)
	for _, with := range []string{"", "?session_id=" + session, "?session_id={CHECKOUT_SESSION_ID}", "?session_id=cs_test_nonsense", "?session_id=%00%ff'%22%3Cb%3E"} {
		for range 2 {
			b.open("/rentals/" + key + "/return" + with)
			b.wait(`document.getElementById("rental")`)
		}
	}
	b.open("/rentals/" + key)
	b.says("Continue to payment")
	other := s.person("somebody else", desktop())
	other.expected = []refusal{{404, "/rentals/"}}
	for _, id := range []string{key, "nonsense"} {
		other.open("/rentals/" + id + "/return?session_id=" + session)
		other.says("This rental is private")
	}
	s.counts(1, `SELECT count(*) FROM rentals WHERE key = $1 AND state = 'paying'`, key)
	s.counts(before, events, key)
}

// returnFromAnotherSite: coming back from a site that is none of ours, by link
// and by a redirected form, finds the same session and the paid rental.
func returnFromAnotherSite(s *site) {
	b := s.person("buyer", desktop())
	b.open("/about")
	key, session := b.paying(rect{20, 34, 3, 3}, "2")
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := s.base + "/rentals/" + key + "/return?session_id=" + session
		if r.Method == http.MethodPost {
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		fmt.Fprintf(w, `<!doctype html><title>Bank</title><link rel=icon href=data:,><a href="%s">Back</a><form method=post><button>Done</button></form>`, to)
	}))
	s.t.Cleanup(bank.Close)
	elsewhere := strings.Replace(bank.URL, "127.0.0.1", "bank.example", 1) + "/"
	b.record.origins = append(b.record.origins, elsewhere)
	if _, err := s.sim.Pay(s.t.Context(), session, stripesim.Payment{}); err != nil {
		s.t.Fatal(err)
	}
	cookie := b.session()
	for _, way := range []string{"a", "button"} {
		b.do(chromedp.Navigate(elsewhere))
		b.click(way)
		b.rental()
		b.says("Paid. Now your picture")
	}
	if now := b.session(); now != cookie {
		s.t.Errorf("the session's cookie changed from %q to %q", cookie, now)
	}
}

// session is the cookie that this browser shows to the site.
func (b *tab) session() string {
	b.t.Helper()
	var all []string
	for _, c := range call(b, network.GetCookies, network.GetCookiesParams{URLs: []string{b.site.base + "/"}}).Cookies {
		all = append(all, c.Name+"="+c.Value)
	}
	if len(all) != 1 {
		b.t.Fatalf("cookies: %q", all)
	}
	return all[0]
}

// signIn asks for a link, finds it in the mailbox of development, and presses its
// button.
func (s *site) signIn(b *tab, email string) {
	b.t.Helper()
	b.open("/login")
	b.write("#email", email)
	b.click("main .btn-primary")
	b.says("Look into your mail")
	const link = `FROM mails WHERE recipient = $1 AND text_body LIKE '%/login/%'`
	s.becomes(`SELECT count(*) > 0 `+link, email)
	b.open("/dev/mail/" + s.word(`SELECT max(id)::text `+link, email))
	b.click(`main a[href*="/login/"]`)
	b.arrive("/login/")
	b.click("main .btn-primary")
	b.arrive("/account$")
}

// back goes back as the browser's button does, and waits for the page of such an
// address.
func (b *tab) back(to string) {
	b.t.Helper()
	b.travel(-1, to)
}

func (b *tab) forward(to string) {
	b.t.Helper()
	b.travel(1, to)
}

func (b *tab) travel(by int64, to string) {
	b.t.Helper()
	h := call(b, page.GetNavigationHistory, cdp.Empty{})
	call(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: h.Entries[h.CurrentIndex+by].ID})
	b.arrive(to)
}

// alive fails the test unless a button is there and can be pressed.
func (b *tab) alive(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q) && !document.querySelector(%[1]q).disabled && !document.querySelector("form[data-busy]")`, selector))
}

// unpayable fails the test if the page offers to pay.
func (b *tab) unpayable() {
	b.t.Helper()
	if get[bool](b, `Boolean(document.querySelector("form[data-checkout], a[href*='/c/pay/']"))`) {
		b.t.Errorf("%s: a paid rental is offered to be paid", b.name)
	}
}
