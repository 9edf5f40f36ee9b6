package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

func (b *browser) checkout(path string, more ...string) *answer {
	b.t.Helper()
	return b.post(path+"/checkout", append([]string{"weeks", "2", "email", "Buyer@example.com"}, more...)...)
}

// session is the id of the newest payment page.
func (s *stack) session() string {
	s.t.Helper()
	var id string
	if err := s.pool.QueryRow(s.ctx(), `SELECT session_id FROM payments ORDER BY id DESC LIMIT 1`).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *stack) pay(session string) {
	s.t.Helper()
	if _, err := s.sim.Pay(s.ctx(), session, stripesim.Payment{Late: true}); err != nil {
		s.t.Fatal(err)
	}
}

// paid is the path of a rental that this browser has paid.
func (s *stack) paid(b *browser, col, row, w, h int) string {
	s.t.Helper()
	path := b.hold(col, row, w, h)
	b.checkout(path).wants(http.StatusSeeOther, http.StatusOK)
	s.pay(s.session())
	s.applyEvents()
	return path
}

func TestKeepProlongsOnce(t *testing.T) {
	s := newStack(t)
	for _, scripts := range []bool{false, true} {
		b := s.browser()
		col := 1
		if scripts {
			col = 50
		}
		path := b.hold(col, 1, 2, 2)
		key := b.get(path).form(path + "/keep").Get("request_id")
		b.htmx = scripts
		for range 2 { // a double click is one
			a := b.post(path+"/keep", "request_id", key)
			if scripts {
				a.wants(http.StatusOK).whole(false).has("div", "id", "rental").hasNot("form", "action", path+"/keep")
			} else {
				a.wants(http.StatusSeeOther)
			}
		}
		b.post(path+"/keep", "request_id", "another-key").wants(http.StatusConflict).whole(!scripts).
			has("div", "id", "rental").says("cannot be kept again")
		b.post(path+"/keep", "request_id", "x").wants(http.StatusUnprocessableEntity).says("request_id")
	}
}

