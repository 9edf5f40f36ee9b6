package views

import (
	"fmt"
	"strconv"
	"time"
)

// Moment is an instant as people read it, zone included, and as programs do.
// The zero value means that there is none.
type Moment struct {
	ISO  string // RFC 3339, UTC
	Text string // "Mon 7 Dec 2026, 14:00 UTC"
}

// MomentOf writes an instant in UTC; the zero time gives the zero Moment.
func MomentOf(t time.Time) Moment {
	if t.IsZero() {
		return Moment{}
	}
	t = t.UTC()
	return Moment{ISO: t.Format(time.RFC3339), Text: t.Format("Mon 2 Jan 2006, 15:04 UTC")}
}

// Set reports whether there is an instant.
func (m Moment) Set() bool { return m.ISO != "" }

// PlaceView is a rect of the canvas as people read it. Col and Row are 1-based
// and name its top left block; W and H are blocks. Canvas is the address of a
// picture of the whole canvas on which the place can be shown.
type PlaceView struct {
	Col, Row, W, H int
	Canvas         string
}

// Size is the place's size in blocks.
func (p PlaceView) Size() string {
	if p.W == 1 && p.H == 1 {
		return "1 block"
	}
	return fmt.Sprintf("%d × %d blocks", p.W, p.H)
}

// Where names the top left block.
func (p PlaceView) Where() string { return fmt.Sprintf("column %d, row %d", p.Col, p.Row) }

// Pixels is the size in pixels of the canvas.
func (p PlaceView) Pixels() string { return fmt.Sprintf("%d × %d px", p.W*blockPx, p.H*blockPx) }

// String is the place in one phrase.
func (p PlaceView) String() string { return p.Size() + " at " + p.Where() }

// DeepLink opens the canvas with this place selected.
func (p PlaceView) DeepLink() string {
	return fmt.Sprintf("/#%d,%d,%d,%d", p.Col-1, p.Row-1, p.W, p.H)
}

// The canvas in pixels, and one block of it.
const (
	blockPx  = 10
	canvasPx = 1000
)

// box is a rectangle in pixels of the canvas picture.
type box struct{ x, y, w, h int }

func (p PlaceView) box() box {
	return box{(p.Col - 1) * blockPx, (p.Row - 1) * blockPx, p.W * blockPx, p.H * blockPx}
}

// around is the square part of the canvas that shows the box with its
// neighbours: 100 px on each side, at least 300 px in all, never beyond the
// edges.
func (b box) around() box {
	side := min(max(max(b.w, b.h)+200, 300), canvasPx)
	at := func(from, length int) int { return min(max(from+length/2-side/2, 0), canvasPx-side) }
	return box{at(b.x, b.w), at(b.y, b.h), side, side}
}

func (b box) viewBox() string { return fmt.Sprintf("%d %d %d %d", b.x, b.y, b.w, b.h) }

// veil is a path over the whole canvas with the box cut out.
func (b box) veil() string {
	return fmt.Sprintf("M0 0H%d V%d H0Z M%d %d v%d h%d v%d Z", canvasPx, canvasPx, b.x, b.y, b.h, b.w, -b.h)
}

// cross is a path of four lines that lead from the edges of the canvas to the
// box, so that the eye finds a place of a single block.
func (b box) cross() string {
	cx, cy := b.x+b.w/2, b.y+b.h/2
	return fmt.Sprintf("M%d 0V%d M%d %d V%d M0 %d H%d M%d %d H%d",
		cx, b.y, cx, b.y+b.h, canvasPx, cy, b.x, b.x+b.w, cy, canvasPx)
}

func (b box) times(n int) box { return box{b.x * n, b.y * n, b.w * n, b.h * n} }

// scrolls reports whether a frame around the box may have to scroll on a small
// screen.
func (b box) scrolls() bool { return b.w > 256 || b.h > 500 }

func px(n int) string { return strconv.Itoa(n) }

// counted writes a number with its noun: "1 week", "4 weeks".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// errorOf is what was wrong with a field, if anything was.
func errorOf(problems []Problem, field string) string {
	for _, p := range problems {
		if p.Field == field {
			return p.Text
		}
	}
	return ""
}
