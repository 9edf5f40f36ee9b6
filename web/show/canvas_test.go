package show_test

import (
	"testing"

	"tuval/internal/board"
	"tuval/internal/grid"
	"tuval/views"
	"tuval/web/show"
)

// Blocks that are taken here and there are counted, not called taken whole.
func TestALostRaceSaysWhatIsReallyTaken(t *testing.T) {
	want := grid.Rect{X: 10, Y: 20, W: 10, H: 5}
	for name, c := range map[string]struct {
		taken []grid.Rect
		says  string
	}{
		"a part":       {[]grid.Rect{{X: 12, Y: 20, W: 2, H: 1}}, "columns 13 to 14, row 21"},
		"two corners":  {[]grid.Rect{{X: 10, Y: 20, W: 1, H: 1}, {X: 19, Y: 24, W: 1, H: 1}}, "2 of the 50 blocks, among columns 11 to 20, rows 21 to 25"},
		"nothing seen": {nil, ""},
	} {
		b := &board.Snapshot{}
		for _, r := range c.taken {
			b.Taken.Mark(r)
		}
		var h views.HoldFormView
		show.Refused(&h, b, want)
		if h.Taken != c.says {
			t.Errorf("%s: %q, want %q", name, h.Taken, c.says)
		}
		for _, p := range h.Nearest {
			if p.W != want.W || p.H != want.H {
				t.Errorf("%s: offers %dx%d", name, p.W, p.H)
			}
		}
	}
}
