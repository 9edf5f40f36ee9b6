package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"tuval/internal/grid"
)

func TestTheCanvasPageIsWholeAndAnonymous(t *testing.T) {
	s := newStack(t)
	a := s.browser().get("/").wants(http.StatusOK).whole(true)
	a.says("10,000", "100.00 USD", "Choose your blocks")
	a.has("form", "action", "/holds", "method", "post").has("input", "name", "col").has("input", "name", "request_id")
	if a.value("request_id") == "" {
		t.Error("the form has no request_id")
	}
	if a.header.Get("Set-Cookie") != "" || s.count(`SELECT count(*) FROM sessions`) != 0 {
		t.Error("a stranger got a session")
	}
	img := a.all("img", "width", "1000")
	if len(img) != 1 {
		t.Fatal("no picture of the canvas")
	}
	src, _ := attr(img[0], "src")
	p := s.browser().get(src).wants(http.StatusOK)
	if p.header.Get("Content-Type") != "image/webp" || p.header.Get("Cache-Control") != "public, max-age=60" || p.header.Get("Vary") != "" {
		t.Errorf("picture: %v", p.header)
	}
	s.browser().get(src, "If-None-Match", p.header.Get("ETag")).wants(http.StatusNotModified)
}

func TestAnUnknownRevisionLeadsToThePresentOne(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	a := b.get("/canvas/0123456789.png").wants(http.StatusFound)
	b.follow(a).wants(http.StatusOK)
	b.get("/canvas/0123456789.gif").wants(http.StatusNotFound)
}

func holdPairs(col, row, w, h int, more ...string) []string {
	return append([]string{"col", fmt.Sprint(col), "row", fmt.Sprint(row), "w", fmt.Sprint(w), "h", fmt.Sprint(h)}, more...)
}

// hold holds a rect and returns the path of the rental's page.
func (b *browser) hold(col, row, w, h int) string {
	b.t.Helper()
	return b.post("/holds", holdPairs(col, row, w, h)...).wants(http.StatusSeeOther, http.StatusOK).leads()
}

func TestAHoldByFormLeadsToItsPage(t *testing.T) {
	s := newStack(t)
	for _, scripts := range []bool{false, true} {
		b := s.browser()
		b.htmx = scripts
		col := 1
		if scripts {
			col = 20
		}
		a := b.post("/holds", holdPairs(col, 1, 6, 4, "request_id", b.get("/").value("request_id"))...)
		if scripts {
			a.wants(http.StatusOK)
		} else {
			a.wants(http.StatusSeeOther)
		}
		b.htmx = false
		page := b.follow(a).wants(http.StatusOK).whole(true)
		page.says("These blocks are yours for now", "2,400.00 USD", "6 × 4 blocks")
		if page.header.Get("Cache-Control") != "no-store" || !strings.Contains(page.header.Get("Vary"), "Cookie") {
			t.Errorf("headers: %v", page.header)
		}
		if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now() AND x >= $1 AND x < $1 + 6`, col-1); n != 24 {
			t.Errorf("%d blocks are held", n)
		}
		b.get("/").says("Your blocks")
	}
}

func TestBothWaysOfCountingMeanTheSameBlocks(t *testing.T) {
	s := newStack(t)
	s.browser().post("/holds", "x", "11", "y", "7", "w", "2", "h", "1").wants(http.StatusSeeOther)
	s.browser().post("/holds", holdPairs(12, 8, 2, 1)...).wants(http.StatusConflict)
}

type rects struct {
	Valid   [][4]any `json:"valid"`
	Invalid [][4]any `json:"invalid"`
}

func TestRectsThatCannotBeAreNamedAndNothingIsHeld(t *testing.T) {
	var all rects
	if err := json.Unmarshal(must(os.ReadFile("testdata/rects.json")), &all); err != nil {
		t.Fatal(err)
	}
	s := newStack(t)
	b := s.browser()
	odd := [][4]any{{"٣", "0", "1", "1"}, {"0", "１", "1", "1"}, {"0", "0", "\x00", "1"}, {"0", "0", "1", "\xff"}, {"+1", "0", "1", "1"}, {"0x1", "0", "1", "1"}, {strings.Repeat("9", 400), "0", "1", "1"}}
	for _, r := range append(all.Invalid, odd...) {
		var v [4]string
		for i := range v {
			if f, ok := r[i].(float64); ok {
				v[i] = fmt.Sprintf("%.0f", f)
			} else {
				v[i] = r[i].(string)
			}
		}
		for _, scripts := range []bool{false, true} {
			b.htmx = scripts
			a := b.post("/holds", "x", v[0], "y", v[1], "w", v[2], "h", v[3]).wants(http.StatusUnprocessableEntity)
			a.whole(!scripts).has("section", "id", "hold-panel", "data-outcome", "invalid")
			if len(a.all("input", "aria-invalid", "true")) == 0 {
				t.Errorf("%q: no field is marked", v)
			}
		}
	}
	if n := s.count(`SELECT count(*) FROM rentals`); n != 0 {
		t.Errorf("%d rentals were made", n)
	}
}

func TestValidRectsAreHeldWhole(t *testing.T) {
	var all rects
	if err := json.Unmarshal(must(os.ReadFile("testdata/rects.json")), &all); err != nil {
		t.Fatal(err)
	}
	s := newStack(t)
	for _, r := range all.Valid {
		x, y, w, h := int(r[0].(float64)), int(r[1].(float64)), int(r[2].(float64)), int(r[3].(float64))
		b := s.browser()
		a := b.post("/holds", "x", fmt.Sprint(x), "y", fmt.Sprint(y), "w", fmt.Sprint(w), "h", fmt.Sprint(h))
		if w*h > 1000 { // the largest hold has 1,000 blocks
			a.wants(http.StatusUnprocessableEntity).marks("w")
			continue
		}
		path := a.wants(http.StatusSeeOther).leads()
		if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`); n != w*h {
			t.Errorf("%v: %d blocks are held", r, n)
		}
		b.post(path + "/cancel").wants(http.StatusSeeOther)
	}
}

