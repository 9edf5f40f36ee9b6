package stripesim_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v76"
	"golang.org/x/net/html"

	"tuval/internal/stripesim"
)

// page is a pay page as a browser without scripts sees it.
type page struct {
	status  int
	header  http.Header
	raw     string
	buttons map[string]string // action -> words
	links   map[string]string // words -> address
	title   string
	heading string
	texts   string
	bad     []string // what a pay page must not have
}

func (s *stage) open(id string) page {
	s.t.Helper()
	res := must[*http.Response](s.t)(http.Get(s.url + "/c/pay/" + id))
	defer func() { _ = res.Body.Close() }()
	raw := string(must[[]byte](s.t)(io.ReadAll(res.Body)))
	p := page{status: res.StatusCode, header: res.Header, raw: raw, buttons: map[string]string{}, links: map[string]string{}}
	p.look(must[*html.Node](s.t)(html.Parse(strings.NewReader(raw))))
	if len(p.bad) > 0 {
		s.t.Errorf("the page has %q", p.bad)
	}
	return p
}

func (p *page) look(n *html.Node) {
	attr := map[string]string{}
	for _, a := range n.Attr {
		attr[a.Key] = a.Val
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
			p.bad = append(p.bad, n.Data+" "+a.Key)
		}
	}
	if n.Type == html.ElementNode {
		switch n.Data {
		case "script", "style", "iframe":
			p.bad = append(p.bad, n.Data)
		case "title":
			p.title = words(n)
		case "h1":
			p.heading += words(n)
		case "a":
			p.links[words(n)] = attr["href"]
		case "button":
			p.buttons[attr["value"]] = words(n)
		}
	}
	if n.Type == html.TextNode {
		p.texts += n.Data + " "
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.look(c)
	}
}

func words(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(words(c))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// press presses a button and gives where the browser is sent.
func (s *stage) press(id, action string) string {
	s.t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must[*http.Response](s.t)(c.PostForm(s.url+"/c/pay/"+id, url.Values{"action": {action}}))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		s.t.Errorf("%s was answered %d", action, res.StatusCode)
	}
	return res.Header.Get("Location")
}

const (
	successOf = "http://127.0.0.1:8080/rentals/r1/return?session="
	cancelOf  = "http://127.0.0.1:8080/rentals/r1"
)

func TestThePayPage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	p := s.open(id)
	switch {
	case p.status != http.StatusOK, p.header.Get("Cache-Control") != "no-store",
		!strings.Contains(p.header.Get("Content-Security-Policy"), "default-src 'none'"),
		p.heading != "Choose how the payment goes", !strings.Contains(p.title, "Pay 9,600.00 USD"), p.buttons["pay"] != "Pay 9,600.00 USD", !strings.Contains(p.texts, "Simulation"),
		!strings.Contains(p.texts, rentalName), !strings.Contains(p.raw, `lang="en"`), !strings.Contains(p.raw, "viewport"):
		t.Errorf("the page: %d %q %q\n%s", p.status, p.title, p.heading, p.raw)
	}
	for _, action := range []string{"pay", "decline", "debit", "abandon"} {
		if p.buttons[action] == "" {
			t.Errorf("there is no button to %s", action)
		}
	}
	if len(p.buttons) != 4 {
		t.Errorf("buttons: %v", p.buttons)
	}
	css := must[*http.Response](t)(http.Get(s.url + "/c/pay.css"))
	_ = css.Body.Close()
	if css.StatusCode != 200 || css.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the style sheet: %d", css.StatusCode)
	}
}

func TestPressingPay(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	for range 2 { // the second press is an impatient one
		if to := s.press(id, "pay"); to != successOf+id {
			t.Errorf("sent to %s", to)
		}
	}
	p := s.open(id)
	if p.heading != "This session is paid" || len(p.buttons) != 0 || p.links["Return to the shop"] != successOf+id {
		t.Errorf("after paying: %q, %v, %v", p.heading, p.buttons, p.links)
	}
	s.ear.wants("checkout.session.completed")
}

