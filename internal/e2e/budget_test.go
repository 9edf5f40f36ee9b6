package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"image"
	"image/color"
	"math"
	"testing"
)

// What the first page may weigh, in bytes on the wire, and ask for before its
// largest paint.
const (
	mostJS       = 25_000
	mostCSS      = 8_000
	mostHTML     = 20_000
	mostPicture  = 150_000
	mostRequests = 6
)

// loaded is what a browser that had never been here measured.
type loaded struct {
	HTML, JS, CSS, Picture int
	Before                 int     // requests that began before what is painted then was there, the page's own included
	Largest                float64 // ms after the request of the page
	What                   string  // was painted then
	Shift                  float64
}

const measure = `(async () => {
	const entries = (type) => new Promise((done) => {
		const watch = new PerformanceObserver((list) => { watch.disconnect(); done(list.getEntries()); });
		watch.observe({ type, buffered: true });
		setTimeout(done, 300, []);
	});
	const paints = await entries("largest-contentful-paint"), shifts = await entries("layout-shift");
	const [page] = performance.getEntriesByType("navigation");
	const files = performance.getEntriesByType("resource");
	const size = (end) => files.filter((f) => new URL(f.name).pathname.endsWith(end)).reduce((sum, f) => sum + f.encodedBodySize, 0);
	const largest = paints.at(-1);
	// All of it is there when the page has loaded; its pixels reach the screen later.
	const there = Math.min(largest.startTime, page.loadEventStart);
	return {
		HTML: page.encodedBodySize, JS: size(".js"), CSS: size(".css"), Picture: size(".webp"),
		Before: 1 + files.filter((f) => f.startTime < there).length,
		Largest: largest.startTime, What: largest.element?.outerHTML.slice(0, 80) ?? largest.url,
		Shift: shifts.reduce((sum, s) => sum + s.value, 0),
	};
})()`

// TestBudgets holds the first page to its budgets, on a canvas with large and
// busy pictures.
func TestBudgets(t *testing.T) {
	s := serve(t, roomy()...)
	b := s.person("buyer", desktop())
	b.open("/about")
	for i := range 2 {
		r := rect{40 * i, 10, 30, 33}
		key := b.paid(r, "2")
		b.send("/rentals/"+key+"/creative", map[string]string{
			"image": base64.StdEncoding.EncodeToString(encoded(t, hills(300, 330, float64(i)))),
			"link":  "https://shop.example/", "title": "Hills", "alt": "Hills in the evening", "fit": "cover", "request_id": rand.Text(),
		})
		s.decide(key, "")
	}
	for _, on := range []screen{desktop(), phone()} {
		visitor := s.person("visitor", on)
		visitor.canvas("/")
		m := get[loaded](visitor, measure)
		t.Logf("%d px: HTML %d, JS %d, CSS %d, picture %d bytes; %d requests before the largest paint at %.0f ms (%s)",
			on.width, m.HTML, m.JS, m.CSS, m.Picture, m.Before, m.Largest, m.What)
		for what, c := range map[string][2]int{
			"HTML": {m.HTML, mostHTML}, "JS": {m.JS, mostJS}, "CSS": {m.CSS, mostCSS}, "the first picture": {m.Picture, mostPicture},
			"requests before the largest paint": {m.Before, mostRequests},
		} {
			if c[0] > c[1] || c[0] == 0 {
				t.Errorf("%d px: %s: %d, at most %d", on.width, what, c[0], c[1])
			}
		}
		if m.Shift != 0 {
			t.Errorf("%d px: the page shifts by %g", on.width, m.Shift)
		}
	}
}

// hills is a picture with as much in it as a photograph of a landscape has.
func hills(w, h int, seed float64) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			fx, fy := float64(x), float64(y)
			v := math.Sin(fx/17+seed) + math.Sin(fy/23+seed*2) + math.Sin((fx+fy)/31) + .6*math.Sin(fx*fy/1900+seed)
			img.SetNRGBA(x, y, color.NRGBA{R: level(v), G: level(v*math.Cos(seed) - .4), B: level(1 - v), A: 255})
		}
	}
	return img
}

func level(v float64) uint8 { return uint8(math.Min(255, math.Max(0, 128+v*48))) }
