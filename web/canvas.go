package web

import (
	"net/http"

	"tuval/internal/ident"
	"tuval/views"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// canvas is the first page. For a stranger it reads nothing but memory.
func (s *site) canvas(w http.ResponseWriter, r *http.Request) error {
	return s.showCanvas(w, r, http.StatusOK, show.HoldForm(s.Market.Rules(), ident.New()))
}

// ownShown is how many places of one's own stand on the first page.
const ownShown = 20

func (s *site) showCanvas(w http.ResponseWriter, r *http.Request, status int, hold views.HoldFormView) error {
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	mine, err := s.ownPlaces(r)
	if err != nil {
		return err
	}
	page := s.publicPage(w, r)
	page.Private = len(mine) > 0
	page.Canonical, page.Image = s.Settings.BaseURL+"/", s.Settings.BaseURL+show.CanvasPicture(b.Revision, "png")
	reply.HTML(w, r, status, views.Canvas(show.Canvas(page, b, s.Market.Rules(), mine, hold)))
	return nil
}

func (s *site) ownPlaces(r *http.Request) ([]views.OwnPlace, error) {
	v := visitor.From(r.Context())
	if len(v.Persons) == 0 {
		return nil, nil
	}
	rentals, now, err := s.Market.Mine(r.Context(), v.Viewer(), ownShown)
	return show.Mine(rentals, now), err
}

// publicPage is the frame of a page that everybody may see. Only strangers
// may keep it, and ask again before they show it; else it carries marks of
// who looks.
func (s *site) publicPage(w http.ResponseWriter, r *http.Request) views.Page {
	p := s.page(r)
	if v := visitor.From(r.Context()); len(v.Persons) == 0 && !v.Admin.Is() && len(p.Flash) == 0 {
		w.Header().Set("Cache-Control", "private, no-cache")
	}
	return p
}
