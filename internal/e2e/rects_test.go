package e2e

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

type rects struct {
	Valid    [][4]int    `json:"valid"`
	Invalid  [][4]any    `json:"invalid"`
	Touching [][2][4]int `json:"touching_pairs_both_must_succeed"`
}

// TestRects types places into the form: every valid one is held exactly, neighbours
// that touch are no overlap, and of an invalid one nothing is held and its field is
// marked.
func TestRects(t *testing.T) {
	s := serve(t, append(roomy(), "TUVAL_PRICE_PER_PIXEL_WEEK=50")...)
	var all rects
	file, err := os.ReadFile("testdata/rects.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	b := s.person("buyer", desktop())
	for _, r := range all.Valid {
		b.types(r)
		b.send("/rentals/"+b.rental()+"/cancel", map[string]string{})
		s.counts(0, `SELECT count(*) FROM blocks WHERE leased_until > now()`)
	}
	for _, pair := range all.Touching {
		b.types(pair[0])
		b.types(pair[1])
	}
	taken := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`)
	b.expected = []refusal{{422, "/holds"}}
	b.canvas("/")
	for _, r := range all.Invalid {
		b.refused(r)
	}
	s.counts(taken, `SELECT count(*) FROM blocks WHERE leased_until > now()`)
}

// types holds a place by its numbers.
func (b *tab) types(r [4]int) {
	b.t.Helper()
	b.canvas("/")
	place := rect{r[0], r[1], r[2], r[3]}
	b.fill(strconv.Itoa(r[0]+1), strconv.Itoa(r[1]+1), strconv.Itoa(r[2]), strconv.Itoa(r[3]))
	b.click("#hold-button")
	b.site.heldAs(b.rental(), place)
}

func (b *tab) fill(values ...string) {
	b.t.Helper()
	for i, name := range []string{"col", "row", "w", "h"} {
		b.write("#hold-form [name="+name+"]", values[i])
	}
}

// refused types what is no place: the browser itself refuses to send it, or the
// server marks the field.
func (b *tab) refused(r [4]any) {
	b.t.Helper()
	var typed []string
	for i, v := range r {
		n, whole := v.(float64)
		switch {
		case whole && i < 2:
			typed = append(typed, strconv.FormatFloat(n+1, 'f', 0, 64))
		case whole:
			typed = append(typed, strconv.FormatFloat(n, 'f', 0, 64))
		default:
			typed = append(typed, v.(string))
		}
	}
	b.fill(typed...)
	b.click("#hold-button")
	b.wait(`document.querySelector("#hold-form :invalid, #hold-form [aria-invalid=true]")`)
	if at := get[string](b, "location.pathname"); at != "/" {
		b.t.Errorf("%q leads to %s", typed, at)
	}
	// Without the browser's own look the server says what is wrong, in its place.
	if get[bool](b, `Boolean(document.querySelector("#hold-form :invalid"))`) {
		b.js(`document.getElementById("hold-form").noValidate = true`)
		b.click("#hold-button")
		b.wait(`document.querySelector("#hold-form [aria-invalid=true]")`)
	}
}
