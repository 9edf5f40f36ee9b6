package e2e

import (
	"fmt"
	"image"
	"image/color"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tuval/internal/stripesim"
)

// quartered is a picture with red and green above, blue and yellow below, and a
// black stripe at the far left and right of it.
func quartered(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			img.SetNRGBA(x, y, quarter(x*8/w, x < w/2, y < h/2))
		}
	}
	return img
}

// quarters is the path of a file with that picture.
func quarters(t *testing.T, w, h int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "quarters.png")
	if err := os.WriteFile(path, encoded(t, quartered(w, h)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func quarter(eighth int, left, above bool) color.NRGBA {
	switch {
	case eighth == 0 || eighth == 7:
		return color.NRGBA{A: 255}
	case left && above:
		return color.NRGBA{R: 255, A: 255}
	case above:
		return color.NRGBA{G: 255, A: 255}
	case left:
		return color.NRGBA{B: 255, A: 255}
	}
	return color.NRGBA{R: 255, G: 255, A: 255}
}

// TestTheWholeWay: choosing, paying, sending a picture, its review, and what a
// visitor sees of it.
func TestTheWholeWay(t *testing.T) {
	s := serve(t)
	landing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!doctype html><title>Shop</title><link rel=icon href=data:,>Welcome to the shop"))
	}))
	t.Cleanup(landing.Close)
	link := strings.Replace(landing.URL, "127.0.0.1", "shop.example", 1) + "/from-tuval"
	place := rect{20, 30, 6, 4}

	buyer := s.person("buyer", desktop())
	buyer.choose(place)
	key := buyer.rental()
	s.heldAs(key, place)
	buyer.payLate()
	buyer.sendPicture(link)
	if t.Failed() {
		return
	}
	s.approveByKeys()
	s.visit(place, link)
	s.counts(1, `SELECT coalesce(sum(c.count), 0)::int FROM clicks c JOIN rentals r ON r.id = c.rental_id WHERE r.key = $1`, key)

	buyer.open("/rentals/" + key)
	buyer.says("On the canvas", "4 weeks", "9,600.00 USD")
}

// choose drags a place, sees its price and holds it.
func (b *tab) choose(r rect) {
	b.t.Helper()
	b.canvas("/")
	b.drags(r)
	b.selected(r, "dragged")
	b.wait(`document.getElementById("quote-price").textContent.includes("2,400.00 USD")`)
	b.wait(`document.getElementById("quote-state").textContent === "All free."`)
	b.wait(fmt.Sprintf(`location.hash === "#%d,%d,%d,%d"`, r.x, r.y, r.w, r.h))
	b.click("#hold-button")
}

// payLate pays for four weeks while neither webhook nor question tells of it, and
// sees "confirming" turn into paid by itself.
func (b *tab) payLate() {
	b.t.Helper()
	b.says("2,400.00 USD")
	b.click(`.week:has([value="4"])`)
	b.wait(`document.querySelector("[data-total]").textContent === "9,600.00 USD"`)
	b.write("#email", "buyer@example.com")
	b.site.fault(stripesim.Fault{Kind: stripesim.FaultHold})
	b.site.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: "GET /v1/checkout/sessions/{id}"})
	b.click("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
	b.says("9,600.00 USD", "Simulation.")
	b.click(`button[value="pay"]`)
	b.arrive("/rentals/[^/]+/return")
	b.wait(`document.querySelector("#rental[data-poll]")`)
	b.site.well()
	b.rental()
	b.says("9,600.00 USD", "Send for review")
}

// sendPicture chooses a file, looks at it in both fits, and sends it.
func (b *tab) sendPicture(link string) {
	b.t.Helper()
	b.files("input[name=image]", quarters(b.t, 160, 40)) // the place is 60 x 40 pixels
	b.wait(`!document.querySelector("[data-preview-for]").hidden`)
	b.previews(1, 1, "255,0,0,255") // left of the middle, all filled
	b.click(`label:has([name=fit][value=contain])`)
	b.previews(30, 2, "0,0,0,0")   // room is left above
	b.previews(1, 20, "0,0,0,255") // the end of the picture is shown
	b.click(`label:has([name=fit][value=cover])`)
	b.previews(1, 1, "255,0,0,255") // filled again
	b.write("[name=link]", link)
	b.write("[name=title]", "Four quarters")
	b.write("[name=alt]", "Red, green, blue and yellow")
	b.click("form[data-upload] .btn-primary")
	b.says("In review", "shop.example")
	b.wait(`document.querySelector(".picture img").naturalWidth === 60`)
}

func (b *tab) previews(x, y float64, want string) {
	b.t.Helper()
	b.wait(pixel("#preview", x, y, 60) + fmt.Sprintf(` === %q`, want))
}

func (s *site) signInAdmin(b *tab) {
	b.t.Helper()
	b.open("/admin/login")
	b.write("#email", adminEmail)
	b.write("#password", adminPassword)
	b.click("main .btn-primary")
	b.arrive("/admin/reviews$")
}

// approveByKeys decides with the keyboard alone: approve, take back, approve again;
// leaving the page sends it.
func (s *site) approveByKeys() {
	s.t.Helper()
	b := s.person("admin", desktop())
	s.signInAdmin(b)
	b.wait(`localStorage.getItem("tuval.review.keys") === "on"`) // the script is there
	b.says("Four quarters", "shop.example", "1 picture waiting")
	b.press("a")
	b.wait(`document.querySelector("[data-item]").hidden && document.querySelector("[data-left]").textContent.startsWith("Sent in")`)
	b.press("z")
	b.wait(`!document.querySelector("[data-item]").hidden && !document.querySelector("[data-left]")`)
	s.counts(0, `SELECT count(*) FROM creatives WHERE state <> 'pending'`)
	b.press("a")
	b.wait(`document.querySelector("[data-left]")`)
	b.click(`a[href="/admin/rentals"]`)
	b.arrive("/admin/rentals")
	s.becomes(`SELECT state = 'approved' FROM creatives`)
}

// visit looks at the picture where it stands, with a mouse and with a finger, and
// follows its link.
func (s *site) visit(r rect, link string) {
	s.t.Helper()
	b := s.person("visitor", desktop())
	b.record.origins = append(b.record.origins, strings.TrimSuffix(link, "from-tuval"))
	b.canvas("/")
	b.paints(float64(r.x)+1, float64(r.y)+.5, "255,0,0")
	b.paints(float64(r.x)+5, float64(r.y)+3.5, "255,255,0")
	b.hover(b.at(r.x+2, r.y+1))
	b.wait(`!document.getElementById("area-card").hidden`)
	if card := b.text("#area-card"); !strings.Contains(card, "Four quarters") || !strings.Contains(card, "shop.example") {
		s.t.Errorf("the card says %q", card)
	}
	b.follow("#area-card a[target=_blank]", link)

	finger := s.person("visitor with a phone", phone())
	finger.canvas("/")
	finger.tap(finger.at(r.x+2, r.y+1))
	finger.wait(`!document.getElementById("area-card").hidden && document.getElementById("area-card").textContent.includes("shop.example")`)
}
