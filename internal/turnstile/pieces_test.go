package turnstile

import (
	"testing"

	"pgregory.net/rapid"

	"tuval/internal/grid"
)

// Pieces cover exactly the union, each block once, in the order of locking.
func TestPiecesAreTheUnionInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rects []grid.Rect
		var want grid.Taken
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			x, y := rapid.IntRange(0, 99).Draw(t, "x"), rapid.IntRange(0, 99).Draw(t, "y")
			r := grid.Rect{X: x, Y: y, W: rapid.IntRange(1, 100-x).Draw(t, "w"), H: rapid.IntRange(1, 100-y).Draw(t, "h")}
			rects = append(rects, r)
			want.Mark(r)
		}
		var got grid.Taken
		last := -1
		ys, x1s, x2s := pieces(rects)
		for i := range ys {
			for x := int(x1s[i]); x <= int(x2s[i]); x++ {
				if at := int(ys[i])*grid.Cols + x; at <= last {
					t.Fatalf("block %d,%d comes after %d", x, ys[i], last)
				} else {
					last = at
				}
				got[ys[i]][x] = true
			}
		}
		if got != want {
			t.Fatal("the pieces are not the union")
		}
	})
}
