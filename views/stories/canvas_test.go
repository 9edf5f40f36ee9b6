package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// One browser for all: starting it is what takes the time.
func TestCanvasPage(t *testing.T) {
	b := newTab(t)
	for name, test := range map[string]func(*tab){
		"drags mean the same blocks everywhere": (*tab).drags,
		"the keyboard alone":                    (*tab).keyboard,
		"fingers":                               (*tab).fingers,
		"the address selects, the form leads":   (*tab).addressAndForm,
		"a selection that was just taken":       (*tab).justTaken,
	} {
		t.Run(name, func(t *testing.T) {
			inner := *b
			inner.t = t
			test(&inner)
		})
	}
}

// drags: in every setting of screen, pixel ratio, scrolling and zoom, the blocks that
// are dragged over are those that the form names.
func (b *tab) drags() {
	for _, screen := range []struct {
		width, height int64
		ratio         float64
		scroll        int
	}{
		{1440, 900, 1, 0}, {1440, 900, 2, 60}, {960, 600, 1.5, 120}, {360, 780, 3, 90}, {1800, 1125, 0.8, 0}, {2880, 1800, 0.5, 0},
	} {
		b.t.Logf("%d x %d at %g", screen.width, screen.height, screen.ratio)
		b.open("empty", screen.width, screen.height, screen.ratio, false)
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("scrollTo(0, %d)", screen.scroll)))
		b.dragsInAllDirections()
		b.dragsBeyondTheEdges()
		b.dragsThatAreBrokenOff()
		b.zoomedClicks()
	}
}

func (b *tab) dragsInAllDirections() {
	b.t.Helper()
	nw, ne, sw, se := b.at(20, 30), b.at(33, 30), b.at(20, 41), b.at(33, 41)
	for name, d := range map[string][2]point{"nw-se": {nw, se}, "se-nw": {se, nw}, "ne-sw": {ne, sw}, "sw-ne": {sw, ne}} {
		b.drag(d[0], b.at(27, 35), d[1])
		b.wants("21,31,14,12", name)
	}
	b.drag(b.at(60, 20))
	b.wants("61,21,1,1", "a click")
}

func (b *tab) dragsBeyondTheEdges() {
	b.t.Helper()
	from := b.at(90, 30)
	b.drag(from, point{from.X + 5000, from.Y})
	b.wants("91,31,10,1", "let go far to the right")
	b.drag(b.at(4, 22), point{-300, -500})
	b.wants("1,1,5,23", "let go above the window")
	b.mouse("hover", b.at(70, 40))
	b.wants("1,1,5,23", "moving on with nothing pressed")
}

func (b *tab) dragsThatAreBrokenOff() {
	b.t.Helper()
	b.drag(b.at(40, 30), b.at(44, 34))
	b.press(b.at(60, 30), b.at(70, 40))
	b.do(chromedp.KeyEvent("\u001b"))
	b.wants("41,31,5,5", "Escape brings back what was selected")
	b.mouse("mouseMoved", b.at(80, 44))
	b.mouse("mouseReleased", b.at(80, 44))
	b.wants("41,31,5,5", "the rest of an ended drag")
	b.press(b.at(60, 30), b.at(70, 40))
	b.do(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("blur"))`))
	b.mouse("mouseMoved", b.at(80, 44))
	b.mouse("mouseReleased", b.at(80, 44))
	b.wants("61,31,11,11", "another window came to the front")
}

// zoomedClicks turns the wheel over a block and clicks where it was.
func (b *tab) zoomedClicks() {
	b.t.Helper()
	for _, c := range [][2]int{{0, 20}, {99, 40}, {47, 33}} {
		b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("zoom-all").click()`))
		p := b.at(c[0], c[1])
		for range 6 {
			call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseWheel", X: p.X, Y: p.Y, DeltaX: .01, DeltaY: -150})
		}
		b.wait(`document.querySelector("#stage canvas").hasAttribute("data-hold")`)
		b.drag(p)
		b.wants(fmt.Sprintf("%d,%d,1,1", c[0]+1, c[1]+1), "a click under the wheel")
	}
}

