package views_test

import (
	"slices"
	"strings"
	"testing"

	"tuval/static"
	"tuval/views"
)

func canvasPage() views.CanvasPage {
	return views.CanvasPage{
		Page: views.Page{Path: "/", HTMX: true, Modules: []string{"js/canvas.js"}},
		Free: "7,412", Total: "10,000", PricePerBlock: "100.00 USD",
		Picture: "/canvas/7.png", Preview: "/canvas/7.webp", PictureAlt: "The canvas with 3 areas", Board: "/api/v1/board",
		Hold: views.HoldFormView{RequestID: "request-1", PricePerBlock: "100.00 USD", MaxBlocks: 1000, HoldFor: "10 minutes"},
	}
}

func places(n int) []views.PlaceView {
	var list []views.PlaceView
	for i := range n {
		list = append(list, views.PlaceView{Col: 30 + 7*i, Row: 8, W: 6, H: 4})
	}
	return list
}

func TestCanvasPageIsSoundInEveryState(t *testing.T) {
	for name, change := range map[string]func(*views.CanvasPage){
		"fresh":   func(*views.CanvasPage) {},
		"empty":   func(p *views.CanvasPage) { p.Empty = true },
		"taken":   func(p *views.CanvasPage) { p.Hold.Outcome, p.Hold.Nearest = views.HoldTaken, places(5) },
		"nowhere": func(p *views.CanvasPage) { p.Hold.Outcome = views.HoldTaken },
		"limited": func(p *views.CanvasPage) { p.Hold.Outcome, p.Hold.Retry = views.HoldLimited, "in 40 seconds" },
		"full":    func(p *views.CanvasPage) { p.Hold.Outcome = views.HoldFull },
		"paying":  func(p *views.CanvasPage) { p.Hold.Outcome = views.HoldPaying },
		"busy":    func(p *views.CanvasPage) { p.Hold.Outcome = views.HoldBusy },
		"invalid": func(p *views.CanvasPage) {
			p.Hold.Outcome = views.HoldInvalid
			p.Hold.Problems = []views.Problem{{Field: "col", Text: "From 1 to 100."}, {Text: "This form was used already."}}
		},
		"mine": func(p *views.CanvasPage) {
			p.SignedIn, p.Private = true, true
			p.Mine = []views.OwnPlace{{Place: places(1)[0], State: "held", Label: "9 min left", Href: "/rentals/r1"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := canvasPage()
			change(&p)
			render(t, views.Canvas(p)).sound(t)
		})
	}
}

func TestFirstGlance(t *testing.T) {
	d := render(t, views.Canvas(canvasPage()))
	for _, want := range []string{"7,412", "10,000", "100.00 USD"} {
		if !strings.Contains(d.text(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	img := d.all("img")[0]
	if attr(img, "src") != "/canvas/7.webp" || attr(img, "data-picture") != "/canvas/7.png" ||
		attr(img, "width") != "1000" || attr(img, "height") != "1000" || attr(img, "alt") == "" {
		t.Errorf("the picture: %v", img.Attr)
	}
}

// The form is the truth: what it sends is the contract of POST /holds.
func TestHoldFormSendsTheContract(t *testing.T) {
	d := render(t, views.Canvas(canvasPage()))
	if got := d.fields("/holds"); !slices.Equal(got, []string{"col", "h", "request_id", "row", "w"}) {
		t.Errorf("fields %v", got)
	}
	form := d.all("form")[0]
	if attr(form, "method") != "post" || attr(form, "hx-post") != "/holds" || attr(form, "hx-target") != "#hold-panel" {
		t.Errorf("form %v", form.Attr)
	}
}

func TestRefusedHoldKeepsWhatWasTypedAndMarksTheField(t *testing.T) {
	p := canvasPage()
	p.Hold.Outcome = views.HoldInvalid
	p.Hold.Col, p.Hold.Row, p.Hold.W, p.Hold.H = `1e1"><b>`, "8", "6", "4"
	p.Hold.Problems = []views.Problem{{Field: "col", Text: "The column is a whole number from 1 to 100."}}
	d := render(t, views.HoldForm(p.Hold))
	for _, n := range d.all("input") {
		switch attr(n, "name") {
		case "col":
			if attr(n, "value") != `1e1"><b>` || attr(n, "aria-invalid") != "true" || attr(n, "aria-describedby") != "col-error" {
				t.Errorf("column: %v", n.Attr)
			}
		case "row", "w", "h":
			if attr(n, "value") == "" || has(n, "aria-invalid") {
				t.Errorf("%s: %v", attr(n, "name"), n.Attr)
			}
		}
	}
	if !strings.Contains(d.source, `href="#col"`) || !strings.Contains(d.source, `id="col-error"`) {
		t.Error("the summary does not lead to the field, or the field has no words of its own")
	}
}

func TestLostRaceOffersPlacesByOneClick(t *testing.T) {
	p := canvasPage()
	p.Hold.Outcome, p.Hold.Taken, p.Hold.Nearest = views.HoldTaken, "columns 12 to 14, row 8", places(5)
	p.Hold.Col, p.Hold.Row, p.Hold.W, p.Hold.H = "12", "8", "6", "4"
	d := render(t, views.HoldForm(p.Hold))
	if !strings.Contains(d.source, "columns 12 to 14, row 8") {
		t.Error("does not say which part was taken")
	}
	keys := map[string]bool{}
	forms := d.all("form")
	for _, n := range d.all("input") {
		if attr(n, "name") == "request_id" {
			keys[attr(n, "value")] = true
		}
	}
	if len(forms) != 6 || len(keys) != 6 {
		t.Errorf("%d forms with %d keys, want 6 with one each", len(forms), len(keys))
	}
	if attr(forms[0], "data-suggestion") != "29,7,6,4" {
		t.Errorf("the canvas is told %q", attr(forms[0], "data-suggestion"))
	}
}

// The fragment that htmx swaps in must carry the id it is swapped by.
func TestHoldFormIsItsOwnTarget(t *testing.T) {
	d := render(t, views.HoldForm(canvasPage().Hold))
	if n := d.all("section")[0]; attr(n, "id") != "hold-panel" {
		t.Errorf("fragment %v", n.Attr)
	}
}

func TestPagesReferToAssetsThatExist(t *testing.T) {
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	p := canvasPage()
	p.Asset = func(name string) string {
		if !assets.Has(name) {
			t.Errorf("no asset %q", name)
		}
		return assets.Path(name)
	}
	render(t, views.Canvas(p))
}

func TestRemaining(t *testing.T) {
	for seconds, want := range map[int64]string{
		-5: "0 s", 0: "0 s", 41: "41 s", 60: "1 min 0 s", 581: "9 min 41 s", 3599: "59 min 59 s",
		3600: "1 h 0 min", 18_720: "5 h 12 min", 172_799: "47 h 59 min", 172_800: "2 days 0 h", 273_600: "3 days 4 h",
	} {
		if got := views.Remaining(seconds); got != want {
			t.Errorf("%d s: %q, want %q", seconds, got, want)
		}
	}
}
