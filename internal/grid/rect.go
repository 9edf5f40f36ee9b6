package grid

import (
	"fmt"
	"image"

	"tuval/internal/fault"
)

// The canvas never changes its shape; the first migration makes its rows.
const (
	Cols    = 100
	Rows    = 100
	Blocks  = Cols * Rows
	BlockPx = 10
)

// Rect is a rectangle of whole blocks: column X and row Y of its top left
// block, width W and height H, all in blocks. It is half-open, so rects that
// only touch do not overlap.
type Rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// New returns the rect when it lies on the canvas whole, else a fault of kind
// Invalid that names the first wrong field and its limits.
func New(x, y, w, h int) (Rect, error) {
	for _, f := range []struct {
		name       string
		value      int
		min, limit int
	}{{"x", x, 0, Cols - 1}, {"y", y, 0, Rows - 1}, {"w", w, 1, Cols}, {"h", h, 1, Rows}} {
		if f.value < f.min || f.value > f.limit {
			return Rect{}, fault.Field(f.name, fmt.Sprintf("%s must be from %d to %d", f.name, f.min, f.limit))
		}
	}
	if x+w > Cols {
		return Rect{}, fault.Field("w", fmt.Sprintf("w reaches over the right edge: from x %d at most %d blocks fit", x, Cols-x))
	}
	if y+h > Rows {
		return Rect{}, fault.Field("h", fmt.Sprintf("h reaches over the bottom edge: from y %d at most %d blocks fit", y, Rows-y))
	}
	return Rect{X: x, Y: y, W: w, H: h}, nil
}

// Whole is the rect that covers the canvas.
func Whole() Rect { return Rect{W: Cols, H: Rows} }

// Area is the number of blocks.
func (r Rect) Area() int { return r.W * r.H }

// Pixels is the number of pixels, of which the price is made.
func (r Rect) Pixels() int { return r.Area() * BlockPx * BlockPx }

// Px is the rect in pixels of the canvas picture.
func (r Rect) Px() image.Rectangle {
	return image.Rect(r.X*BlockPx, r.Y*BlockPx, (r.X+r.W)*BlockPx, (r.Y+r.H)*BlockPx)
}

// Overlaps reports whether the two rects share a block.
func (r Rect) Overlaps(o Rect) bool {
	return r.X < o.X+o.W && o.X < r.X+r.W && r.Y < o.Y+o.H && o.Y < r.Y+r.H
}

// Contains reports whether the block at column x, row y is in the rect.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// String writes the rect as x,y,w,h, the form of deep links.
func (r Rect) String() string { return fmt.Sprintf("%d,%d,%d,%d", r.X, r.Y, r.W, r.H) }
