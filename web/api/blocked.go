package api

import (
	"net/http"
	"time"

	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/web/reply"
)

// place is a rect as areas have it: x, y, w and h beside their other fields.
type place = grid.Rect

// blockedJSON is an area that is kept out of the market.
type blockedJSON struct {
	ID string `json:"id"`
	place
	Rect      grid.Rect `json:"rect"`
	Note      string    `json:"note"`
	Until     time.Time `json:"until"`
	CreatedAt time.Time `json:"created_at"`
}

func blockedOf(b market.Blocked) blockedJSON {
	return blockedJSON{ID: b.Key, place: b.Rect, Rect: b.Rect, Note: b.Note, Until: b.Until, CreatedAt: b.CreatedAt}
}

type areasJSON struct {
	Areas []blockedJSON `json:"areas"`
}

// blocked lists what is kept out of the market now, the newest first.
func (a *api) blocked(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.admin(r); err != nil {
		return err
	}
	all, err := a.Market.BlockedAreas(r.Context())
	if err != nil {
		return err
	}
	list := areasJSON{Areas: []blockedJSON{}}
	for _, b := range all {
		list.Areas = append(list.Areas, blockedOf(b))
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

// noteMax is the length of a note in characters.
const noteMax = 200

// wanted is an area to be blocked.
type wanted struct {
	Rect  grid.Rect
	Note  string
	Until *time.Time
}

// block keeps an area of any size out of the market, if all of it is free.
func (a *api) block(w http.ResponseWriter, r *http.Request) error {
	v, err := a.admin(r)
	if err != nil {
		return err
	}
	f, err := read(w, r, append([]string{"note", "until"}, rectFields...)...)
	if err != nil {
		return err
	}
	note := text.Rule{Field: "note", Label: "The note", Max: noteMax, Required: true}
	want := wanted{Rect: f.rect(), Note: rule(f, "note", note.Clean), Until: f.instant("until")}
	if f.err != nil {
		return f.err
	}
	req, err := request(r, v, want)
	if err != nil {
		return err
	}
	b, err := once(r.Context(), a, req, func() (blockedJSON, error) {
		b, err := a.Market.Block(r.Context(), v.Admin.Email, want.Rect, want.Note, want.Until)
		return blockedOf(b), err
	})
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusCreated, b)
	return nil
}

// unblock frees a blocked area at once.
func (a *api) unblock(w http.ResponseWriter, r *http.Request) error {
	v, err := a.admin(r)
	if err != nil {
		return err
	}
	if err := a.Market.Unblock(r.Context(), v.Admin.Email, r.PathValue("id")); err != nil {
		return err
	}
	nothing(w)
	return nil
}
