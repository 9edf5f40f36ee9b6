package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"tuval/web"
	"tuval/web/reply"
	"tuval/web/visitor"
)

func TestEveryAnswerProtectsItsReader(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	for _, path := range []string{"/", "/areas", "/about", "/login", "/account", "/none", "/rentals/none", "/healthz", "/robots.txt", "/favicon.ico", "/api/v1/none", "/canvas/x.png"} {
		h := b.get(path).header
		want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; worker-src 'self'; " +
			"manifest-src 'self'; form-action 'self' " + s.simURL + "; base-uri 'none'; frame-ancestors 'none'"
		if h.Get("Content-Security-Policy") != want {
			t.Errorf("%s: %s", path, h.Get("Content-Security-Policy"))
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" || len(h.Get("X-Request-Id")) != 26 {
			t.Errorf("%s: %v", path, h)
		}
		if h.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: HSTS without TLS", path)
		}
	}
}

func TestOverTLSTheCookieIsBoundAndHSTSIsSent(t *testing.T) {
	s := newStack(t, func(d *web.Deps) { d.Settings.BaseURL = "https://tuval.example" })
	a := s.browser().post("/holds", holdPairs(1, 1, 1, 1)...).wants(http.StatusSeeOther)
	if a.header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Error("no HSTS")
	}
	c := a.header.Get("Set-Cookie")
	for _, part := range []string{"__Host-tuval=", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(c, part) {
			t.Errorf("the cookie lacks %s: %s", part, c)
		}
	}
}

func TestRequestsOfOtherSitesChangeNothing(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 1, 1)
	const form = "application/x-www-form-urlencoded"
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
	} {
		b.postRaw(path+"/cancel", form, "", headers...).wants(http.StatusForbidden).whole(true).says("another site")
		b.postRaw("/holds", form, "col=5&row=5&w=1&h=1", headers...).wants(http.StatusForbidden)
		b.postRaw("/logout", form, "", headers...).wants(http.StatusForbidden)
		b.postRaw("/api/v1/holds", "application/json", "{}", headers...).wants(http.StatusForbidden)
	}
	if n := s.count(`SELECT count(*) FROM rentals WHERE state = 'held'`); n != 1 {
		t.Errorf("%d holds", n)
	}
	b.postRaw(path+"/cancel", form, "", "Sec-Fetch-Site", "same-origin", "Origin", s.server.URL).wants(http.StatusSeeOther)
}

func TestUnknownAddressesAndMethodsArePages(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	for _, path := range []string{"/none", "/areas/", "/rentals/", "/about/", "/dev/none", "/%00", "/areas/%00", "/rentals/%ff", "/go/%00", "/pictures/%00", "/canvas/%00.png", "/login/x/y"} {
		b.get(path).wants(http.StatusNotFound, http.StatusGone).whole(true).has("h1")
	}
	for path, allow := range map[string]string{
		"/holds": "POST", "/rentals/x/keep": "POST", "/areas": "GET, HEAD", "/webhooks/stripe": "POST", "/login": "GET, HEAD, POST", "/": "GET, HEAD",
	} {
		a := b.send(b.request("DELETE", path, nil)).wants(http.StatusMethodNotAllowed).whole(true)
		if a.header.Get("Allow") != allow {
			t.Errorf("%s allows %q", path, a.header.Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/areas", "/about", "/login", "/healthz", "/robots.txt"} {
		a := b.send(b.request("HEAD", path, nil)).wants(http.StatusOK)
		if a.body != "" {
			t.Errorf("HEAD %s has a body", path)
		}
	}
}

// Whoever is signed in is so on the page of an address that does not exist, too.
func TestTheHeaderKnowsWhoIsSignedIn(t *testing.T) {
	s := newStack(t)
	admin, buyer := s.admin(), s.browser()
	buyer.hold(1, 1, 1, 1)
	for _, path := range []string{"/", "/areas", "/about", "/nothing", "/areas/none", "/admin/nothing"} {
		admin.get(path).has("a", "href", "/admin/").hasNot("a", "href", "/login")
	}
	for _, path := range []string{"/", "/about", "/nothing", "/areas/none"} {
		buyer.get(path).has("a", "href", "/account").hasNot("a", "href", "/login")
		s.browser().get(path).has("a", "href", "/login")
	}
}

func TestWordsOfErrorsStayInTheLog(t *testing.T) {
	var log lines
	s := newStack(t, func(d *web.Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, nil))
		d.API = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/error" {
				reply.Fault(w, r, errors.New("relation secrets does not exist"))
				return
			}
			panic("the secret word")
		})
	})
	b := s.browser()
	a := b.get("/api/panic?token=abc").wants(http.StatusInternalServerError).saysNot("secret")
	var body struct {
		Error struct{ Code string }
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || body.Error.Code != "internal" {
		t.Errorf("%v: %s", err, a.body)
	}
	b.get("/api/error").wants(http.StatusInternalServerError).saysNot("secrets")
	s.exec(`ALTER TABLE rentals RENAME TO elsewhere`)
	page := b.get("/account").wants(http.StatusInternalServerError).whole(true).saysNot("relation", "SQLSTATE")
	page.says(page.header.Get("X-Request-Id"))
	b.scripted().get("/account").wants(http.StatusInternalServerError).whole(false)
	s.exec(`ALTER TABLE elsewhere RENAME TO rentals`)
	got := log.String()
	for _, want := range []string{"the secret word", "relation secrets", `route="GET /account"`, "status=500", "level=ERROR"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	for _, not := range []string{"token=abc", "/api/panic", "127.0.0.1"} {
		if strings.Contains(got, not) {
			t.Errorf("the log says %q:\n%s", not, got)
		}
	}
}

// lines is a log that several goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestHealthIsTold(t *testing.T) {
	ready := errors.New("the database is away")
	s := newStack(t, func(d *web.Deps) { d.Ready = func(context.Context) error { return ready } })
	b := s.browser()
	b.get("/healthz").wants(http.StatusOK)
	a := b.get("/readyz").wants(http.StatusServiceUnavailable).saysNot("database")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	ready = nil
	b.get("/readyz").wants(http.StatusOK)
}