func TestCancelFreesAtOnceAndMayBeRepeated(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 2, 2)
	for range 2 {
		b.follow(b.post(path+"/cancel").wants(http.StatusSeeOther)).says("This rental is cancelled", "Choose them again")
	}
	if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`); n != 0 {
		t.Errorf("%d blocks are still held", n)
	}
	b.scripted().post(path + "/cancel").wants(http.StatusOK).whole(false).says("This rental is cancelled")
}

func TestAHoldThatIsOverIsOverForEveryClick(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 2, 2)
	s.age(11 * time.Minute)
	for _, scripts := range []bool{false, true} {
		b.htmx = scripts
		b.post(path+"/keep").wants(http.StatusGone).whole(!scripts).has("div", "id", "rental").says("Your hold has ended")
		b.checkout(path).wants(http.StatusGone).whole(!scripts).has("div", "id", "rental").says("Your hold has ended")
	}
	b.htmx = false
	b.get(path).wants(http.StatusOK).says("Your hold is over")
	if n := s.count(`SELECT count(*) FROM payments`); n != 0 {
		t.Errorf("%d payments were begun", n)
	}
	other := s.browser()
	other.hold(1, 1, 2, 2)
	b.checkout(path).wants(http.StatusGone)
	b.post(path + "/cancel").wants(http.StatusSeeOther)
	if n := s.count(`SELECT count(*) FROM rentals WHERE state = 'held'`); n != 1 {
		t.Errorf("the other's hold: %d", n)
	}
}

func TestCheckoutLeadsToThePaymentPage(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	first := b.checkout(path).wants(http.StatusSeeOther)
	if !strings.HasPrefix(first.leads(), s.simURL+"/") {
		t.Errorf("leads to %s", first.leads())
	}
	// The same again is the same page, also for scripts and in a second tab.
	again := b.scripted().checkout(path).wants(http.StatusOK)
	if again.leads() != first.leads() || again.header.Get("HX-Redirect") == "" {
		t.Errorf("again leads to %s", again.leads())
	}
	b.get(path).says("Finish your payment", "4,800.00 USD for 2 weeks").has("a", "href", first.leads())
	if csp := first.header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' "+s.simURL+";") {
		t.Errorf("the policy would stop the way there: %s", csp)
	}
	// Other weeks replace the page.
	other := b.checkout(path, "weeks", "4")
	other.wants(http.StatusUnprocessableEntity).says("weeks was sent 2 times") // twice in one form
	other = b.post(path+"/checkout", "weeks", "4", "email", "buyer@example.com").wants(http.StatusSeeOther)
	if other.leads() == first.leads() {
		t.Error("four weeks are sold on the page for two")
	}
	b.get(path).says("9,600.00 USD for 4 weeks")
}

func TestCheckoutNamesWhatIsWrongAndKeepsTheRest(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	for _, c := range []struct{ field, value string }{
		{"weeks", ""},
		{"weeks", "0"},
		{"weeks", "53"},
		{"weeks", "1.5"},
		{"weeks", "٤"},
		{"weeks", "99999999999999999999"},
		{"email", ""},
		{"email", "nobody"},
		{"email", "a@b.example\r\nBcc: c@d.example"},
		{"email", "a\x00@b.example"},
		{"email", "\xff@b.example"},
		{"email", strings.Repeat("a", 300) + "@b.example"},
		{"go_live_at", "tomorrow"},
		{"go_live_at", "2001-01-01T00:00"},
		{"go_live_at", "2999-01-01T00:00"},
		{"expected_amount", "4,800.00"},
		{"expected_amount", "1e5"},
	} {
		for _, scripts := range []bool{false, true} {
			v := url.Values{"weeks": {"2"}, "email": {"buyer@example.com"}}
			v.Set(c.field, c.value)
			b.htmx = scripts
			a := b.postRaw(path+"/checkout", "application/x-www-form-urlencoded", v.Encode()).wants(http.StatusUnprocessableEntity)
			a.whole(!scripts).has("div", "id", "rental")
			if c.field != "expected_amount" {
				a.marks(c.field)
			} else {
				a.says("expected_amount")
			}
			if c.field != "email" && a.value("email") != "buyer@example.com" {
				t.Errorf("%s %q: the address is lost", c.field, c.value)
			}
		}
	}
	b.htmx = false
	b.checkout(path, "expected_amount", "1").wants(http.StatusConflict).says("The price is 4,800.00 USD")
	if n := s.count(`SELECT count(*) FROM payments`); n != 0 {
		t.Errorf("%d payments were begun", n)
	}
}

func TestStripeAwayIsARetryAndLosesNothing(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: "POST /v1/checkout/sessions", Count: 2}); err != nil {
		t.Fatal(err)
	}
	a := b.checkout(path).wants(http.StatusServiceUnavailable).whole(true)
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	kept := a.form(path + "/checkout")
	if kept.Get("email") != "Buyer@example.com" || kept.Get("weeks") != "2" {
		t.Errorf("kept: %v", kept)
	}
	b.scripted().checkout(path).wants(http.StatusServiceUnavailable)
	retry := b.postRaw(path+"/checkout", "application/x-www-form-urlencoded", kept.Encode()).wants(http.StatusSeeOther)
	if !strings.HasPrefix(retry.leads(), s.simURL) {
		t.Errorf("leads to %s", retry.leads())
	}
}

func TestThePageAfterThePaymentTurnsByItself(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.checkout(path).wants(http.StatusSeeOther)
	back := path + "/return?session_id=" + s.session()
	// Opened by hand, unpaid, with nonsense, twice: nothing happens.
	for _, query := range []string{"", "?session_id={CHECKOUT_SESSION_ID}", "?session_id=cs_test_other", "?session_id=%00%ff"} {
		a := b.get(path + "/return" + query).wants(http.StatusOK).whole(true)
		a.says("Confirming your payment").has("div", "id", "rental", "data-poll", "2").hasNot("form", "action", path+"/checkout")
		if a.header.Get("Refresh") == "" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("headers: %v", a.header)
		}
	}
	if n := s.count(`SELECT count(*) FROM rentals WHERE paid_at IS NOT NULL`); n != 0 {
		t.Error("paid by an address")
	}
	// The money is there, the webhook is not: Stripe is asked.
	if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: stripesim.FaultMute}); err != nil {
		t.Fatal(err)
	}
	s.pay(s.session())
	for range 2 {
		a := b.get(back).wants(http.StatusSeeOther)
		if a.leads() != path || a.header.Get("Set-Cookie") != "" {
			t.Errorf("leads to %s, %v", a.leads(), a.header)
		}
	}
	b.get(path).says("Paid. Now your picture", "4,800.00 USD", "Receipt").hasNot("form", "action", path+"/checkout")
	// Somebody else, with the very same address.
	s.browser().get(back).wants(http.StatusNotFound).saysNot("4,800", "Buyer@")
}

func TestAPaidRentalIsNotPaidAgainFromAnOldPage(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	for _, scripts := range []bool{false, true} {
		b.htmx = scripts
		b.checkout(path).wants(http.StatusConflict).whole(!scripts).has("div", "id", "rental").says("paid already")
		b.post(path + "/cancel").wants(http.StatusConflict).says("paid")
		b.post(path + "/keep").wants(http.StatusConflict)
	}
}

func TestWebhookOfAPaidSessionIsAppliedOnce(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	b.get(path).wants(http.StatusOK).says("Paid. Now your picture")
	if n := s.count(`SELECT count(*) FROM ledger WHERE kind = 'payment.booked'`); n != 1 {
		t.Errorf("booked %d times", n)
	}
}

func TestOtherPeoplesRentalsAndNoneLookTheSame(t *testing.T) {
	s := newStack(t)
	owner := s.browser()
	path := owner.hold(1, 1, 6, 4)
	none := "/rentals/" + strings.Repeat("a", 26)
	stranger, other := s.browser(), s.browser()
	other.hold(50, 50, 1, 1)
	verbs := []string{"/keep", "/cancel", "/checkout", "/creative"}
	for _, b := range []*browser{stranger, other} {
		for _, scripts := range []bool{false, true} {
			b.htmx = scripts
			same(t, b.get(path), b.get(none))
			same(t, b.get(path+"/return"), b.get(none+"/return"))
			same(t, b.get(path+"/pictures/abc"), b.get(none+"/pictures/abc"))
			for _, verb := range verbs {
				same(t, b.post(path+verb, "weeks", "1", "email", "a@b.example"), b.post(none+verb, "weeks", "1", "email", "a@b.example"))
				same(t, b.post(path+verb), b.post(none+verb))
			}
		}
	}
	if n := s.count(`SELECT count(*) FROM rentals WHERE state = 'held' AND NOT kept`); n != 2 {
		t.Errorf("something was done: %d holds", n)
	}
}

// same wants the same refusal for two rentals, but for their ids.
func same(t *testing.T, a, b *answer) {
	t.Helper()
	if a.status != http.StatusNotFound || b.status != http.StatusNotFound {
		t.Errorf("%s: %d, %s: %d", a.what, a.status, b.what, b.status)
	}
	if one, two := sameWords(a), sameWords(b); one != two {
		t.Errorf("%s:\n%s\n%s:\n%s", a.what, one, b.what, two)
	}
}

func sameWords(a *answer) string {
	id := strings.Split(strings.TrimPrefix(a.what[strings.Index(a.what, "/"):], "/rentals/"), "/")[0]
	return strings.ReplaceAll(a.body, id, "ID")
}

func TestWhatWasTypedOutlivesTheSession(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	s.exec(`DELETE FROM sessions`)
	a := b.checkout(path).wants(http.StatusNotFound).whole(true)
	kept := a.form(path + "/checkout")
	if kept.Get("email") != "Buyer@example.com" || kept.Get("weeks") != "2" {
		t.Errorf("kept: %v", kept)
	}
	a.says("What you typed is kept", "Mail a link to its address")
	b.scripted().checkout(path).wants(http.StatusNotFound).whole(false).says("what you typed stays here")
	// Links and words of a picture are kept, too; the file has to be chosen
	// again.
	a = b.upload(path+"/creative", "a.png", "image/png", []byte("x"), "link", "https://a.example/", "title", "<b>T</b>", "alt", "A").wants(http.StatusNotFound)
	kept = a.form(path + "/creative")
	if kept.Get("link") != "https://a.example/" || kept.Get("title") != "<b>T</b>" || kept.Get("alt") != "A" {
		t.Errorf("kept: %v", kept)
	}
}
