package e2e

import (
	"fmt"

	"github.com/chromedp/cdproto/input"
)

// fingersOnTheCanvas: what fingers do on the canvas of a phone, and that no scrolling ever
// selects or holds anything.
func fingersOnTheCanvas(s *site) {
	b := s.person("buyer", phone())
	before := s.count(`SELECT count(*) FROM rentals`)
	b.canvas("/")
	nothing := ",,,"

	b.swipe(b.at(50, 60), 0, -160)
	b.wait(`scrollY > 60`)
	b.isNothing(nothing, "one finger scrolls the page")
	b.js(`scrollTo(0, 0)`)
	b.wait(`scrollY === 0`)

	b.fingers("touchStart", b.at(30, 30))
	b.hand += .8
	b.fingers("touchEnd")
	b.isNothing(nothing, "a long press")

	b.pinches(b.at(45, 40), b.at(55, 40), 60)
	b.wait(`document.querySelector("#stage canvas").hasAttribute("data-hold")`)
	b.swipe(b.at(50, 50), 80, 40)
	b.isNothing(nothing, "pinching, and moving what is enlarged")
	b.tap(b.middle("#zoom-all"))
	b.wait(`!document.querySelector("#stage canvas").hasAttribute("data-hold")`)

	b.tap(b.at(20, 30))
	b.selected(rect{20, 30, 1, 1}, "the first corner")
	b.speaks("First corner set")
	b.tap(b.at(25, 33))
	b.selected(rect{20, 30, 6, 4}, "the opposite corner")

	b.tap(b.middle("#select-mode"))
	b.wait(`document.querySelector("#select-mode[aria-pressed=true]")`)
	b.fingers("touchStart", b.at(70, 40))
	for _, c := range [][2]int{{66, 38}, {62, 36}} {
		b.fingers("touchMove", b.at(c[0], c[1]))
	}
	b.screen(screen{width: 780, height: 360, ratio: 3, touch: true}) // turned in mid-drag
	b.fingers("touchEnd")
	b.wait(`innerWidth > innerHeight`)
	b.screen(phone())
	b.wait(`innerWidth < innerHeight`)

	b.js(`scrollTo(0, 0)`)
	b.fingers("touchStart", b.at(70, 40))
	for _, c := range [][2]int{{66, 38}, {63, 36}, {61, 35}} {
		b.fingers("touchMove", b.at(c[0], c[1]))
	}
	b.fingers("touchEnd")
	b.selected(rect{61, 35, 10, 6}, "drawn with Select on")
	b.tap(b.middle("#select-mode"))
	b.wait(`document.querySelector("#select-mode[aria-pressed=false]")`)

	s.counts(before, `SELECT count(*) FROM rentals`)
}

func (b *tab) isNothing(want, what string) {
	b.t.Helper()
	if got := b.form(); got != want {
		b.t.Errorf("%s selects %q", what, got)
	}
}

// pinches moves two fingers apart, each by that many pixels.
func (b *tab) pinches(left, right point, by float64) {
	b.t.Helper()
	b.fingers("touchStart", left)
	b.fingers("touchStart", left, right)
	for i := range 10 {
		d := by * float64(i+1) / 10
		b.fingers("touchMove", left.by(-d, 0), right.by(d, 0))
	}
	b.fingers("touchEnd")
}

// fewTouches is how many touches the way from the first page to the payment may
// take, typing the address apart.
const fewTouches = 9

// phonePurchase: a thumb buys a place, with few touches.
func phonePurchase(s *site) {
	b := s.person("buyer", phone())
	thumb := &thumb{tab: b}
	b.canvas("/")
	thumb.tapAt(b.at(20, 30))
	thumb.tapAt(b.at(25, 33))
	b.wait(`!document.getElementById("dock").hidden`)
	if said := b.text("#dock-text"); said != "6 × 4 · 2,400.00 USD a week" {
		s.t.Errorf("the bar at the foot says %q", said)
	}
	thumb.on("#dock button")
	s.heldAs(b.rental(), rect{20, 30, 6, 4})
	thumb.on("#email")
	call(b, input.InsertText, input.InsertTextParams{Text: "buyer@example.com"})
	thumb.on("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
	thumb.on("button[value=pay]")
	b.rental()
	b.says("Paid. Now your picture")
	if thumb.touches > fewTouches {
		s.t.Errorf("it took %d touches, more than %d", thumb.touches, fewTouches)
	}
	s.t.Logf("from the first page to a paid place: %d touches", thumb.touches)
}

// phoneLoses: after a lost race a tap on one of the numbers on the canvas chooses
// that place, and the bar at the foot holds it.
func phoneLoses(s *site) {
	other := s.person("somebody else", desktop())
	other.open("/about")
	other.held(rect{70, 60, 6, 4})
	b := s.person("buyer", phone())
	b.expected = []refusal{{409, "/holds"}}
	b.canvas("/#70,60,6,4")
	thumb := &thumb{tab: b}
	thumb.on("#dock button")
	b.says("Somebody was faster")
	free := b.offered()[1]
	b.js(`document.getElementById("stage").scrollIntoView({ block: "start", behavior: "instant" })`)
	b.tap(b.at(free.x+free.w/2, free.y+free.h/2))
	b.selected(free, "tapped on the canvas")
	thumb.on("#dock button")
	s.heldAs(b.rental(), free)
}

// thumb counts what it does.
type thumb struct {
	*tab
	touches int
}

func (h *thumb) tapAt(p point) {
	h.t.Helper()
	h.touches++
	h.tap(p)
}

// on taps an element. If it is not to be seen, a swipe of 500 pixels, or several,
// come first; they are counted here and tried in TestPhone.
func (h *thumb) on(selector string) {
	h.t.Helper()
	h.wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
	h.touches += get[int](h.tab, fmt.Sprintf(`(() => {
		const box = () => document.querySelector(%q).getBoundingClientRect();
		let swipes = 0;
		for (let r = box(); r.top < 0 || r.bottom > innerHeight; r = box(), swipes++) {
			const away = (r.top + r.bottom - innerHeight) / 2;
			scrollBy({ top: Math.min(Math.max(away, -500), 500), behavior: "instant" });
		}
		return swipes;
	})()`, selector))
	p := get[point](h.tab, fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect();
		const e = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		if (!e?.closest(%[1]q)) throw new Error("covered by " + e?.outerHTML.slice(0, 100));
		return { X: r.x + r.width / 2, Y: r.y + r.height / 2 };
	})()`, selector))
	h.tapAt(p)
}
