package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/fault"
	"tuval/internal/session"
	"tuval/internal/testdb"
)

// site is a server whose pages do with the session what their name says.
type site struct {
	t        *testing.T
	pool     *pgxpool.Pool
	sessions *session.Sessions
	url      string
	during   func() // runs inside every handler, after the session was read
}

func newSite(t *testing.T, pool *pgxpool.Pool, secure bool) *site {
	s := &site{t: t, pool: pool, during: func() {}}
	s.sessions = session.New(pool, session.Settings{Secure: secure, Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
		code := http.StatusInternalServerError
		switch fault.As(err).Kind {
		case fault.Unavailable:
			code = http.StatusServiceUnavailable
		case fault.Conflict:
			code = http.StatusConflict
		}
		http.Error(w, "FAILED "+err.Error(), code)
	}})
	mux := http.NewServeMux()
	mux.HandleFunc("/{do}/{id}", s.serve)
	mux.HandleFunc("/{do}", s.serve)
	server := httptest.NewServer(s.sessions.Middleware(mux))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	s.during()
	var id int64
	_, _ = fmt.Sscan(r.PathValue("id"), &id)
	var err error
	switch r.PathValue("do") {
	case "add":
		s.sessions.AddPerson(ctx, id)
	case "account":
		err = s.sessions.SignInAccount(ctx, id)
	case "admin":
		err = s.sessions.SignInAdmin(ctx, id)
	case "out":
		err = s.sessions.SignOut(ctx)
	case "say":
		s.sessions.Flash(ctx, "good", fmt.Sprint("said ", id))
	case "hear":
		fmt.Fprint(w, s.sessions.Flashes(ctx), " ")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	who, _ := s.sessions.Person(ctx)
	acc, _ := s.sessions.AccountID(ctx)
	adm, _ := s.sessions.AdminID(ctx)
	fmt.Fprintf(w, "persons %v person %d account %d admin %d", s.sessions.Persons(ctx), who, acc, adm)
}

// browser keeps cookies.
type browser struct {
	*site
	client *http.Client
}

func (s *site) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{s, &http.Client{Jar: jar}}
}

func (b *browser) do(method, path string) (int, string, *http.Response) {
	b.t.Helper()
	req, _ := http.NewRequest(method, b.url+path, nil)
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Error(err)
		return 0, "", nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), resp
}

func (b *browser) post(path string) string {
	b.t.Helper()
	code, body, _ := b.do("POST", path)
	if code != 200 {
		b.t.Errorf("%s answered %d %s", path, code, body)
	}
	return body
}

func (b *browser) get(path string) string {
	b.t.Helper()
	_, body, _ := b.do("GET", path)
	return body
}

func (b *browser) cookie() string {
	u, _ := url.Parse(b.url)
	for _, c := range b.client.Jar.Cookies(u) {
		return c.Value
	}
	return ""
}

func (b *browser) setCookie(value string) {
	u, _ := url.Parse(b.url)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: "tuval", Value: value, Path: "/"}})
}

