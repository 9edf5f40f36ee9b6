package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// wordRows are rows of a name or text and what is to be said of it.
func wordRows(t *testing.T, file string) [][2]string {
	t.Helper()
	var rows [][2]string
	if err := json.Unmarshal(must(os.ReadFile(file)), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// W06, N03: words that are markup, htmx, templates, mail headers or another
// script go through a whole order and stay words, on every page that shows
// them, under a policy that runs no inline script.
func TestW06N03WordsStayWords(t *testing.T) {
	s := newStack(t)
	admin, b, v := s.admin(), s.browser(), s.browser()
	for i, row := range wordRows(t, "../internal/text/testdata/texts.json") {
		name, words := row[0], row[1]
		path := s.paid(b, 1+10*i, 1, 6, 4)
		link := "https://a.example/?q=" + url.QueryEscape(words)
		file := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(words) + ".png"
		sent := b.upload(path+"/creative", file, "image/png", quad(t), "link", link, "title", words, "alt", words, "fit", "cover")
		if sent.status == http.StatusUnprocessableEntity { // a title is one line
			if name != "crlf_header" {
				t.Errorf("%s is refused: %s", name, sent.words())
			}
			inert(t, sent, words)
			continue
		}
		sent.wants(http.StatusSeeOther)
		inert(t, b.get(path), words)
		inert(t, admin.get("/admin/reviews"), words)
		admin.post("/admin/creatives/"+s.waiting()+"/approve", "revision", "1").wants(http.StatusSeeOther)
		id := s.text(`SELECT public_id FROM rentals WHERE key = $1`, keyOf.FindStringSubmatch(path)[1])
		for _, page := range []string{"/", "/areas", "/areas?q=" + "x", "/areas/" + id} {
			inert(t, v.get(page).wants(http.StatusOK), words)
		}
		inert(t, admin.get("/admin/rentals/"+keyOf.FindStringSubmatch(path)[1]), words)
	}
	const headers = `SELECT count(*) FROM mails WHERE subject ~ '[\r\n]' OR recipient ~ '[\r\n,]'`
	if n := s.count(headers); n != 0 {
		t.Errorf("%d mails have a line break in their head", n)
	}
	if n := s.count(`SELECT count(*) FROM (SELECT fact FROM mails GROUP BY fact HAVING count(*) > 1) twice`); n != 0 {
		t.Errorf("%d facts were told twice", n)
	}
}

// inert wants a page on which the words are no element, no attribute and no
// title, and that allows no inline script.
func inert(t *testing.T, a *answer, words string) {
	t.Helper()
	csp := a.header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "script-src 'self'") || strings.Contains(csp, "unsafe-") {
		t.Errorf("%s: policy %q", a.what, csp)
	}
	for n := range a.doc().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "b" && n.FirstChild != nil && n.FirstChild.Data == "x" || n.Data == "script" && n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "PWNED") {
			t.Errorf("%s: %q became <%s>", a.what, words, n.Data)
		}
		for _, at := range n.Attr {
			if strings.HasPrefix(at.Key, "on") || at.Key == "hx-get" && at.Val == "/" || at.Key == "hx-target" && at.Val == "body" || at.Key == "x" && at.Val == "" {
				t.Errorf("%s: %q became the attribute %s=%q", a.what, words, at.Key, at.Val)
			}
		}
	}
	if strings.Contains(a.body, "49 49 49") {
		t.Errorf("%s: a template was carried out", a.what)
	}
}

// W07: by form, as by the API: each link gets its verdict, what stands on the
// page is http or https with a rel that vouches for nothing, and moderators
// see the real host.
func TestW07LinksByForm(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	for _, row := range wordRows(t, "../internal/link/testdata/links.json") {
		a := b.upload(path+"/creative", "a.png", "image/png", quad(t), "link", row[0], "title", "T", "alt", "A", "fit", "cover")
		verdict := row[1]
		accepted := a.status == http.StatusSeeOther
		switch {
		case !accepted && a.status != http.StatusUnprocessableEntity,
			strings.HasPrefix(verdict, "refuse") && !strings.Contains(verdict, " or ") && accepted,
			verdict == "accept" && !accepted:
			t.Errorf("%.80q, to %q: %d", row[0], verdict, a.status)
		case !accepted:
			a.marks("link")
		default:
			link, host := s.text(`SELECT link FROM creatives ORDER BY id DESC LIMIT 1`), s.text(`SELECT link_host FROM creatives ORDER BY id DESC LIMIT 1`)
			if !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://") || strings.TrimSpace(link) != link {
				t.Errorf("%.80q is kept as %q", row[0], link)
			}
			for _, c := range host {
				if c > 0x7e {
					t.Errorf("%.80q: the host is shown as %q", row[0], host)
				}
			}
			admin.get("/admin/reviews").says(host)
		}
	}
	b.submit(path).wants(http.StatusSeeOther)
	revision := s.count(`SELECT max(revision) FROM creatives`)
	admin.post("/admin/creatives/"+s.waiting()+"/approve", "revision", fmt.Sprint(revision)).wants(http.StatusSeeOther)
	id := s.text(`SELECT public_id FROM rentals`)
	s.browser().get("/areas/"+id).has("a", "rel", "sponsored nofollow noopener ugc", "href", "/go/"+id)
	if to := s.browser().get("/go/"+id).wants(http.StatusSeeOther, http.StatusFound).leads(); to != "https://a.example/x" {
		t.Errorf("it leads to %s", to)
	}
}

// N03: an address with an international domain buys and is written to, in the
// form that mail can carry.
func TestN03InternationalAddresses(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.post(path+"/checkout", "weeks", "1", "email", "zoe@müller.example").wants(http.StatusSeeOther)
	s.pay(s.session())
	s.settled()
	if n := s.mails("paid"); n != 1 {
		t.Fatalf("%d mails", n)
	}
	if to := s.text(`SELECT recipient FROM mails WHERE kind = 'paid'`); to != "zoe@xn--mller-kva.example" && to != "zoe@müller.example" {
		t.Errorf("written to %s", to)
	}
}
