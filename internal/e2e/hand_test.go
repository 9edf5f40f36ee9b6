package e2e

import (
	"fmt"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// point is on the screen, in CSS pixels.
type point struct{ X, Y float64 }

func (p point) by(dx, dy float64) point { return point{p.X + dx, p.Y + dy} }

// sheet is where the canvas lies on the screen.
type sheet struct{ X, Y, Size float64 }

func (b *tab) sheet() sheet {
	b.t.Helper()
	return get[sheet](b, `(() => {
		const r = document.querySelector("#stage canvas").getBoundingClientRect();
		return { X: r.x, Y: r.y, Size: r.width };
	})()`)
}

// at is the middle of a block, when the whole canvas is shown.
func (s sheet) at(x, y int) point {
	return point{s.X + (float64(x)+.5)*s.Size/100, s.Y + (float64(y)+.5)*s.Size/100}
}

// at is the middle of a block on the screen, where that lies now.
func (b *tab) at(x, y int) point {
	b.t.Helper()
	return b.sheet().at(x, y)
}

// middle is the middle of an element on the screen, once it is scrolled there and
// nothing covers it.
func (b *tab) middle(selector string) point {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e?.checkVisibility() || e.matches(":disabled")) return false;
		const r = e.getBoundingClientRect();
		if (r.top < 0 || r.bottom > innerHeight) e.scrollIntoView({ block: "center", behavior: "instant" });
		const m = e.getBoundingClientRect();
		const top = document.elementFromPoint(m.x + m.width / 2, m.y + m.height / 2);
		return top && (e.contains(top) || top.closest("label")?.contains(e));
	})()`, selector))
	return get[point](b, fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect();
		return { X: r.x + r.width / 2, Y: r.y + r.height / 2 };
	})()`, selector))
}

// click presses the mouse in the middle of an element.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.drag(b.middle(selector))
}

// doubleClick presses twice, as quickly as the browser takes it.
func (b *tab) doubleClick(selector string) {
	b.t.Helper()
	p := b.middle(selector)
	for n := range 2 {
		for _, kind := range []input.DispatchMouseEventType{"mousePressed", "mouseReleased"} {
			call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: p.X, Y: p.Y, Button: "left", ClickCount: int64(n + 1)})
		}
	}
}

func (b *tab) mouse(kind input.DispatchMouseEventType, p point) {
	b.t.Helper()
	params := input.DispatchMouseEventParams{Type: kind, X: p.X, Y: p.Y, Button: "left", ClickCount: 1}
	if kind != input.DispatchMouseEventTypeMouseReleased {
		params.Buttons = 1
	}
	call(b, input.DispatchMouseEvent, params)
}

func (b *tab) hover(p point) {
	b.t.Helper()
	call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseMoved", X: p.X, Y: p.Y})
}

// hold presses at the first point and passes the others.
func (b *tab) hold(points ...point) {
	b.t.Helper()
	b.hover(points[0])
	b.mouse("mousePressed", points[0])
	for _, p := range points[1:] {
		b.mouse("mouseMoved", p)
	}
}

// drag presses at the first point, passes the others and lets go at the last.
func (b *tab) drag(points ...point) {
	b.t.Helper()
	b.hold(points...)
	b.mouse("mouseReleased", points[len(points)-1])
}

// drags selects a rect by its corner blocks.
func (b *tab) drags(r rect) {
	b.t.Helper()
	on := b.sheet()
	b.drag(on.at(r.x, r.y), on.at(r.x+r.w/2, r.y+r.h/2), on.at(r.x+r.w-1, r.y+r.h-1))
}

// fingers tells where fingers are now; none at the end. A hand has a clock of its
// own, so that a busy machine turns no tap into a long press: one event every 16 ms,
// and before the end a rest, so that nothing flies on.
func (b *tab) fingers(kind input.DispatchTouchEventType, points ...point) {
	b.t.Helper()
	touched := []*input.TouchPoint{}
	for i, p := range points {
		touched = append(touched, &input.TouchPoint{X: p.X, Y: p.Y, ID: new(float64(i))})
	}
	now := float64(time.Now().UnixMicro()) / 1e6
	switch kind {
	case "touchStart":
		b.hand = max(b.hand+.4, now)
	case "touchEnd":
		b.hand += .2
	default:
		b.hand += .016
	}
	call(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: touched, Timestamp: input.TimeSinceEpoch(b.hand)})
}

func (b *tab) tap(p point) {
	b.t.Helper()
	b.fingers("touchStart", p)
	b.fingers("touchEnd")
}

// swipe moves one finger in ten steps.
func (b *tab) swipe(from point, dx, dy float64) {
	b.t.Helper()
	b.fingers("touchStart", from)
	for i := range 10 {
		b.fingers("touchMove", from.by(dx*float64(i+1)/10, dy*float64(i+1)/10))
	}
	b.fingers("touchEnd")
}

// form is what the four fields say: that is what would be held.
func (b *tab) form() string {
	b.t.Helper()
	return get[string](b, `["col", "row", "w", "h"].map((n) => document.getElementById("hold-form").elements[n].value).join(",")`)
}

// selected fails the test unless exactly this is selected.
func (b *tab) selected(r rect, what string) {
	b.t.Helper()
	if got := b.form(); got != r.form() {
		b.t.Errorf("%s: %s: the form says %q, want %q", b.name, what, got, r.form())
	}
}

// pixel is an expression for the colour of a pixel of a <canvas>, "r,g,b,a": the
// pixel at x, y of the given number of columns. It looks at a copy, since looking
// at a canvas itself changes how it is drawn from then on.
func pixel(selector string, x, y, columns float64) string {
	return fmt.Sprintf(`((c) => {
		const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
		copy.drawImage(c, -Math.floor(%[2]g * c.width / %[4]g), -Math.floor(%[3]g * c.width / %[4]g));
		return [...copy.getImageData(0, 0, 1, 1).data].join();
	})(document.querySelector(%[1]q))`, selector, x, y, columns)
}

// paints waits until the canvas shows a colour at a point counted in blocks.
func (b *tab) paints(x, y float64, rgb string) {
	b.t.Helper()
	b.wait(pixel("#stage canvas", x, y, 100) + ` === "` + rgb + `,255"`)
}

// files puts a file into a field.
func (b *tab) files(selector, path string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(selector), []string{path}))
}
