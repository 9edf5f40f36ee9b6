package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tuval/internal/stripesim"
	"tuval/views"
)

const formKind = "application/x-www-form-urlencoded"

// ends is when a rental's paid time is over.
func (s *stack) ends(path string) time.Time {
	s.t.Helper()
	var at time.Time
	if err := s.pool.QueryRow(s.ctx(), `SELECT ends_at FROM rentals WHERE key = $1`, keyOf.FindStringSubmatch(path)[1]).Scan(&at); err != nil {
		s.t.Fatal(err)
	}
	return at
}

func TestALiveRentalIsExtendedFromItsPage(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path, _ := s.live(b, s.admin(), 1, 1, 6, 4)
	for i, scripts := range []bool{false, true} {
		before := s.ends(path)
		end := before.Add(3 * 7 * 24 * time.Hour)
		b.get(path).says("Extend", "2,400.00 USD a week", "until "+end.UTC().Format("2 Jan 2006")).
			has("input", "name", "weeks", "value", "3", "data-ends", views.MomentOf(end).Text)
		b.htmx = scripts
		a := b.post(path+"/extend", "weeks", "3", "expected_amount", "720000").wants(http.StatusSeeOther, http.StatusOK)
		if !strings.HasPrefix(a.leads(), s.simURL) {
			t.Fatalf("leads to %s", a.leads())
		}
		if again := b.post(path+"/extend", "weeks", "3"); again.leads() != a.leads() {
			t.Errorf("the same again leads to %s", again.leads())
		}
		b.htmx = false
		b.get(path).says("Your payment page is open", "7,200.00 USD for 3 weeks").has("a", "href", a.leads())
		// Back from Stripe, unpaid: the page waits. Paid, without a webhook: it knows.
		b.get(path+"/return").wants(http.StatusOK).says("Confirming your payment", "On the canvas").has("div", "id", "rental", "data-poll", "2")
		s.pay(s.session())
		b.follow(b.get(path + "/return").wants(http.StatusSeeOther)).saysNot("Confirming")
		s.settled()
		if got := s.ends(path); !got.Equal(end) {
			t.Errorf("turn %d: it ends %s, not %s", i, got, end)
		}
		b.get(path).says("Extension, 3 weeks", "Extended")
	}
}

func TestAnEndedRentalIsRenewedFromItsPage(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path, public := s.live(b, s.admin(), 1, 1, 6, 4)
	s.age(14*24*time.Hour + time.Hour)
	s.settled()
	page := b.get(path).says("The paid time is over", "Reserved for you for 47 h", "Renew, or let the blocks go").hasNot("form", "action", path+"/extend")
	if end := time.Now().Add(7 * 24 * time.Hour).UTC().Format("2 Jan 2006"); !strings.Contains(page.words(), "until "+end) {
		t.Errorf("does not say that a week lasts until %s", end)
	}
	b.post(path+"/extend", "weeks", "1").wants(http.StatusConflict).says("Only a rental that is live can be extended", "This one ended at")
	b.scripted().post(path+"/renew", "weeks", "1").wants(http.StatusOK)
	s.pay(s.session())
	b.follow(b.get(path+"/return").wants(http.StatusSeeOther)).says("Your picture is on the canvas", "Renewal, 1 week")
	s.browser().get("/areas/" + public).wants(http.StatusOK).says("North Pier")

	s.age(7*24*time.Hour + 48*time.Hour + time.Minute)
	for _, scripts := range []bool{false, true} {
		b.htmx = scripts
		b.post(path+"/renew", "weeks", "1").wants(http.StatusConflict).whole(!scripts).has("div", "id", "rental").says("it was not renewed")
	}
	b.htmx = false
	b.get(path).hasNot("form", "action", path+"/renew").says("run its course")
}

func TestMoreWeeksAreJudged(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path, _ := s.live(b, s.admin(), 1, 1, 6, 4)
	for _, scripts := range []bool{false, true} {
		b.htmx = scripts
		for _, bad := range []string{"", "0", "-1", "53", "1.5", "1e1", "٤", "99999999999999999999", "a\x00", "\xff", " "} {
			a := b.postRaw(path+"/extend", formKind, url.Values{"weeks": {bad}}.Encode()).wants(http.StatusUnprocessableEntity)
			a.whole(!scripts).has("div", "id", "rental").marks("weeks")
		}
		b.post(path+"/extend", "weeks", "2", "expected_amount", "1e5").wants(http.StatusUnprocessableEntity).says("expected_amount")
		b.post(path+"/extend", "weeks", "2", "weeks", "4").wants(http.StatusUnprocessableEntity).says("weeks was sent 2 times")
		b.post(path+"/extend", "weeks", "2", "expected_amount", "1").wants(http.StatusConflict).says("The price is 4,800.00 USD")
		b.post(path+"/renew", "weeks", "2").wants(http.StatusConflict).says("can be renewed after its end", "This one is live until")
		b.postRaw(path+"/extend", "application/json", "{}").wants(http.StatusUnsupportedMediaType)
	}
	b.htmx = false
	if n := s.count(`SELECT count(*) FROM payments WHERE purpose <> 'new'`); n != 0 {
		t.Errorf("%d payments were begun", n)
	}
	held := b.hold(50, 50, 1, 1)
	b.post(held+"/extend", "weeks", "1").wants(http.StatusConflict).says("a hold that is not paid yet")
	if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: "POST /v1/checkout/sessions", Count: 1}); err != nil {
		t.Fatal(err)
	}
	a := b.post(path+"/extend", "weeks", "2").wants(http.StatusServiceUnavailable)
	if kept := a.form(path + "/extend"); kept.Get("weeks") != "2" || a.header.Get("Retry-After") == "" {
		t.Errorf("kept %v", kept)
	}
}