func TestPressingDeclineAndAbandon(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	if to := s.press(id, "decline"); to != "/c/pay/"+id {
		t.Errorf("sent to %s", to)
	}
	if p := s.open(id); !strings.Contains(p.texts, "declined") || !strings.Contains(p.raw, `role="alert"`) || p.buttons["pay"] == "" {
		t.Errorf("after a decline:\n%s", p.raw)
	}
	if to := s.press(id, "abandon"); to != cancelOf {
		t.Errorf("sent to %s", to)
	}
	if found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(id, nil)); found.Status != "open" {
		t.Errorf("after going back it is %s", found.Status)
	}
	if to := s.press(id, "pay"); to != successOf+id {
		t.Errorf("sent to %s", to)
	}
}

func TestPressingBankDebit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for action, heading := range map[string]string{"debit_arrives": "This session is paid", "debit_fails": "The bank debit failed"} {
		id := s.newSession().ID
		if to := s.press(id, "debit"); to != successOf+id {
			t.Errorf("sent to %s", to)
		}
		if p := s.open(id); p.heading != "The bank debit is on its way" || len(p.buttons) != 2 {
			t.Errorf("under way: %q, %v", p.heading, p.buttons)
		}
		s.press(id, action)
		if p := s.open(id); p.heading != heading || len(p.buttons) != 0 {
			t.Errorf("%s: %q, %v", action, p.heading, p.buttons)
		}
	}
}

func TestThePageOfASessionThatIsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.newSession().ID
	s.age(31)
	p := s.open(id)
	if p.heading != "This session is over" || p.links["Return to the shop"] != cancelOf || len(p.buttons) != 1 {
		t.Errorf("over: %q, %v, %v", p.heading, p.links, p.buttons)
	}
	if to := s.press(id, "pay"); to != "/c/pay/"+id {
		t.Errorf("an old tab was sent to %s", to)
	}
	if to := s.press(id, "pay_late"); to != successOf+id {
		t.Errorf("sent to %s", to)
	}
}

func TestPagesThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if p := s.open("cs_test_none"); p.status != http.StatusNotFound || p.heading == "" {
		t.Errorf("%d %q", p.status, p.heading)
	}
	res := must[*http.Response](t)(http.PostForm(s.url+"/c/pay/"+s.newSession().ID, url.Values{"action": {"explode"}}))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("an odd button was answered %d", res.StatusCode)
	}
}

func TestThePageEscapes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := checkout()
	p.LineItems[0].PriceData.ProductData.Name = stripe.String(`<script>alert("x")</script>`)
	p.ClientReferenceID = stripe.String(`"><img src=x onerror=alert(1)>`)
	p.CancelURL = nil
	id := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.New(p)).ID
	if got := s.open(id); len(got.buttons) != 3 { // without a cancel_url there is no way back
		t.Errorf("buttons: %v", got.buttons)
	}
}

func TestThePageMisbehavesOnDemand(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const button = "POST /c/pay/{id}"
	id := s.newSession().ID
	s.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: button, Count: 1})
	res := must[*http.Response](t)(http.PostForm(s.url+"/c/pay/"+id, url.Values{"action": {"pay"}}))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("answered %d", res.StatusCode)
	}
	s.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: button, Count: 1})
	if _, err := http.PostForm(s.url+"/c/pay/"+id, url.Values{"action": {"pay"}}); !errors.Is(err, io.EOF) {
		t.Errorf("the connection held: %v", err)
	}
	if found := must[*stripe.CheckoutSession](t)(s.api.CheckoutSessions.Get(id, nil)); found.PaymentStatus != "paid" {
		t.Errorf("it is %s", found.PaymentStatus)
	}
	s.ear.wants("payment_intent.succeeded", "checkout.session.completed")
	s.fault(stripesim.Fault{Kind: stripesim.FaultWebhookFirst, Endpoint: button, Count: 1})
	s.press(s.newSession().ID, "pay")
	if heard := s.ear.types(); len(heard) != 4 {
		t.Errorf("when the browser was sent back, %q had been heard", heard)
	}
}