func TestTypedValuesAreKept(t *testing.T) {
	s := newStack(t)
	a := s.browser().post("/holds", "col", "1.5", "row", "<b>", "w", "3", "h", "").wants(http.StatusUnprocessableEntity)
	for field, want := range map[string]string{"col": "1.5", "row": "<b>", "w": "3", "h": ""} {
		if got := a.value(field); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	a.marks("col").marks("row").marks("h")
	if a.value("request_id") == "" {
		t.Error("no request_id for the next try")
	}
	// Typed from 0, shown from 1.
	a = s.browser().post("/holds", "x", "98", "y", "0", "w", "6", "h", "1").wants(http.StatusUnprocessableEntity).marks("w")
	if a.value("col") != "99" {
		t.Errorf("col: %q", a.value("col"))
	}
}

func TestALostRaceOffersOtherPlaces(t *testing.T) {
	s := newStack(t)
	s.browser().hold(10, 10, 3, 1)
	for _, scripts := range []bool{false, true} {
		b := s.browser()
		b.htmx = scripts
		a := b.post("/holds", holdPairs(12, 8, 6, 4)...).wants(http.StatusConflict).whole(!scripts)
		a.says("Somebody was faster", "column 12, row 10", "The nearest free places").has("section", "id", "hold-panel", "data-outcome", "taken")
		if a.value("col") != "12" || a.value("w") != "6" {
			t.Error("what was typed is lost")
		}
		var first []string
		for _, f := range a.all("form", "action", "/holds") {
			if at, ok := attr(f, "data-suggestion"); ok {
				first = append(first, at)
			}
		}
		if len(first) != 5 {
			t.Errorf("offered: %v", first)
		}
		var x, y, w, h int
		if _, err := fmt.Sscanf(first[0], "%d,%d,%d,%d", &x, &y, &w, &h); err != nil || w != 6 || h != 4 {
			t.Errorf("first: %q", first[0])
		}
		if !scripts {
			b.post("/holds", "x", fmt.Sprint(x), "y", fmt.Sprint(y), "w", "6", "h", "4").wants(http.StatusSeeOther)
		}
	}
}

// What is in the way is named for what it is.
func TestWhatIsInTheWayIsNamed(t *testing.T) {
	s := newStack(t)
	owner := s.browser()
	s.live(owner, s.admin(), 11, 1, 2, 2)
	s.age(14*24*time.Hour + time.Minute)
	s.paid(owner, 21, 1, 2, 2)
	s.browser().hold(31, 1, 2, 2)
	if _, err := s.market.Block(s.ctx(), adminEmail, grid.Rect{X: 40, Y: 0, W: 2, H: 2}, "House", nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		col, w int
		says   string
	}{
		{21, 1, "These blocks are rented already"},
		{11, 1, "These blocks are reserved for their last renter"},
		{31, 1, "Somebody was faster"},
		{41, 1, "These blocks are not for rent"},
		{31, 12, "Some of these blocks are not free"},
	} {
		s.browser().post("/holds", holdPairs(c.col, 1, c.w, 1)...).wants(http.StatusConflict).says(c.says, "Taken:")
	}
}

func TestADoubleClickIsOneHold(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	form := holdPairs(5, 5, 2, 2, "request_id", b.get("/").value("request_id"))
	answers := make(chan *answer)
	for range 2 {
		go func() { answers <- s.browser().post("/holds", form...) }()
	}
	one, two := <-answers, <-answers
	one.wants(http.StatusSeeOther)
	two.wants(http.StatusSeeOther)
	if one.leads() != two.leads() || s.count(`SELECT count(*) FROM rentals`) != 1 {
		t.Errorf("led to %s and %s", one.leads(), two.leads())
	}
}

func TestASentFormWithOtherBlocksGetsANewKey(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	b.post("/holds", holdPairs(5, 5, 2, 2)...).wants(http.StatusSeeOther)
	b.post("/holds", holdPairs(50, 5, 2, 2, "request_id", "same-key-1")...).wants(http.StatusSeeOther)
	a := b.post("/holds", holdPairs(70, 5, 2, 2, "request_id", "same-key-1")...).wants(http.StatusUnprocessableEntity)
	a.says("request_id", "Press the button again")
	b.post("/holds", holdPairs(70, 5, 2, 2, "request_id", a.value("request_id"))...).wants(http.StatusSeeOther)
	b.post("/holds", holdPairs(90, 5, 2, 2, "request_id", "short")...).wants(http.StatusUnprocessableEntity).says("request_id")
}

func TestTooManyHoldsAreRefusedWithAWayOn(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	for i := range 3 {
		b.hold(1+10*i, 1, 2, 2)
	}
	a := b.post("/holds", holdPairs(41, 1, 2, 2)...).wants(http.StatusTooManyRequests).whole(true)
	a.says("at most 3 unpaid holds").has("section", "data-outcome", "limit")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
