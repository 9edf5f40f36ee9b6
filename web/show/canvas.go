package show

import (
	"fmt"
	"time"

	"tuval/internal/board"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/views"
)

// CanvasPicture is the address of the canvas as it was at a revision.
func CanvasPicture(revision, kind string) string { return "/canvas/" + revision + "." + kind }

// PerBlock is what one block costs a week.
func PerBlock(rules market.Rules) money.Money {
	n, _ := money.Weekly(grid.BlockPx*grid.BlockPx, rules.PricePerPixel)
	return rules.Currency.Of(n)
}

// Canvas is the first page.
func Canvas(base views.Page, b *board.Snapshot, rules market.Rules, mine []views.OwnPlace, hold views.HoldFormView) views.CanvasPage {
	live := 0
	for _, a := range b.Areas {
		if a.State == board.Live {
			live++
		}
	}
	base.Path, base.HTMX, base.Modules = "/", true, []string{"js/canvas.js"}
	base.Description = "A canvas of 1000 by 1000 pixels, rented out block by block. " + Count(b.Counts.Free) + " blocks are free."
	return views.CanvasPage{
		Page: base, Free: Count(b.Counts.Free), Total: Count(grid.Blocks), PricePerBlock: PerBlock(rules).String(),
		Picture: CanvasPicture(b.Revision, "png"), Preview: CanvasPicture(b.Revision, "webp"),
		PictureAlt: "The canvas at this moment, with " + Counted(live, "area") + " on it",
		Board:      "/api/v1/board", Empty: len(b.Areas) == 0, Mine: mine, Hold: hold, Marks: marks(b),
	}
}

// marks are the areas that a browser without scripts cannot see in the
// picture.
func marks(b *board.Snapshot) []views.CanvasMark {
	var all []views.CanvasMark
	for _, a := range b.Areas {
		if a.State != board.Live {
			all = append(all, views.CanvasMark{X: a.X, Y: a.Y, W: a.W, H: a.H, State: string(a.State)})
		}
	}
	return all
}

// HoldForm is the form that makes a hold, empty.
func HoldForm(rules market.Rules, key string) views.HoldFormView {
	return views.HoldFormView{
		RequestID: key, PricePerBlock: PerBlock(rules).String(), MaxBlocks: rules.MaxBlocks, HoldFor: Duration(rules.HoldTTL),
	}
}

// Mine are the places of whoever looks that are theirs now.
func Mine(rentals []rental.Rental, now time.Time) []views.OwnPlace {
	var all []views.OwnPlace
	for _, r := range rentals {
		if r.State == rental.Closed {
			continue
		}
		all = append(all, views.OwnPlace{
			Place: Place(r.Rect, ""), State: string(r.State), Label: ownLabel(r, now), Href: "/rentals/" + r.Key,
		})
	}
	return all
}

func ownLabel(r rental.Rental, now time.Time) string {
	switch r.State {
	case rental.Held, rental.Paying:
		return Left(now, r.LeasedUntil).Text + " left"
	case rental.Paid:
		return "Paid"
	case rental.Live:
		return "On the canvas"
	case rental.Ended:
		return "Reserved for you"
	case rental.Closed:
	}
	return string(r.State)
}

// Refused adds to the form what a lost race needs: which part is taken and
// where the same size is free.
func Refused(h *views.HoldFormView, b *board.Snapshot, want grid.Rect) {
	h.InTheWay = inTheWay(b, want)
	if part, ok := takenPart(&b.Taken, want); ok {
		h.Taken = Place(part, "").Span()
		if n := b.Taken.Count(want); n < part.Area() {
			h.Taken = fmt.Sprintf("%d of the %d blocks, among %s", n, want.Area(), h.Taken)
		}
	}
	// What was taken a moment ago may not have reached this picture yet.
	taken := b.Taken
	taken.Mark(want)
	for _, r := range taken.Nearest(want, nearest) {
		h.Nearest = append(h.Nearest, Place(r, ""))
	}
}

// inTheWay is the state of all areas that overlap a rect: "mixed" for several,
// empty when none is known yet.
func inTheWay(b *board.Snapshot, want grid.Rect) string {
	found := ""
	for _, a := range b.Areas {
		switch state := string(a.State); {
		case !a.Rect.Overlaps(want) || state == found:
		case found == "":
			found = state
		default:
			return "mixed"
		}
	}
	return found
}

// nearest is how many other places are offered.
const nearest = 5

// takenPart is the smallest rect around the blocks of want that are not free.
func takenPart(t *grid.Taken, want grid.Rect) (grid.Rect, bool) {
	x0, y0, x1, y1 := want.X+want.W, want.Y+want.H, -1, -1
	for y := want.Y; y < want.Y+want.H; y++ {
		for x := want.X; x < want.X+want.W; x++ {
			if t[y][x] {
				x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
			}
		}
	}
	if x1 < 0 {
		return grid.Rect{}, false
	}
	return grid.Rect{X: x0, Y: y0, W: x1 - x0 + 1, H: y1 - y0 + 1}, true
}
