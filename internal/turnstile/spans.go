package turnstile

import (
	"cmp"
	"slices"

	"tuval/internal/grid"
)

// spans writes a union of rects as row pieces (row, first and last column)
// that do not overlap, in the order in which blocks are locked.
func spans(rects []grid.Rect) (ys, x1s, x2s []int16) {
	type piece struct{ y, x1, x2 int }
	var all []piece
	for _, r := range rects {
		for y := r.Y; y < r.Y+r.H; y++ {
			all = append(all, piece{y, r.X, r.X + r.W - 1})
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Or(a.y-b.y, a.x1-b.x1) })
	for _, p := range all {
		last := len(ys) - 1
		if last >= 0 && int(ys[last]) == p.y && p.x1 <= int(x2s[last])+1 {
			x2s[last] = max(x2s[last], int16(p.x2))
			continue
		}
		ys, x1s, x2s = append(ys, int16(p.y)), append(x1s, int16(p.x1)), append(x2s, int16(p.x2))
	}
	return ys, x1s, x2s
}