func TestMetricsAndMailboxAreForThisMachine(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	b.get("/")
	b.get("/metrics").wants(http.StatusOK).says(`tuval_http_request_seconds_count{method="GET",route="GET /{$}",status="200"} 1`)
	b.get("/metrics", "X-Forwarded-For", "127.0.0.1").wants(http.StatusNotFound)
	b.get("/dev/mail").wants(http.StatusOK).says("No mail yet")
	b.post("/login", "email", "me@example.com")
	s.exec(`UPDATE mails SET sent_at = now()`)
	page := b.get("/dev/mail").says("me@example.com")
	for _, n := range page.all("a", "class", "typed") {
		href, _ := attr(n, "href")
		b.get(href).wants(http.StatusOK).has("a", "href", s.server.URL+s.mailedLink())
		h := b.get(href + "/html").wants(http.StatusOK).header
		if !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("the mail's HTML may run: %v", h)
		}
	}
	b.get("/dev/mail/x").wants(http.StatusNotFound)
	b.get("/dev/mail/99").wants(http.StatusNotFound)
	b.get("/dev/mail", "Forwarded", "for=127.0.0.1").wants(http.StatusNotFound)
	b.get("/dev/mail", "Host", "evil.example").wants(http.StatusNotFound)
	b.get("/dev/mail", "Host", "localhost:80").wants(http.StatusOK)
	b.get("/dev/mail", "Host", "[::1]:80").wants(http.StatusOK)
}

func TestMetricsElsewhereAreNotHere(t *testing.T) {
	s := newStack(t, func(d *web.Deps) { d.Settings.MetricsHere, d.Settings.Mailbox = false, false })
	s.browser().get("/metrics").wants(http.StatusNotFound)
	s.browser().get("/dev/mail").wants(http.StatusNotFound)
}

func TestAnUnknownProxyIsReportedOnce(t *testing.T) {
	s := newStack(t)
	for range 3 {
		s.browser().get("/", "X-Forwarded-For", "203.0.113.9").wants(http.StatusOK)
	}
	if n := s.count(`SELECT count(*) FROM anomalies WHERE kind = 'proxy not configured'`); n != 1 {
		t.Errorf("%d anomalies", n)
	}
}

func TestBehindOurProxyPeopleAreToldApart(t *testing.T) {
	seen := make(chan visitor.Visitor, 9)
	s := newStack(t, func(d *web.Deps) {
		d.Settings.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.API = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- visitor.From(r.Context()) })
	})
	b := s.browser()
	b.get("/api/x", "X-Forwarded-For", "203.0.113.9")
	b.get("/api/x", "X-Forwarded-For", "203.0.113.10")
	one, two := <-seen, <-seen
	if len(one.Network) != 32 || bytes.Equal(one.Network, two.Network) {
		t.Error("two people are one")
	}
	b.hold(1, 1, 1, 1)
	b.get("/api/x", "Authorization", "Bearer x")
	if v := <-seen; v.HasSession || len(v.Persons) > 0 {
		t.Error("a token brought a session along")
	}
	b.get("/api/x")
	if v := <-seen; len(v.Persons) != 1 || v.Session == "" || !strings.HasPrefix(v.Caller(), "session:") {
		t.Errorf("the session's visitor: %+v", v)
	}
	if n := s.count(`SELECT count(*) FROM anomalies`); n != 0 {
		t.Errorf("our proxy is reported")
	}
}

func TestTheQueueOfJobsIsForAdminsUnderItsOwnPolicy(t *testing.T) {
	s := newStack(t, func(d *web.Deps) {
		d.Jobs = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the queue")) })
	})
	s.browser().get("/admin/jobs/").wants(http.StatusUnauthorized).saysNot("the queue")
	h := s.admin().get("/admin/jobs/x").wants(http.StatusOK).says("the queue").header
	if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "style-src 'self' 'unsafe-inline'") || strings.Contains(strings.ReplaceAll(csp, "style-src 'self' 'unsafe-inline'", ""), "unsafe") {
		t.Errorf("policy: %s", csp)
	}
}
