package web

import (
	"net/http"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/ident"
	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// hold places a hold and leads to its page.
func (s *site) hold(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	v := visitor.From(r.Context())
	rect, key, problems := readHold(f)
	if problems.Err() != nil {
		return s.holdRefused(w, r, f, rect, problems.Problems()...)
	}
	if err := s.Limits.Holds.Allow(v.NetworkKey()); err != nil {
		return s.holdRefused(w, r, f, rect, fault.As(err))
	}
	held, err := s.Market.Hold(r.Context(), v.Who(), rect, request(v, "hold", key, rect))
	if err != nil {
		if fault.As(err).Kind == fault.Internal {
			return err
		}
		return s.holdRefused(w, r, f, rect, fault.As(err))
	}
	if v.Account == 0 {
		s.sessions.AddPerson(r.Context(), held.Person)
	}
	reply.Found(w, r, "/rentals/"+held.Key)
	return nil
}

// request is how the market recognises a form that is sent again.
func request(v visitor.Visitor, scope, key string, body any) market.Request {
	return market.Request{Scope: scope, Caller: v.Caller(), Key: key, Body: body, Field: "request_id"}
}

func asIs(s string) (string, error) { return s, nil }

func number(field, label string, least, most int) func(string) (int, error) {
	return text.Number{Field: field, Label: label, Min: least, Max: most}.Read
}

// readHold reads a rect in either way of counting: col and row from 1, as
// people do, or x and y from 0, as programs do.
func readHold(f form.Form) (grid.Rect, string, *form.Check) {
	c := &form.Check{}
	rect := readRect(c, f)
	return rect, form.Text(c, f, "request_id", asIs), c
}

// readRect returns what was asked for also when it is no place on the canvas,
// so that it can be shown again.
func readRect(c *form.Check, f form.Form) grid.Rect {
	var x, y int
	people := f.Has("col") || f.Has("row") || !f.Has("x") && !f.Has("y")
	if people {
		x = form.Text(c, f, "col", number("col", "The column (col)", 1, grid.Cols)) - 1
		y = form.Text(c, f, "row", number("row", "The row (row)", 1, grid.Rows)) - 1
	} else {
		x = form.Text(c, f, "x", number("x", "The column x", 0, grid.Cols-1))
		y = form.Text(c, f, "y", number("y", "The row y", 0, grid.Rows-1))
	}
	w := form.Text(c, f, "w", number("w", "The width (w)", 1, grid.Cols))
	h := form.Text(c, f, "h", number("h", "The height (h)", 1, grid.Rows))
	if c.Err() == nil {
		if _, err := grid.New(x, y, w, h); err != nil {
			c.Add("w", err)
		}
	}
	return grid.Rect{X: x, Y: y, W: w, H: h}
}

// holdRefused shows the form again with what was typed and why it was refused:
// alone for scripts, in its page for everybody else.
func (s *site) holdRefused(w http.ResponseWriter, r *http.Request, f form.Form, rect grid.Rect, problems ...*fault.Error) error {
	first, status := reply.Note(w, r, problems[0])
	view := show.HoldForm(s.Market.Rules(), ident.New())
	view.Col, view.Row, view.W, view.H = typedPlace(f, rect)
	view.Outcome, view.Retry = outcomeOf(first), reply.In(first.RetryAfter)
	switch view.Outcome {
	case views.HoldInvalid:
		view.Problems = problemsOf(problems, map[string]string{"x": "col", "y": "row", "request_id": ""})
	case views.HoldTaken:
		b, err := s.Board.Snapshot(r.Context())
		if err != nil {
			return err
		}
		show.Refused(&view, b, rect)
	default:
		view.Message = first.Msg
	}
	if reply.HTMX(r) {
		reply.HTML(w, r, status, views.HoldForm(view))
		return nil
	}
	return s.showCanvas(w, r, status, view)
}

func outcomeOf(f *fault.Error) views.HoldOutcome {
	switch {
	case f.Kind == fault.Invalid:
		return views.HoldInvalid
	case f.Code == "taken":
		return views.HoldTaken
	case f.Code == "full":
		return views.HoldFull
	case f.Kind == fault.Limited:
		return views.HoldLimited
	case f.Kind == fault.Unavailable:
		return views.HoldBusy
	}
	return views.HoldPaying
}

// typedPlace is what was typed, counted from 1 also when it came from 0.
func typedPlace(f form.Form, rect grid.Rect) (col, row, w, h string) {
	col, row = f.Typed("col"), f.Typed("row")
	if !f.Has("col") && !f.Has("row") {
		col, row = f.Typed("x"), f.Typed("y")
		if _, err := text.Int("x", col, 0, grid.Cols-1); err == nil {
			col = show.Count(rect.X + 1)
		}
		if _, err := text.Int("y", row, 0, grid.Rows-1); err == nil {
			row = show.Count(rect.Y + 1)
		}
	}
	return col, row, f.Typed("w"), f.Typed("h")
}

// problemsOf are refusals for the page. rename says under which name a field
// stands there; an empty one means that it is about the form as a whole.
func problemsOf(all []*fault.Error, rename map[string]string) []views.Problem {
	var ps []views.Problem
	for _, f := range all {
		p := views.Problem{Field: f.Field, Text: f.Msg}
		if to, ok := rename[p.Field]; ok {
			p.Field = to
		}
		if f.Field == "request_id" {
			p.Text += ". Nothing was done. Press the button again to send this as a new request."
		}
		ps = append(ps, p)
	}
	return ps
}
