package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/stripesim"
)

// hostile are texts that want to be more than text.
func hostile(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]string
	if err := json.Unmarshal(file, &pairs); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, p := range pairs {
		all[p[0]] = p[1]
	}
	return all
}

// scenery is a site with rentals in every state, full of hostile texts, and the
// people who look at it.
type scenery struct {
	*site
	visitor, buyer, admin *tab
	texts                 map[string]string
	pages                 []view
}

// view is one page as one person sees it.
type view struct {
	who    *tab
	name   string
	path   string
	status int64 // 0: any below 400
	again  bool  // of a kind that was judged on another page
}

// scene builds it.
func scene(t *testing.T) *scenery {
	t.Helper()
	s := serve(t, roomy()...)
	c := &scenery{site: s, texts: hostile(t), visitor: s.person("visitor", desktop()), buyer: s.person("buyer", desktop()), admin: s.person("admin", desktop())}
	b := c.buyer
	b.open("/about")
	ended := b.paid(rect{0, 90, 4, 4}, "1")
	b.submit(ended, rect{0, 90, 4, 4}, someWords())
	s.decide(ended, "")
	expired := b.held(rect{10, 90, 2, 2})
	s.age(7*24*time.Hour + time.Hour)
	s.becomes(`SELECT state = 'ended' FROM rentals WHERE key = $1`, ended)

	states := map[string]string{"ended": ended, "closed, expired": expired}
	states["held"] = b.held(rect{20, 90, 2, 2})
	states["paying"], _ = b.paying(rect{24, 90, 2, 2}, "2")
	states["awaiting a picture"] = b.paid(rect{28, 90, 2, 2}, "2")
	cancelled := b.held(rect{32, 90, 2, 2})
	b.send("/rentals/"+cancelled+"/cancel", map[string]string{})
	states["closed, cancelled"] = cancelled
	c.hang(states)
	c.refuse()
	s.signIn(b, "buyer@example.com")
	s.signInAdmin(c.admin)
	c.list(states)
	return c
}

// hang puts a picture with each text on the canvas, one more into review, and has
// one rejected.
func (c *scenery) hang(states map[string]string) {
	c.t.Helper()
	x := 0
	for name, text := range c.texts {
		link := "https://shop.example/"
		if strings.Contains("html htmx template", name) { // links hold nothing invisible
			link += "?" + text
		}
		w := words{link, text, text, text + ".png"}
		states["live, "+name] = c.buyer.live(rect{x, 10, 8, 6}, w)
		x += 12
	}
	w := words{"https://shop.example/", c.texts["html"], c.texts["htmx"], "picture.png"}
	states["in review"] = c.buyer.sent(rect{0, 30, 30, 4}, w)
	rejected := c.buyer.sent(rect{40, 30, 6, 4}, w)
	c.decide(rejected, c.texts["html"]+"\n"+c.texts["htmx"])
	states["rejected"] = rejected
	hidden := c.buyer.live(rect{60, 30, 6, 4}, w)
	if _, err := c.pool.Exec(c.t.Context(), `UPDATE rentals SET hidden = true WHERE key = $1`, hidden); err != nil {
		c.t.Fatal(err)
	}
	states["hidden"] = hidden
	c.later(states, w)
}

// later adds what comes after: weeks being bought, money that was asked back and
// money that came back.
func (c *scenery) later(states map[string]string, w words) {
	c.t.Helper()
	b := c.buyer
	states["being extended"] = b.live(rect{70, 30, 4, 4}, w)
	b.send("/rentals/"+states["being extended"]+"/extend", map[string]string{"weeks": "3"})

	disputed := b.live(rect{76, 30, 4, 4}, w)
	if _, err := c.sim.OpenDispute(c.t.Context(), stripesim.DisputeRequest{PaymentIntent: c.intent(disputed)}); err != nil {
		c.t.Fatal(err)
	}
	c.becomes(`SELECT count(*) = 1 FROM disputes`)
	states["disputed"] = disputed

	outstanding := b.paid(rect{82, 30, 4, 4}, "2")
	b.send("/rentals/"+outstanding+"/withdraw", map[string]string{"confirm": "yes"})
	c.becomes(`SELECT state = 'succeeded' FROM refunds`)
	if _, err := c.sim.FailRefund(c.t.Context(), c.word(`SELECT stripe_id FROM refunds`), "expired_or_canceled_card"); err != nil {
		c.t.Fatal(err)
	}
	c.becomes(`SELECT state = 'failed' FROM refunds`)
	states["refund outstanding"] = outstanding
}

