package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// roomy lifts the limits on people, so that one can hold many places.
func roomy() []string {
	return []string{
		"TUVAL_MAX_HOLDS_PER_PERSON=100000", "TUVAL_MAX_HOLDS_PER_ADDRESS=100000", "TUVAL_MAX_BLOCKS_PER_ADDRESS=100000000",
		"TUVAL_BLOCK_MINUTES=1000000000", "TUVAL_HOLD_MINUTES=1000000000", "TUVAL_BLOCK_MINUTES_PER_ADDRESS=1000000000",
		"TUVAL_MAX_HELD_SHARE=1", "TUVAL_MAX_BLOCKS=10000",
	}
}

// TestCells: whatever the size of the window, the zoom of the browser, the pixels of
// the screen and the place of the page, the blocks that light up are those in the
// form, and those that the server holds.
func TestCells(t *testing.T) {
	s := serve(t, roomy()...)
	b := s.person("buyer", desktop())
	for i, c := range []struct {
		what   string
		on     screen
		scroll int
	}{
		{"a desktop", desktop(), 0},
		{"scrolled", desktop(), 70},
		{"zoomed to 50 %", screen{width: 2880, height: 1800, ratio: .5}, 0},
		{"zoomed to 80 %", screen{width: 1800, height: 1125, ratio: .8}, 0},
		{"zoomed to 125 %", screen{width: 1152, height: 720, ratio: 1.25}, 40},
		{"150 %, or a ratio of 1.5", screen{width: 960, height: 600, ratio: 1.5}, 130},
		{"zoomed to 200 %", screen{width: 720, height: 450, ratio: 2}, 200},
		{"a ratio of 3, narrow", screen{width: 360, height: 780, ratio: 3}, 120},
		{"as narrow as it gets", screen{width: 320, height: 640, ratio: 1}, 100},
	} {
		b.screen(c.on)
		b.canvas("/")
		b.js(fmt.Sprintf(`scrollTo({ top: %d, behavior: "instant" })`, c.scroll))
		b.fourDirections(c.what)
		b.beyondTheEdges(c.what)
		b.brokenOff(c.what)
		b.holdsWhatIsLit(c.what, rect{0 + 11*(i%9), 40 + i, 10, 3})
	}
	b.screen(desktop())
	for _, edge := range []rect{{0, 0, 3, 2}, {97, 98, 3, 2}, {0, 99, 1, 1}, {99, 0, 1, 1}} {
		b.canvas("/")
		b.holdsWhatIsLit("an edge", edge)
	}
	s.counts(13, `SELECT count(*) FROM rentals WHERE state = 'held'`)
}

// fourDirections: the corner where a drag begins makes no difference.
func (b *tab) fourDirections(what string) {
	b.t.Helper()
	on := b.sheet()
	r := rect{20, 30, 14, 12}
	nw, ne, sw, se := on.at(20, 30), on.at(33, 30), on.at(20, 41), on.at(33, 41)
	for way, ends := range map[string][2]point{"down right": {nw, se}, "up left": {se, nw}, "down left": {ne, sw}, "up right": {sw, ne}} {
		b.drag(ends[0], on.at(27, 35), ends[1])
		b.selected(r, what+", "+way)
	}
	b.drag(on.at(60, 28))
	b.selected(rect{60, 28, 1, 1}, what+", a click")
}

// beyondTheEdges: what is let go outside ends there, at the nearest block.
func (b *tab) beyondTheEdges(what string) {
	b.t.Helper()
	on := b.sheet()
	from := on.at(90, 30)
	b.drag(from, from.by(5000, 0))
	b.selected(rect{90, 30, 10, 1}, what+", let go far to the right")
	b.drag(on.at(4, 32), point{-300, on.at(4, 34).Y})
	b.selected(rect{0, 32, 5, 3}, what+", let go to the left of the window")
	b.hover(on.at(50, 36))
	b.selected(rect{0, 32, 5, 3}, what+", moving on with nothing pressed")
	tools := get[point](b, `(() => { const r = document.querySelector("#zoom-in").getBoundingClientRect(); return { X: r.x + 5, Y: r.y + 5 }; })()`)
	over := on.at(40, 38)
	b.drag(over, point{over.X, tools.Y})
	b.selected(rect{40, 38, 1, 62}, what+", let go over the tools")
}

// brokenOff: Escape brings back what was selected, and the rest of that drag is none.
func (b *tab) brokenOff(what string) {
	b.t.Helper()
	on := b.sheet()
	b.drag(on.at(40, 30), on.at(44, 34))
	b.hold(on.at(60, 30), on.at(70, 36))
	b.press(kb.Escape)
	b.mouse("mouseMoved", on.at(80, 38))
	b.mouse("mouseReleased", on.at(80, 38))
	b.selected(rect{40, 30, 5, 5}, what+", after Escape")
}

// holdsWhatIsLit drags a rect, looks at what is drawn, and holds it.
func (b *tab) holdsWhatIsLit(what string, r rect) {
	b.t.Helper()
	b.drags(r)
	b.selected(r, what)
	b.wait(`document.getElementById("quote-state").textContent.match(/^(All free|Free)/)`)
	b.lit(r, what)
	b.click("#hold-button")
	b.site.heldAs(b.rental(), r)
}

// lit waits until exactly the blocks of r are drawn as selected: those inside of
// each corner are coloured, their neighbours outside are not.
func (b *tab) lit(r rect, what string) {
	b.t.Helper()
	script := fmt.Sprintf(`(([x, y, w, h]) => {
		const c = document.querySelector("#stage canvas");
		const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
		copy.drawImage(c, 0, 0);
		const block = c.width / 100;
		const at = (bx, by) => [...copy.getImageData(Math.floor((bx + .5) * block), Math.floor((by + .5) * block), 1, 1).data].join();
		const cloth = at(50, 88);
		const inside = [[x, y], [x + w - 1, y], [x, y + h - 1], [x + w - 1, y + h - 1]];
		const q = Math.floor(w / 4);
		const outside = [[x + q, y - 1], [x + q, y + h], [x - 1, y], [x + w, y], [x - 1, y + h - 1], [x + w, y + h - 1]]
			.filter(([a, b]) => a >= 0 && b >= 0 && a < 100 && b < 100);
		return inside.every((p) => at(...p) !== cloth) && outside.every((p) => at(...p) === cloth);
	})([%d, %d, %d, %d])`, r.x, r.y, r.w, r.h)
	ctx := b.name
	b.name += " (" + what + ")"
	b.wait(script)
	b.name = ctx
}
