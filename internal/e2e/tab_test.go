package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// patience bounds every wait; only a test that fails comes near it.
const patience = 2 * time.Minute

// screen is what a person looks at.
type screen struct {
	width, height int64
	ratio         float64
	touch, dark   bool
}

func desktop() screen { return screen{width: 1440, height: 900, ratio: 1} }
func phone() screen   { return screen{width: 360, height: 780, ratio: 3, touch: true} }

// tab is a page in a person's browser.
type tab struct {
	t    *testing.T
	site *site
	ctx  context.Context
	hand float64 // when its fingers moved last, seconds since the epoch
	*record
}

// person opens a tab in a browser profile of its own, on the given screen.
func (s *site) person(name string, on screen) *tab {
	s.t.Helper()
	return s.tab(name, browser(s.t), on, chromedp.WithNewBrowserContext())
}

// another opens one more tab of the same person.
func (b *tab) another(name string, on screen) *tab {
	b.t.Helper()
	return b.site.tab(name, b.ctx, on)
}

func (s *site) tab(name string, parent context.Context, on screen, how ...chromedp.ContextOption) *tab {
	s.t.Helper()
	r := &record{name: name, origins: []string{s.base + "/", "http://127.0.0.1:", "about:"}}
	ctx, stop := chromedp.NewContext(parent, append(how, chromedp.WithListener(r.hear))...)
	b := &tab{t: s.t, site: s, ctx: ctx, record: r}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			b.tell()
		}
		stop()
		r.report(s.t)
	})
	b.do()
	b.screen(on)
	return b
}

// tell shows where a failed test was.
func (b *tab) tell() {
	ctx, stop := context.WithTimeout(b.ctx, 5*time.Second)
	defer stop()
	words, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 3000)`))
	b.t.Logf("%s was at %s (%v)", b.name, words, err)
}

func (b *tab) screen(on screen) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: on.width, Height: on.height, DeviceScaleFactor: on.ratio, Mobile: on.touch,
	})
	call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: on.touch, MaxTouchPoints: 5})
	scheme := "light"
	if on.dark {
		scheme = "dark"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"}, // colours are what they are going to be
	}})
	// Each tab believes that it has the focus, as if it were the only one.
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if len(steps) == 0 {
		ctx = b.ctx // the tab lives as long as the context of its first run
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", b.name, err)
	}
}

func call[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	result, err := chromedp.Call(ctx, c, params)
	if err != nil {
		b.t.Fatalf("%s: %s: %v", b.name, c.Method, err)
	}
	return result
}

// get asks the page.
func get[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %s: %v", b.name, expression, err)
	}
	return v
}

// js lets the page do something.
func (b *tab) js(statement string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](statement, chromedp.EvalAwaitPromise))
}

// wait returns when an expression is true in the page, whichever it is by then: a
// question that a new page interrupts, or an old one takes along into the
// back/forward cache, is asked again.
func (b *tab) wait(expression string) {
	b.t.Helper()
	question := fmt.Sprintf(`new Promise((done) => {
		const late = performance.now() + 1000;
		const look = () => {
			let yes = false;
			try { yes = Boolean(%s); } catch { /* not yet */ }
			if (yes || performance.now() > late) done(yes);
			else setTimeout(look, 10);
		};
		look();
	})`, expression)
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	defer b.slow(time.Now(), expression)
	for {
		once, over := context.WithTimeout(ctx, 2*time.Second)
		yes, err := chromedp.Run(once, chromedp.Evaluate[bool](question, chromedp.EvalAwaitPromise))
		over()
		if yes && err == nil {
			return
		}
		wrong := new(chromedp.ExceptionError)
		if ctx.Err() != nil || errors.As(err, &wrong) {
			b.t.Fatalf("%s: waiting for %s: %v", b.name, expression, err)
		}
	}
}

// slow tells, with -v, what the time of a test goes into.
func (b *tab) slow(began time.Time, what string) {
	if d := time.Since(began); d > time.Second {
		b.t.Logf("%s waited %v for %s", b.name, d.Round(10*time.Millisecond), what)
	}
}

// found is an expression for whether words are to be read on the page.
func found(words string) string {
	return fmt.Sprintf(`document.body.innerText.replace(/\s+/g, " ").includes(%q)`, words)
}

// says waits until the words are to be read on the page.
func (b *tab) says(words ...string) {
	b.t.Helper()
	for _, w := range words {
		b.wait(found(w))
	}
}

// open goes to an address and waits until the page stands, with its scripts.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site.base + path))
	b.wait(`document.readyState === "complete"`)
}

// canvas opens the first page and waits until the drawing surface answers and
// knows the board.
func (b *tab) canvas(path string) {
	b.t.Helper()
	b.open(path)
	b.ready()
}

func (b *tab) ready() {
	b.t.Helper()
	b.wait(`document.querySelector("#stage[data-ready]") && performance.getEntriesByType("resource").some((e) => e.name.includes("/api/v1/board") && e.responseEnd)`)
}

var rentalPath = regexp.MustCompile(`/rentals/([^/?#]+)$`)

// arrive waits until the page of an address that ends so (a regular expression of
// JavaScript) stands.
func (b *tab) arrive(path string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`new RegExp(%q).test(location.href) && document.readyState === "complete"`, path))
}

// rental waits for the page of a rental and returns its key.
func (b *tab) rental() string {
	b.t.Helper()
	b.arrive(`/rentals/[^/?#]+$`)
	return rentalPath.FindStringSubmatch(b.address())[1]
}

func (b *tab) address() string {
	b.t.Helper()
	history := call(b, page.GetNavigationHistory, cdp.Empty{})
	return history.Entries[history.CurrentIndex].URL
}

// write types into a field, in place of what stands there.
func (b *tab) write(selector, words string) {
	b.t.Helper()
	b.js(fmt.Sprintf(`((e) => { e.focus(); e.select(); })(document.querySelector(%q))`, selector))
	call(b, input.InsertText, input.InsertTextParams{Text: words})
}

func (b *tab) press(keys string, how ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, how...))
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return get[string](b, fmt.Sprintf(`document.querySelector(%q).textContent.replace(/\s+/g, " ").trim()`, selector))
}

// follow clicks a link that opens a tab of its own and returns when that one is
// where it should be.
func (b *tab) follow(selector, want string) {
	b.t.Helper()
	opened := chromedp.WaitNewTarget(b.ctx, func(i *target.Info) bool { return i.Type == "page" })
	b.click(selector)
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithTargetID(<-opened))
	defer stop()
	other := &tab{t: b.t, site: b.site, ctx: ctx, record: &record{name: b.name + "'s other tab"}}
	other.do()
	other.wait(fmt.Sprintf(`location.href === %q && document.readyState === "complete"`, want))
}

// conditions are those of the network, as every Chromium knows them.
type conditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"` // milliseconds
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

// network changes what lies between the tab and the site.
func (b *tab) network(c conditions) {
	b.t.Helper()
	c.Download, c.Upload = -1, -1
	call(b, cdp.Command[conditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}, c)
}

// slowly makes every answer take that many milliseconds more; 0: as it is.
func (b *tab) slowly(ms float64) {
	b.t.Helper()
	b.network(conditions{Latency: ms})
}