func (c *scenery) intent(key string) string {
	return c.word(`SELECT p.payment_intent FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`, key)
}

// refuse blocks an area and reports an anomaly, in such words.
func (c *scenery) refuse() {
	c.t.Helper()
	if _, err := c.market.Block(c.t.Context(), adminEmail, grid.Rect{X: 90, Y: 60, W: 8, H: 8}, c.texts["html"], nil); err != nil {
		c.t.Fatal(err)
	}
	err := c.market.Report(c.t.Context(), market.Anomaly{Kind: "a test", Fact: c.texts["html"], Message: c.texts["html"], Action: c.texts["htmx"]})
	if err != nil {
		c.t.Fatal(err)
	}
}

// list is every page there is to see.
func (c *scenery) list(states map[string]string) {
	c.t.Helper()
	area := c.word(`SELECT public_id FROM rentals WHERE key = $1`, states["live, html"])
	gone := c.word(`SELECT public_id FROM rentals WHERE key = $1`, states["ended"])
	add := func(who *tab, status int64, pages ...string) {
		for i := 0; i < len(pages); i += 2 {
			again := strings.HasPrefix(pages[i], "rental, live") && !strings.HasSuffix(pages[i], "html")
			c.pages = append(c.pages, view{who, who.name + ": " + pages[i], pages[i+1], status, again})
		}
	}
	query := url.QueryEscape(c.texts["html"])
	add(c.visitor, 0, "canvas", "/", "areas", "/areas", "a search", "/areas?q="+query, "no such area", "/areas?q=nothing+like+it",
		"an area", "/areas/"+area, "about", "/about", "sign in", "/login", "sign in, sent", "/login?sent=1", "admin's sign-in", "/admin/login",
		"account", "/account")
	add(c.visitor, 404, "nothing there", "/nothing/"+query, "somebody's rental", "/rentals/"+states["held"], "no rental", "/rentals/"+query)
	add(c.visitor, 410, "an area that was", "/areas/"+gone, "a link that is over", "/login/"+query)
	add(c.visitor, 401, "admins only", "/admin/")
	add(c.buyer, 0, "canvas", "/", "account", "/account", "mails", "/dev/mail", "clock", "/dev/clock")
	for name, key := range states {
		add(c.buyer, 0, "rental, "+name, "/rentals/"+key)
	}
	for _, id := range strings.Fields(c.word(`SELECT string_agg(id::text, ' ') FROM (SELECT DISTINCT ON (kind) id FROM mails ORDER BY kind, id DESC) m`)) {
		add(c.buyer, 0, "a mail", "/dev/mail/"+id)
	}
	add(c.admin, 0, "queue", "/admin/reviews", "rentals", "/admin/rentals", "payments", "/admin/payments", "anomalies", "/admin/anomalies",
		"blocked areas", "/admin/blocked", "admins", "/admin/admins", "a live rental", "/admin/rentals/"+states["live, html"],
		"a rejected rental", "/admin/rentals/"+states["rejected"], "a paying rental", "/admin/rentals/"+states["paying"], "home", "/admin/",
		"all anomalies", "/admin/anomalies?show=all", "a disputed rental", "/admin/rentals/"+states["disputed"],
		"a refund outstanding", "/admin/rentals/"+states["refund outstanding"], "a rental that ended", "/admin/rentals/"+states["ended"])
}

// word asks the database for a text.
func (s *site) word(sql string, args ...any) string {
	s.t.Helper()
	var w string
	if err := s.pool.QueryRow(s.t.Context(), sql, args...).Scan(&w); err != nil {
		s.t.Fatal(err)
	}
	return w
}

// see opens a page.
func (v view) see() {
	v.who.t.Helper()
	v.who.expected = nil
	if v.status != 0 {
		v.who.expected = []refusal{{v.status, v.path}}
	}
	v.who.open(v.path)
	v.who.wait(`document.documentElement.matches(".js") && document.fonts.status === "loaded"`)
}
