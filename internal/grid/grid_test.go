package grid_test

import (
	"testing"

	"pgregory.net/rapid"

	"tuval/internal/fault"
	"tuval/internal/grid"
)

func TestNewNamesTheWrongField(t *testing.T) {
	for _, c := range []struct {
		x, y, w, h int
		field      string
	}{
		{0, 0, 1, 1, ""},
		{99, 99, 1, 1, ""},
		{0, 0, 100, 100, ""},
		{90, 90, 10, 10, ""},
		{100, 0, 1, 1, "x"},
		{-1, 0, 2, 1, "x"},
		{0, 100, 1, 1, "y"},
		{0, 0, 0, 5, "w"},
		{0, 0, 5, 0, "h"},
		{0, 0, 101, 1, "w"},
		{99, 99, 2, 1, "w"},
		{99, 99, 1, 2, "h"},
		{1 << 62, 0, 2, 1, "x"},
		{0, 0, 1 << 62, 1, "w"},
	} {
		_, err := grid.New(c.x, c.y, c.w, c.h)
		if got := fault.As(err).Field; got != c.field {
			t.Errorf("New(%d,%d,%d,%d) names %q, want %q (%v)", c.x, c.y, c.w, c.h, got, c.field, err)
		}
	}
}

func rects(t *rapid.T, name string) grid.Rect {
	x, y := rapid.IntRange(0, 99).Draw(t, name+"x"), rapid.IntRange(0, 99).Draw(t, name+"y")
	return grid.Rect{
		X: x, Y: y,
		W: rapid.IntRange(1, 100-x).Draw(t, name+"w"), H: rapid.IntRange(1, 100-y).Draw(t, name+"h"),
	}
}

// Two rects overlap exactly when some block is in both.
func TestOverlapMeansASharedBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rects(t, "a"), rects(t, "b")
		shared := false
		for y := range grid.Rows {
			for x := range grid.Cols {
				shared = shared || a.Contains(x, y) && b.Contains(x, y)
			}
		}
		if a.Overlaps(b) != shared {
			t.Fatalf("%v and %v: Overlaps %v, shared block %v", a, b, a.Overlaps(b), shared)
		}
	})
}

// Suggestions are free, of the wanted size, apart from each other, and none
// that was left out is nearer than the first.
func TestNearestAreFreeAndApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var taken grid.Taken
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			taken.Mark(rects(t, "taken"))
		}
		want := rects(t, "want")
		got := taken.Nearest(want, 5)
		if len(got) > 5 {
			t.Fatalf("%d suggestions", len(got))
		}
		for i, r := range got {
			if r.W != want.W || r.H != want.H || taken.Count(r) != 0 {
				t.Fatalf("suggestion %v is not a free place of %dx%d", r, want.W, want.H)
			}
			for _, o := range got[:i] {
				if o.Overlaps(r) {
					t.Fatalf("%v and %v overlap", o, r)
				}
			}
		}
		if taken.Count(want) == 0 && (len(got) == 0 || got[0] != want) {
			t.Fatalf("the wanted place itself is free, got %v", got)
		}
	})
}
