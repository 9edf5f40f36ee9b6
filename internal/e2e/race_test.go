package e2e

import (
	"fmt"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// twoWantTheSame: two people hold the same blocks at the same moment. One has
// them; the other is told so, sees free places lit on the canvas, and has one of
// them with one click.
func twoWantTheSame(s *site) {
	place := rect{40, 40, 6, 4}
	a, b := s.person("first", desktop()), s.person("second", desktop())
	for _, p := range []*tab{a, b} {
		p.expected = []refusal{{409, "/holds"}}
		p.canvas("/")
		p.drags(place)
		p.wait(`document.getElementById("quote-state").textContent === "All free."`)
		p.js(`document.getElementById("hold-button").focus()`)
	}
	together(a, b)
	for _, p := range []*tab{a, b} {
		p.wait(`location.pathname.startsWith("/rentals/") || document.querySelector("#hold-panel[data-outcome=taken]")`)
	}
	loser, winner := a, b
	if strings.Contains(a.address(), "/rentals/") {
		loser, winner = b, a
	}
	s.heldAs(winner.rental(), place)
	s.counts(1, `SELECT count(*) FROM rentals WHERE x < 46 AND x + w > 40 AND y < 44 AND y + h > 40`)

	loser.selected(place, "after the refusal")
	loser.says("Somebody was faster", "Nothing was held for you", "The nearest free places of this size")
	loser.wait(`document.activeElement.closest("#hold-panel") && document.activeElement.matches("[role=alert], [role=alert] *")`)
	free := loser.offered()
	for i, r := range free {
		loser.wait(fmt.Sprintf(`%s === %q`, pixel("#stage canvas", float64(r.x)+float64(r.w)/2-.8, float64(r.y)+float64(r.h)/2, 100), loser.accent()))
		if r.w != place.w || r.h != place.h {
			s.t.Errorf("place %d has another size: %+v", i, r)
		}
	}
	loser.click("[data-suggestion] button")
	s.heldAs(loser.rental(), free[0])
}

// together presses Enter in all tabs at once.
func together(tabs ...*tab) {
	var ready, all sync.WaitGroup
	ready.Add(len(tabs))
	for _, b := range tabs {
		all.Go(func() {
			ready.Done()
			ready.Wait()
			if err := chromedp.Do(b.ctx, chromedp.KeyEvent("\r")); err != nil {
				b.t.Errorf("%s: %v", b.name, err)
			}
		})
	}
	all.Wait()
}

// offered are the places that the page offers instead.
func (b *tab) offered() []rect {
	b.t.Helper()
	all := get[[]string](b, `[...document.querySelectorAll("[data-suggestion]")].map((f) => f.dataset.suggestion)`)
	if len(all) == 0 {
		b.t.Fatal("nothing is offered")
	}
	var rects []rect
	for _, text := range all {
		var r rect
		if _, err := fmt.Sscanf(text, "%d,%d,%d,%d", &r.x, &r.y, &r.w, &r.h); err != nil {
			b.t.Fatalf("%s: %v", text, err)
		}
		rects = append(rects, r)
	}
	return rects
}

// accent is the page's accent colour, "r,g,b,255".
func (b *tab) accent() string {
	b.t.Helper()
	return get[string](b, `(() => {
		const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
		pen.fillStyle = getComputedStyle(document.querySelector("#stage canvas")).getPropertyValue("--accent");
		pen.fillRect(0, 0, 1, 1);
		return [...pen.getImageData(0, 0, 1, 1).data].join();
	})()`)
}
