package grid

import "sort"

// Taken is a picture of which blocks are not free, row by row.
type Taken [Rows][Cols]bool

// Mark sets the blocks of r.
func (t *Taken) Mark(r Rect) {
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			t[y][x] = true
		}
	}
}

// Count is the number of blocks of r that are not free.
func (t *Taken) Count(r Rect) int {
	n := 0
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			if t[y][x] {
				n++
			}
		}
	}
	return n
}

// Nearest returns up to limit free rects of the size of want, the nearest
// first, that do not overlap each other: places a loser of a race can take
// instead. Nearness is the squared distance of the corners in blocks.
func (t *Taken) Nearest(want Rect, limit int) []Rect {
	sums := t.sums()
	var free []Rect
	for y := 0; y+want.H <= Rows; y++ {
		for x := 0; x+want.W <= Cols; x++ {
			r := Rect{X: x, Y: y, W: want.W, H: want.H}
			if sums.count(r) == 0 {
				free = append(free, r)
			}
		}
	}
	distance := func(r Rect) int { return (r.X-want.X)*(r.X-want.X) + (r.Y-want.Y)*(r.Y-want.Y) }
	sort.SliceStable(free, func(i, j int) bool { return distance(free[i]) < distance(free[j]) })
	return apart(free, limit)
}

// apart keeps the first limit rects that overlap none kept before.
func apart(rects []Rect, limit int) []Rect {
	var kept []Rect
next:
	for _, r := range rects {
		if len(kept) == limit {
			break
		}
		for _, k := range kept {
			if k.Overlaps(r) {
				continue next
			}
		}
		kept = append(kept, r)
	}
	return kept
}

// sums are prefix sums, so that counting any rect costs four reads.
type sums [Rows + 1][Cols + 1]int

func (t *Taken) sums() *sums {
	var s sums
	for y := range Rows {
		for x := range Cols {
			one := 0
			if t[y][x] {
				one = 1
			}
			s[y+1][x+1] = one + s[y][x+1] + s[y+1][x] - s[y][x]
		}
	}
	return &s
}

func (s *sums) count(r Rect) int {
	return s[r.Y+r.H][r.X+r.W] - s[r.Y][r.X+r.W] - s[r.Y+r.H][r.X] + s[r.Y][r.X]
}
