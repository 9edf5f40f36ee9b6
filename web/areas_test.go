package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWhatIsOnTheCanvasIsListedAndShareable(t *testing.T) {
	s := newStack(t)
	admin, b, v := s.admin(), s.browser(), s.browser()
	v.get("/areas").wants(http.StatusOK).says("The canvas is empty", "0 areas")
	_, id := s.live(b, admin, 1, 1, 6, 4)
	v.get("/areas").says("North Pier", "a.example", "1 area").has("a", "href", "/areas/"+id)
	v.get("/areas?q=PIER").says("North Pier")
	v.get("/areas?q=nothing+like+it").says("Nothing matches", "0 of 1 area")
	v.get("/areas?page=2").wants(http.StatusOK).saysNot("North Pier")
	for _, bad := range []string{"?q=%00", "?q=%ff", "?q=" + strings.Repeat("x", 101), "?page=0", "?page=1e1", "?q=a&q=b", "?q=%zz"} {
		v.get("/areas" + bad).wants(http.StatusUnprocessableEntity).whole(true)
	}
	page := v.get("/areas/"+id).wants(http.StatusOK).says("North Pier", "Four colours", "6 × 4 blocks")
	page.has("link", "rel", "canonical", "href", s.server.URL+"/areas/"+id).has("a", "rel", "sponsored nofollow noopener ugc", "href", "/go/"+id)
	page.saysNot("Buyer@", "4,800")
	img := page.all("img", "alt", "Four colours")
	src, _ := attr(img[0], "src")
	p := v.get(src).wants(http.StatusOK)
	if h := p.header; h.Get("Cache-Control") != "public, max-age=3600" || h.Get("Content-Type") != "image/png" || h.Get("Vary") != "" {
		t.Errorf("headers: %v", h)
	}
	v.get(src, "If-None-Match", p.header.Get("ETag")).wants(http.StatusNotModified)
	v.get("/").says("9,976").has("img", "alt", "The canvas at this moment, with 1 area on it")
	s.age(14*24*time.Hour + time.Second)
	v.get("/areas/" + id).wants(http.StatusGone).says("no longer on the canvas")
	v.get(src).wants(http.StatusGone)
	v.get("/go/" + id).wants(http.StatusGone)
	v.get("/areas/none").wants(http.StatusNotFound)
	v.get("/go/none").wants(http.StatusNotFound)
	v.get("/pictures/none").wants(http.StatusNotFound)
}

func TestAreasToComeAreNobodysBusiness(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	s.paid(b, 1, 1, 6, 4)
	var id string
	if err := s.pool.QueryRow(s.ctx(), `SELECT public_id FROM rentals`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/areas/", "/go/"} {
		b.get(path + id).wants(http.StatusNotFound)
	}
}

func TestALinkIsFollowedAndPeopleAreCounted(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	_, id := s.live(b, s.admin(), 1, 1, 6, 4)
	const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	v := s.browser()
	for _, c := range []struct {
		why     string
		method  string
		headers []string
		counts  int
	}{
		{"a person", "GET", []string{"User-Agent", firefox}, 1},
		{"a person again", "GET", []string{"User-Agent", firefox}, 1},
		{"a question about headers", "HEAD", []string{"User-Agent", firefox}, 0},
		{"a browser that looks ahead", "GET", []string{"User-Agent", firefox, "Sec-Purpose", "prefetch;prerender"}, 0},
		{"an older one", "GET", []string{"User-Agent", firefox, "Purpose", "prefetch"}, 0},
		{"a robot", "GET", []string{"User-Agent", "Googlebot/2.1 (+http://www.google.com/bot.html)"}, 0},
		{"a program without a name", "GET", []string{"User-Agent", ""}, 0},
	} {
		before := s.count(`SELECT coalesce(sum(count), 0) FROM clicks`)
		a := v.send(v.request(c.method, "/go/"+id, nil, c.headers...)).wants(http.StatusFound)
		if a.leads() != "https://a.example/x" || a.header.Get("Referrer-Policy") != "strict-origin" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: leads to %s, %v", c.why, a.leads(), a.header)
		}
		if n := s.count(`SELECT coalesce(sum(count), 0) FROM clicks`) - before; n != c.counts {
			t.Errorf("%s: counted %d", c.why, n)
		}
	}
}

func TestTheRulesOfThisInstallationAreTold(t *testing.T) {
	s := newStack(t)
	s.browser().get("/about").wants(http.StatusOK).whole(true).
		says("100.00 USD", "1.00 USD", "10 minutes", "90 minutes", "30 days", "48 hours", "14 days", "0.50 USD", "2,400.00 USD")
}
