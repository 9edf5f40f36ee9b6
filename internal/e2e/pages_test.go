package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/text/unicode/norm"
)

// TestEveryPage walks all pages as visitor, buyer and admin, on a site where every
// field holds a text that wants to be markup: nothing of it comes alive, the policy
// is never violated, the console stays empty, and axe finds nothing, in the light and
// in the dark, on a desktop and on a phone.
func TestEveryPage(t *testing.T) {
	c := scene(t)
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range c.pages {
		v.see()
		v.who.harmless(v)
		if v.again {
			continue
		}
		v.who.do(chromedp.Evaluate[chromedp.Void](string(axe) + "; undefined"))
		v.who.js(`for (const fold of document.querySelectorAll("details")) fold.open = true`)
		for _, on := range []screen{desktop(), dark(desktop()), dark(small()), small()} {
			v.who.screen(on)
			v.who.accessible(v, on)
		}
		v.who.screen(desktop())
	}
	c.textsAreText()
}

// harmless fails the test if a text has become more than one.
func (b *tab) harmless(v view) {
	b.t.Helper()
	alive := get[[]string](b, `[
		...document.querySelectorAll("[hx-get], [hx-trigger], [onerror], [onload], main script, main style, main iframe"),
		...[...document.querySelectorAll(".typed *")].filter((e) => !/^(A|B|BR|SPAN|TIME)$/.test(e.tagName) || e.textContent === "x"),
	].map((e) => e.outerHTML.slice(0, 200))`)
	for _, e := range alive {
		b.t.Errorf("%s: this is alive: %s", v.name, e)
	}
	if title := get[string](b, "document.title"); strings.Contains(title, "PWNED-MARK") && !strings.Contains(title, "<script>") {
		b.t.Errorf("%s: the title is %q", v.name, title)
	}
}

func dark(s screen) screen {
	s.dark = true
	return s
}

// small is a phone with fewer pixels to judge.
func small() screen { return screen{width: 360, height: 780, ratio: 1, touch: true} }

// accessible fails the test for whatever axe finds on the page. What does not hang
// on colours is the same in the light and in the dark.
func (b *tab) accessible(v view, on screen) {
	b.t.Helper()
	defer b.slow(time.Now(), "axe on "+v.name)
	rules := ""
	if on.dark != on.touch {
		rules = `runOnly: ["color-contrast", "link-in-text-block"],`
	}
	found := get[[]string](b, `axe.run(document, { `+rules+` resultTypes: ["violations"], preload: false }).then(({ violations }) =>
		violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 150) + " " + n.failureSummary).join(" | ")))`)
	for _, line := range found {
		b.t.Errorf("axe on %s, %d px, dark %t: %s", v.name, on.width, on.dark, line)
	}
}

// textsAreText looks at what people read: the very texts, on the pages and on the
// card beside the canvas.
func (c *scenery) textsAreText() {
	c.t.Helper()
	b := c.visitor
	b.expected = nil
	b.open("/areas")
	for name, text := range c.texts {
		if name != "crlf_header" { // one line by now
			b.says(norm.NFC.String(text))
		}
	}
	b.canvas("/")
	live := get[rect2](b, `fetch("/api/v1/board").then((a) => a.json()).then((j) => j.areas.find((a) => a.title?.includes("PWNED")))`)
	b.hover(b.at(live.X+1, live.Y+1))
	b.wait(fmt.Sprintf(`document.querySelector("#area-card b")?.textContent === %q`, c.texts["html"]))
	if title := get[string](b, "document.title"); strings.Contains(title, "PWNED") {
		c.t.Errorf("the title is %q", title)
	}
}

type rect2 struct{ X, Y int }
