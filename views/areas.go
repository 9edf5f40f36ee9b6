package views

import (
	"net/url"
	"strings"
)

// AreasPage lists what is on the canvas. The search works without scripts:
// GET /areas?q=.
type AreasPage struct {
	Page
	Query string
	Total string // "128 areas", "3 of 128 areas"
	Cards []AreaCard
	Next  string // address of the next page, or empty
}

// AreaCard is one area of the list.
type AreaCard struct {
	PublicID string
	Title    string
	Host     string // real host of the link
	Alt      string
	Image    string // at 1x and 2x
	Image2x  string
	Width    int // pixels at 1x
	Height   int
	Until    Moment
}

// AreaPage is one area, to be shared.
type AreaPage struct {
	Page
	Card  AreaCard
	Place PlaceView
}

func (c AreaCard) name() string { return or(c.Title, c.Host) }

// altBeside is what is to be seen, unless the words beside the picture say it.
func (c AreaCard) altBeside() string {
	if strings.EqualFold(c.Alt, c.name()) {
		return ""
	}
	return c.Alt
}

func (c AreaCard) path() string { return "/areas/" + url.PathEscape(c.PublicID) }

// goPath is the counted way to where the area leads.
func (c AreaCard) goPath() string { return "/go/" + url.PathEscape(c.PublicID) }

// scale is how many times its size a small picture is shown, so that its longer
// side has at least the given pixels. Whole numbers keep its pixels square.
func (c AreaCard) scale(least int) int {
	longer := max(c.Width, c.Height, 1)
	return max(1, (least+longer-1)/longer)
}