func (b *tab) keyboard() {
	b.open("busy", 1440, 900, 1, false)
	b.do(chromedp.Focus(chromedp.CSS("#stage canvas")))
	const left, up, right, down = "\u0302", "\u0304", "\u0303", "\u0301"
	shift, ctrl := chromedp.KeyModifiers(chromedp.ModifierShift), chromedp.KeyModifiers(chromedp.ModifierCtrl)
	for _, k := range []struct {
		keys string
		how  []chromedp.KeyOption
		want string
	}{
		{right, nil, "51,51,1,1"},
		{right, nil, "52,51,1,1"},
		{down, nil, "52,52,1,1"},
		{right, []chromedp.KeyOption{shift}, "52,52,2,1"},
		{down, []chromedp.KeyOption{chromedp.KeyModifiers(chromedp.ModifierShift, chromedp.ModifierCtrl)}, "52,52,2,11"},
		{left, []chromedp.KeyOption{ctrl}, "42,52,2,11"},
		{up, []chromedp.KeyOption{ctrl}, "42,42,2,11"},
		{"+", nil, "42,42,2,11"},
		{"0", nil, "42,42,2,11"},
	} {
		b.do(chromedp.KeyEvent(k.keys, k.how...))
		b.wants(k.want, fmt.Sprintf("key %q", k.keys))
	}
	b.wait(`document.getElementById("canvas-status").textContent.includes("columns 42 to 43, rows 42 to 52")`)
	said := get[string](b, `document.getElementById("canvas-status").textContent`)
	if !strings.Contains(said, "2,200.00 USD a week") {
		b.t.Errorf("said %q", said)
	}
	b.do(chromedp.KeyEvent("\r"))
	if id := get[string](b, "document.activeElement.id"); id != "hold-button" {
		b.t.Errorf("Enter leads to %q", id)
	}
}

func (b *tab) fingers() {
	b.open("busy", 360, 780, 3, true)
	b.tap(b.at(40, 80))
	b.wants("41,81,1,1", "the first corner")
	b.tap(b.at(45, 86))
	b.wants("41,81,6,7", "the second corner")
	b.pinch()
	b.wait(`document.querySelector("#stage canvas").hasAttribute("data-hold")`)
	b.slide(b.at(50, 50), 8, 4)
	b.wants("41,81,6,7", "pinching and moving")
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("zoom-all").click(); document.getElementById("select-mode").click()`))
	b.touch("touchStart", b.at(80, 66))
	for _, c := range [][2]int{{75, 62}, {70, 60}, {66, 57}} {
		b.touch("touchMove", b.at(c[0], c[1]))
	}
	b.touch("touchEnd")
	b.wants("67,58,15,10", "dragging with Select on")
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("select-mode").click()`))
	b.slide(b.at(30, 90), 0, -12)
	b.wait("scrollY > 20")
	b.wants("67,58,15,10", "scrolling the page with a finger on the canvas")
}

func (b *tab) slide(from point, dx, dy float64) {
	b.t.Helper()
	b.touch("touchStart", from)
	for i := range 10 {
		b.touch("touchMove", point{from.X + dx*float64(i+1), from.Y + dy*float64(i+1)})
	}
	b.touch("touchEnd")
}

func (b *tab) pinch() {
	b.t.Helper()
	left, right := b.at(45, 50), b.at(55, 50)
	b.touch("touchStart", left)
	b.touch("touchStart", left, right)
	for i := range 10 {
		d := 6 * float64(i+1)
		b.touch("touchMove", point{left.X - d, left.Y}, point{right.X + d, right.Y})
	}
	b.touch("touchEnd")
}

func (b *tab) addressAndForm() {
	b.open("empty#95,0,5,3", 1440, 900, 1, false)
	b.wants("96,1,5,3", "the address")
	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const { w } = document.getElementById("hold-form").elements;
		w.value = "6";
		w.dispatchEvent(new Event("input", { bubbles: true }));
	})()`))
	b.wait(`document.getElementById("quote-price").hidden && location.hash === ""`)
	b.wants("96,1,6,3", "what cannot be is kept for its owner to mend")
}

// justTaken: somebody else takes blocks that are selected here: that is said and shown
// before anything is sent.
func (b *tab) justTaken() {
	b.open("busy#70,70,3,3", 1440, 900, 1, false)
	b.wait(`document.getElementById("quote-state").textContent === "All free."`)
	b.do(chromedp.Evaluate[chromedp.Void](`fetch("/fake/take?x=71&y=71&w=2&h=1", { method: "POST" }).then(() => dispatchEvent(new Event("online")))`))
	b.wait(`document.getElementById("quote-state").textContent.includes("just taken 2 of these 9 blocks")`)
}