func TestWithdrawingNeedsATickAndGivesAllBack(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	for i, scripts := range []bool{false, true} {
		b := s.browser()
		path := s.paid(b, 1+20*i, 1, 6, 4)
		b.get(path).says("Changed your mind?", "4,800.00 USD goes back").has("input", "type", "checkbox", "name", "confirm")
		b.htmx = scripts
		for _, confirm := range []string{"", "no", "\xff"} {
			b.post(path+"/withdraw", "confirm", confirm).wants(http.StatusUnprocessableEntity).whole(!scripts).marks("confirm").has("form", "action", path+"/withdraw")
		}
		a := b.post(path+"/withdraw", "confirm", "yes")
		if !scripts {
			a = b.follow(a.wants(http.StatusSeeOther))
		}
		a.wants(http.StatusOK).whole(!scripts).says("This rental is cancelled", "You withdrew", "Your refund is on its way").hasNot("form", "action", path+"/withdraw")
		b.post(path+"/withdraw", "confirm", "yes").wants(http.StatusConflict).says("This one is closed: it was cancelled")
		b.htmx = false
		s.settled()
		b.get(path).says("Refunded", "withdrawn before a picture was approved")
	}
	if s.ledger() != 0 {
		t.Errorf("%d is kept", s.ledger())
	}
	b := s.browser()
	path, _ := s.live(b, admin, 1, 50, 2, 2)
	b.get(path).hasNot("form", "action", path+"/withdraw")
	b.post(path+"/withdraw", "confirm", "yes").wants(http.StatusConflict).says("until its first picture is approved", "This one is live")
}

func TestAnUnconfirmedAddressIsCorrected(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	for _, scripts := range []bool{false, true} {
		b.htmx = scripts
		for _, bad := range []string{"", "nobody", "a@b@c.example", "a\x00@b.example", strings.Repeat("a", 300) + "@b.example"} {
			b.postRaw(path+"/contact", formKind, url.Values{"email": {bad}}.Encode()).wants(http.StatusUnprocessableEntity).whole(!scripts).marks("email")
		}
		a := b.post(path+"/contact", "email", "right@example.com")
		if !scripts {
			a = b.follow(a)
		}
		a.wants(http.StatusOK).says("right@example.com").saysNot("Buyer@example.com</b>")
	}
	b.htmx = false
	s.signIn(b, "right@example.com")
	b.get(path).hasNot("form", "action", path+"/contact").says("belongs to the account of")
	b.post(path+"/contact", "email", "other@example.com").wants(http.StatusConflict).says("confirmed")
	b.post(b.hold(50, 50, 1, 1)+"/contact", "email", "other@example.com").wants(http.StatusConflict)
}

// Somebody else's rental and none at all are the same, whatever is sent.
func TestTheLaterLifeIsTheOwners(t *testing.T) {
	s := newStack(t)
	owner, admin := s.browser(), s.admin()
	path, _ := s.live(owner, admin, 1, 1, 2, 2)
	none := "/rentals/" + strings.Repeat("a", 26)
	stranger := s.browser()
	stranger.hold(50, 50, 1, 1)
	for _, verb := range []string{"/extend", "/renew", "/withdraw", "/contact"} {
		for _, form := range []string{"", "weeks=1&confirm=yes&email=a%40b.example", "weeks=x&confirm=%ff&email=x"} {
			for _, b := range []*browser{stranger, stranger.scripted(), s.browser(), admin} {
				theirs := b.postRaw(path+verb, formKind, form)
				nobodys := b.postRaw(none+verb, formKind, form)
				if theirs.status != nobodys.status || b != admin && theirs.status != http.StatusNotFound || theirs.status < 400 {
					t.Errorf("%s %s: %d and %d", verb, form, theirs.status, nobodys.status)
				}
			}
		}
	}
	owner.get(path).says("Your picture is on the canvas")
}
