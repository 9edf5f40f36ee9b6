package e2e

import (
	"fmt"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keyboardAlone: from the address line to a paid rental with keys only. Each
// stop shows that it has the focus.
func keyboardAlone(s *site) {
	b := s.person("buyer", desktop())
	b.canvas("/")
	b.tabTo("#stage canvas")
	shift := chromedp.KeyModifiers(chromedp.ModifierShift)
	ctrl := chromedp.KeyModifiers(chromedp.ModifierCtrl)
	b.press(kb.ArrowDown) // the first key selects what is in the middle
	b.press(kb.ArrowLeft, ctrl)
	b.press(kb.ArrowUp)
	for range 3 {
		b.press(kb.ArrowRight, shift)
	}
	b.press(kb.ArrowDown, shift)
	place := rect{40, 49, 4, 2}
	b.selected(place, "by keys")
	b.speaks("4 × 2 blocks, columns 41 to 44, rows 50 to 51. 800.00 USD a week. All free.")

	b.press(kb.Escape)
	b.wait(`document.getElementById("hold-form").elements.col.value === ""`)
	b.press(kb.ArrowDown)
	b.press(kb.ArrowLeft, ctrl)
	b.press(kb.ArrowUp)
	for range 3 {
		b.press(kb.ArrowRight, shift)
	}
	b.press(kb.ArrowDown, shift)
	b.selected(place, "by keys once more")
	b.press(kb.Enter)
	b.focused("#hold-button")
	b.press(kb.Enter)
	s.heldAs(b.rental(), place)

	b.tabTo("[name=weeks]:checked")
	b.press(kb.ArrowRight)
	b.wait(`document.querySelector("[data-total]").textContent === document.querySelector("[name=weeks]:checked").dataset.text`)
	b.tabTo("#email")
	b.press("buyer@example.com")
	b.tabTo("form[data-checkout] .btn-primary")
	b.press(kb.Enter)
	b.arrive("/c/pay/")
	b.tabTo("button[value=pay]")
	b.press(kb.Enter)
	b.rental()
	b.says("Paid. Now your picture")
}

// keyboardMeetsOthers: what is taken is said, too.
func keyboardMeetsOthers(s *site) {
	other := s.person("somebody else", desktop())
	other.open("/about")
	other.held(rect{52, 50, 2, 2})
	b := s.person("buyer", desktop())
	b.canvas("/")
	b.tabTo("#stage canvas")
	b.press(kb.ArrowRight)
	b.press(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
	b.press(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
	b.selected(rect{50, 50, 3, 1}, "into what is held")
	b.speaks("1 of 3 blocks are not free.")
	b.speaks("Here: On hold")
}

// tabTo goes on with the Tab key until an element has the focus.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 80 {
		b.press(kb.Tab)
		b.ringed()
		if get[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
	}
	b.t.Fatalf("%s: the Tab key never comes to %s", b.name, selector)
}

// ringed fails the test unless whatever has the focus shows it: by a ring of its
// own or of what stands for it.
func (b *tab) ringed() {
	b.t.Helper()
	lost := get[string](b, `(() => {
		const e = document.activeElement;
		if (e === document.body) return "";
		const ring = (x) => { const s = getComputedStyle(x); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1.5; };
		const r = e.getBoundingClientRect();
		const onScreen = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
		return onScreen && (ring(e) || (e.parentElement && ring(e.parentElement))) ? "" : e.outerHTML.slice(0, 200);
	})()`)
	if lost != "" {
		b.t.Errorf("%s: nothing shows that this has the focus: %s", b.name, lost)
	}
}

func (b *tab) focused(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
	b.ringed()
}

// speaks waits until the polite status line says the words.
func (b *tab) speaks(words string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#canvas-status[role=status]").textContent.includes(%q)`, words))
}
