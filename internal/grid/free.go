package grid

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
	var found []Rect
	for range limit {
		r, any := sums.nearest(want, found)
		if !any {
			break
		}
		found = append(found, r)
	}
	return found
}

// nearest is the free rect next to want that overlaps none of the others.
func (s *sums) nearest(want Rect, others []Rect) (Rect, bool) {
	var best Rect
	least := -1
	for y := 0; y+want.H <= Rows; y++ {
		for x := 0; x+want.W <= Cols; x++ {
			r := Rect{X: x, Y: y, W: want.W, H: want.H}
			distance := (x-want.X)*(x-want.X) + (y-want.Y)*(y-want.Y)
			if (least < 0 || distance < least) && s.count(r) == 0 && !r.overlapsAny(others) {
				best, least = r, distance
			}
		}
	}
	return best, least >= 0
}

func (r Rect) overlapsAny(others []Rect) bool {
	for _, o := range others {
		if r.Overlaps(o) {
			return true
		}
	}
	return false
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
