package turnstile

import (
	"cmp"
	"slices"

	"tuval/internal/grid"
)

// pieces cuts the union of rects into pieces of rows (row, first and last
// column) that neither overlap nor touch, so that each block comes once, in
// the order in which blocks are locked.
func pieces(rects []grid.Rect) (ys, x1s, x2s []int16) {
	type piece struct{ y, x1, x2 int16 }
	var all []piece
	for _, r := range rects {
		for y := r.Y; y < r.Y+r.H; y++ {
			all = append(all, piece{int16(y), int16(r.X), int16(r.X + r.W - 1)})
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x1, b.x1)) })
	for _, p := range all {
		last := len(ys) - 1
		if last >= 0 && ys[last] == p.y && p.x1 <= x2s[last]+1 {
			x2s[last] = max(x2s[last], p.x2)
			continue
		}
		ys, x1s, x2s = append(ys, p.y), append(x1s, p.x1), append(x2s, p.x2)
	}
	return ys, x1s, x2s
}