func (s *site) scan(sql string, to ...any) {
	s.t.Helper()
	if err := s.pool.QueryRow(context.Background(), sql).Scan(to...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(context.Background(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) rows() (n int) {
	s.t.Helper()
	s.scan(`SELECT count(*) FROM sessions`, &n)
	return n
}

func (s *site) admin(email string) int64 {
	s.t.Helper()
	a, err := account.NewAdmins(s.pool, account.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}, false).AddAdmin(s.t.Context(), email, "long enough")
	if err != nil {
		s.t.Fatal(err)
	}
	return a.ID
}

func (s *site) account() int64 {
	s.t.Helper()
	id, err := account.NewPerson(s.t.Context(), s.pool)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// away is a pool whose database does not answer.
func away(t *testing.T) *pgxpool.Pool {
	pool, err := pgxpool.New(t.Context(), "host="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestAVisitorWithoutACookieCostsNothing(t *testing.T) {
	t.Parallel()
	b := newSite(t, away(t), false).browser() // the database cannot even be asked
	code, body, resp := b.do("GET", "/look")
	if code != 200 || len(resp.Cookies()) != 0 {
		t.Errorf("answered %d with cookies %v", code, resp.Cookies())
	}
	want(t, body, "persons [] person 0 account 0 admin 0")
	want(t, resp.Header.Get("Vary"), "Cookie")
}

func TestNobodyIsTakenForSomebodyNew(t *testing.T) {
	t.Parallel()
	b := newSite(t, away(t), false).browser()
	b.setCookie(strings.Repeat("x", 43))
	code, body, resp := b.do("GET", "/look")
	if code != 503 || !strings.HasPrefix(body, "FAILED") || len(resp.Cookies()) != 0 {
		t.Errorf("answered %d %s %v", code, body, resp.Cookies())
	}
}

// A page whose changes were not kept does not go out.
func TestAnAnswerThatWasNotKeptIsNotGiven(t *testing.T) {
	t.Parallel()
	b := newSite(t, away(t), false).browser()
	code, body, resp := b.do("POST", "/add/7")
	if code != 503 || strings.Contains(body, "persons") || len(resp.Cookies()) != 0 {
		t.Errorf("answered %d %s %v", code, body, resp.Cookies())
	}
}

func TestABrowserIsRemembered(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	b := s.browser()
	b.post("/add/7")
	want(t, b.get("/look"), "persons [7] person 7 account 0 admin 0")
	b.post("/add/7")
	b.post("/add/8")
	want(t, b.get("/look"), "persons [7 8] person 8 account 0 admin 0")
	want(t, s.browser().get("/look"), "persons [] person 0 account 0 admin 0")
	if s.rows() != 1 {
		t.Errorf("%d sessions are kept", s.rows())
	}
	var known bool
	s.scan(`SELECT bool_or(s::text LIKE '%`+b.cookie()+`%') FROM sessions s`, &known)
	if known || len(b.cookie()) != 43 {
		t.Error("the token is stored as it is")
	}
}

func TestReadingWritesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	b := s.browser()
	b.post("/add/7")
	var before, after string
	s.scan(`SELECT ctid::text || xmin::text FROM sessions`, &before)
	_, _, resp := b.do("GET", "/look")
	b.get("/hear")
	s.scan(`SELECT ctid::text || xmin::text FROM sessions`, &after)
	if before != after || len(resp.Cookies()) != 0 {
		t.Errorf("the row went from %s to %s, cookies %v", before, after, resp.Cookies())
	}
}

func TestMessagesAreShownOnce(t *testing.T) {
	t.Parallel()
	b := newSite(t, testdb.New(t), false).browser()
	b.post("/say/1")
	b.post("/say/2")
	if got := b.get("/hear"); !strings.HasPrefix(got, "[{good said 1} {good said 2}] ") {
		t.Errorf("heard %s", got)
	}
	if got := b.get("/hear"); !strings.HasPrefix(got, "[] ") {
		t.Errorf("heard again %s", got)
	}
}

func TestSigningInReplacesTheTokenAndKeepsThePersons(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	b, acc, adm := s.browser(), s.account(), s.admin("root@example.com")
	b.post("/add/7")
	old := b.cookie()
	want(t, b.post(fmt.Sprint("/account/", acc)), fmt.Sprintf("persons [7 %d] person %d account %d admin 0", acc, acc, acc))
	want(t, b.get("/look"), fmt.Sprintf("persons [7 %d] person %d account %d admin 0", acc, acc, acc))
	middle := b.cookie()
	b.post(fmt.Sprint("/admin/", adm))
	want(t, b.get("/look"), fmt.Sprintf("persons [7 %d] person %d account %d admin %d", acc, acc, acc, adm))
	if old == middle || middle == b.cookie() || s.rows() != 1 {
		t.Errorf("the tokens are %s, %s, %s in %d rows", old, middle, b.cookie(), s.rows())
	}
	for _, dead := range []string{old, middle} {
		thief := s.browser()
		thief.setCookie(dead)
		want(t, thief.get("/look"), "persons [] person 0 account 0 admin 0")
	}
}

// A token that the browser brought along is never signed in.
func TestAPlantedTokenIsNotSignedIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	acc := s.account()
	for _, planted := range []string{"planted", strings.Repeat("p", 43)} {
		b := s.browser()
		b.setCookie(planted)
		b.post(fmt.Sprint("/account/", acc))
		if b.cookie() == planted {
			t.Error("a token that somebody chose was signed in")
		}
	}
}

func TestSigningOutEndsTheSession(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	b := s.browser()
	b.post(fmt.Sprint("/account/", s.account()))
	old := b.cookie()
	b.post("/out")
	if b.cookie() != "" || s.rows() != 0 {
		t.Errorf("left: cookie %q, %d rows", b.cookie(), s.rows())
	}
	b.setCookie(old)
	want(t, b.get("/look"), "persons [] person 0 account 0 admin 0")
}

func TestADisabledAdminIsNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	b, adm := s.browser(), s.admin("root@example.com")
	b.post(fmt.Sprint("/admin/", adm))
	s.exec(`UPDATE admins SET disabled_at = now()`)
	want(t, b.get("/look"), "persons [] person 0 account 0 admin 0")
	late := s.browser()
	late.post(fmt.Sprint("/admin/", adm)) // signed in by a slower request
	s.exec(`UPDATE admins SET disabled_at = NULL`)
	want(t, late.get("/look"), "persons [] person 0 account 0 admin 0")
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	b := s.browser()
	b.post("/add/7")
	age := func(by string) {
		s.exec(`UPDATE sessions SET created_at = created_at - $1::interval, seen_at = seen_at - $1::interval, expires_at = expires_at - $1::interval`, by)
	}
	alive := func() bool { return strings.Contains(b.get("/look"), "[7]") }
	var left float64
	days := `SELECT extract(epoch FROM expires_at - now())::float8 / 86400 FROM sessions`
	near := func(want float64) {
		t.Helper()
		if s.scan(days, &left); left > want || left < want-0.01 {
			t.Errorf("%v days are left, want %v", left, want)
		}
	}
	near(14)
	age("13 days")
	if !alive() {
		t.Fatal("it ended early")
	}
	near(14)
	age("10 days")
	if !alive() {
		t.Fatal("it ended early")
	}
	near(7) // 30 days after it began, whoever visits
	age("6 days 23 hours 59 minutes")
	if !alive() {
		t.Error("it ended a minute early")
	}
	age("1 minute")
	if alive() {
		t.Error("it lasts longer than 30 days")
	}
	b.setCookie("")
	b.post("/add/7")
	age("14 days")
	if alive() {
		t.Error("it lasts 14 days without a visit")
	}
	if n, err := session.Prune(t.Context(), s.pool); err != nil || n != 2 || s.rows() != 0 {
		t.Errorf("removed %d, %v", n, err)
	}
}

func TestTheCookie(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for secure, name := range map[bool]string{false: "tuval", true: "__Host-tuval"} {
		_, _, resp := newSite(t, pool, secure).browser().do("POST", "/add/7")
		c := resp.Cookies()[0]
		if c.Name != name || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("the cookie is %s", c.Raw)
		}
		if d := time.Duration(c.MaxAge) * time.Second; d < 30*24*time.Hour-time.Minute || d > 30*24*time.Hour+time.Minute {
			t.Errorf("the cookie lasts %v", d)
		}
	}
}

// Requests of one browser that run at once each add a person: none is lost.
func TestPersonsAddedAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	for range 10 {
		b := s.browser()
		b.post("/add/1")
		const n = 6
		var inside sync.WaitGroup // all have read the session before one writes
		inside.Add(n)
		s.during = func() { inside.Done(); inside.Wait() }
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { b.post(fmt.Sprint("/add/", i+2)) })
		}
		wg.Wait()
		s.during = func() {}
		var ids []int64
		got := strings.NewReplacer("persons [", "", "]", " ").Replace(b.get("/look"))
		for _, f := range strings.Fields(got) {
			var id int64
			if _, err := fmt.Sscan(f, &id); err != nil {
				break
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		if !slices.Equal(ids, []int64{1, 2, 3, 4, 5, 6, 7}) {
			t.Fatalf("kept %v", ids)
		}
	}
}

