package web

import (
	"net/http"
	"time"

	"tuval/internal/fault"
	"tuval/internal/ident"
	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/repeat"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// noteMax is the length of a note in characters.
const noteMax = 200

// blocked lists the areas that are kept out of the market.
func (s *site) blocked(w http.ResponseWriter, r *http.Request) error {
	return s.showBlocked(w, r, http.StatusOK, views.BlockedForm{})
}

func (s *site) showBlocked(w http.ResponseWriter, r *http.Request, status int, f views.BlockedForm) error {
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	areas, err := s.Market.BlockedAreas(r.Context())
	if err != nil {
		return err
	}
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	f.Request = ident.New()
	p := views.BlockedPage{AdminPage: frame, Canvas: show.CanvasPicture(b.Revision, "webp"), Form: f}
	for _, a := range areas {
		p.Areas = append(p.Areas, show.BlockedArea(a))
	}
	reply.HTML(w, r, status, views.Blocked(p))
	return nil
}

// block keeps an area out of the market.
func (s *site) block(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	c := &form.Check{}
	rect := readRect(c, f)
	note := form.Text(c, f, "note", text.Rule{Field: "note", Label: "The note", Max: noteMax, Required: true}.Clean)
	until := form.Text(c, f, "until", readUntil)
	req := adminRequest(c, f, r, []any{rect, note, until})
	if err := c.Err(); err != nil {
		return s.blockRefused(w, r, f, err, c.Problems()...)
	}
	area, err := repeat.Once(r.Context(), s.memory, req, func() (market.Blocked, error) {
		return s.Market.Block(r.Context(), visitor.From(r.Context()).Admin.Email, rect, note, until)
	})
	if err != nil {
		return s.blockRefused(w, r, f, err, fault.As(err))
	}
	s.tell(r.Context(), "success", "Blocked: "+show.Place(area.Rect, "").String()+".")
	reply.Found(w, r, "/admin/blocked")
	return nil
}

// adminRequest is how an admin's form is recognised when it is sent again. What
// was typed into it is body.
func adminRequest(c *form.Check, f form.Form, r *http.Request, body any) market.Request {
	key := form.Text(c, f, "request_id", func(s string) (string, error) { return s, repeat.Check("request_id", s) })
	return request(visitor.From(r.Context()), r.URL.Path, key, body)
}

// readUntil reads date and time in UTC; nothing means the usual length.
func readUntil(s string) (*time.Time, error) {
	t, err := readHour(s)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The end must be a date and a time in UTC, as in 2027-01-31T15:00.")
	}
	return t, nil
}

func (s *site) blockRefused(w http.ResponseWriter, r *http.Request, f form.Form, err error, problems ...*fault.Error) error {
	switch fault.As(err).Kind {
	case fault.Invalid, fault.Conflict:
	default:
		return err
	}
	_, status := reply.Note(w, r, err)
	return s.showBlocked(w, r, status, views.BlockedForm{
		Col: f.Typed("col"), Row: f.Typed("row"), W: f.Typed("w"), H: f.Typed("h"), Note: f.Typed("note"), Until: f.Typed("until"),
		Problems: problemsOf(problems, map[string]string{"x": "col", "y": "row", "request_id": ""}),
	})
}

// unblock frees a blocked area. One that is free already needs no words.
func (s *site) unblock(w http.ResponseWriter, r *http.Request) error {
	if _, err := form.Read(w, r); err != nil {
		return err
	}
	err := s.Market.Unblock(r.Context(), visitor.From(r.Context()).Admin.Email, r.PathValue("id"))
	if err != nil {
		return err
	}
	s.tell(r.Context(), "success", "The area is free again.")
	reply.Found(w, r, "/admin/blocked")
	return nil
}