// A slower request does not bring back what was ended meanwhile: one that
// wanted to change something can be repeated, one that only looks is served.
func TestAnEndedSessionIsNotRevived(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	acc := s.account()
	for _, end := range []string{"/out", fmt.Sprint("/account/", acc)} {
		for _, slow := range []struct {
			method, path string
			code         int
		}{{"POST", "/add/7", 409}, {"GET", "/hear", 200}} {
			quickTab, slowTab := s.browser(), s.browser()
			quickTab.post(fmt.Sprint("/account/", acc))
			quickTab.post("/say/1")
			old := quickTab.cookie()
			slowTab.setCookie(old)
			s.during = func() { // the slow request has read its session
				s.during = func() {}
				quickTab.post(end)
			}
			code, body, resp := slowTab.do(slow.method, slow.path)
			if code != slow.code || len(resp.Cookies()) != 0 {
				t.Errorf("%s during %s answered %d %s with cookies %v", slow.path, end, code, body, resp.Cookies())
			}
			slowTab.setCookie(old)
			want(t, slowTab.get("/look"), "persons [] person 0 account 0 admin 0")
		}
	}
}

// What a client did is kept though it went away before the answer.
func TestAClientThatGoesAwayIsKept(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	ctx, stop := context.WithCancel(t.Context())
	h := s.sessions.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.sessions.AddPerson(r.Context(), 7)
		stop()
		w.WriteHeader(http.StatusSeeOther)
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil).WithContext(ctx))
	if s.rows() != 1 {
		t.Error("its session is lost")
	}
}

func TestTheAnswerMayBeginInAnyWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, testdb.New(t), false)
	for name, begin := range map[string]func(http.ResponseWriter){
		"not at all": func(http.ResponseWriter) {},
		"a flush":    func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"a hint":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints); w.WriteHeader(200) },
		"a deadline": func(w http.ResponseWriter) {
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
		},
	} {
		server := httptest.NewServer(s.sessions.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.sessions.AddPerson(r.Context(), 7)
			begin(w)
		})))
		resp, err := http.Post(server.URL, "", nil)
		if err != nil || resp.StatusCode != 200 || len(resp.Cookies()) != 1 {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
		server.Close()
	}
}

func TestErrorsOfTheStoreAreFaults(t *testing.T) {
	t.Parallel()
	s := newSite(t, away(t), false)
	var got error
	broken := session.New(s.pool, session.Settings{Fail: func(_ http.ResponseWriter, _ *http.Request, err error) { got = err }})
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: "tuval", Value: "x"})
	broken.Middleware(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	if f := fault.As(got); f.Kind != fault.Unavailable || f.RetryAfter == 0 || errors.Unwrap(f) == nil {
		t.Errorf("failed with %#v", got)
	}
}
