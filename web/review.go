package web

import (
	"net/http"

	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// reviewsShown is how many pictures stand on one page of the queue.
const reviewsShown = 20

// reasonMax is the length of a reason in characters.
const reasonMax = 500

// reviews is the queue, the nearest deadline first.
func (s *site) reviews(w http.ResponseWriter, r *http.Request) error {
	return s.showReviews(w, r, http.StatusOK, nil)
}

func (s *site) showReviews(w http.ResponseWriter, r *http.Request, status int, mark func(*views.ReviewItem)) error {
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	queue, err := s.Market.Reviews(r.Context(), reviewsShown)
	if err != nil {
		return err
	}
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	p := views.ReviewsPage{AdminPage: frame, Reasons: show.Reasons(), More: max(frame.Reviews-len(queue), 0)}
	for _, review := range queue {
		d, err := s.Market.Look(r.Context(), review.RentalKey, visitor.From(r.Context()).Viewer())
		if err != nil {
			return err
		}
		item := show.Review(review, d, show.CanvasPicture(b.Revision, "webp"))
		if mark != nil {
			mark(&item)
		}
		p.Items = append(p.Items, item)
	}
	reply.HTML(w, r, status, views.Reviews(p))
	return nil
}

// approve puts the exact revision that was on the screen onto the canvas.
func (s *site) approve(w http.ResponseWriter, r *http.Request) error { return s.decide(w, r, true) }

// reject refuses the exact revision that was on the screen.
func (s *site) reject(w http.ResponseWriter, r *http.Request) error { return s.decide(w, r, false) }

func (s *site) decide(w http.ResponseWriter, r *http.Request, approve bool) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	c := &form.Check{}
	d := market.Decision{
		Creative: r.PathValue("id"), By: visitor.From(r.Context()).Admin.Email, Approve: approve,
		Revision: form.Text(c, f, "revision", number("revision", "The revision", 1, 1_000_000)),
	}
	if !approve {
		reason := text.Rule{Field: "reason", Label: "The reason", Max: reasonMax, Required: true, Lines: true}
		d.Reason = form.Text(c, f, "reason", reason.Clean)
	}
	if err := c.Err(); err != nil {
		return s.decisionRefused(w, r, f, d, err)
	}
	decided, err := s.Market.Decide(r.Context(), d)
	if err != nil {
		return s.decisionRefused(w, r, f, d, err)
	}
	return s.decided(w, r, decided)
}

// decided says what was done: to scripts in the item's place, to everybody
// else above the queue.
func (s *site) decided(w http.ResponseWriter, r *http.Request, c creative.Creative) error {
	if reply.HTMX(r) {
		reply.HTML(w, r, http.StatusOK, views.Outcome(show.Decided(c)))
		return nil
	}
	s.tell(r.Context(), "success", show.Said(c))
	reply.Found(w, r, "/admin/reviews")
	return nil
}

func (s *site) decisionRefused(w http.ResponseWriter, r *http.Request, f form.Form, d market.Decision, err error) error {
	refusal := fault.As(err)
	switch {
	case refusal.Kind == fault.Conflict:
		return s.decisionLate(w, r, d, err)
	case refusal.Kind != fault.Invalid || reply.HTMX(r):
		return err
	}
	_, status := reply.Note(w, r, err)
	return s.showReviews(w, r, status, func(i *views.ReviewItem) {
		if i.CreativeID == d.Creative {
			i.Error, i.Reason = refusal.Msg, f.Typed("reason")
		}
	})
}

// decisionLate answers a decision on something that has changed meanwhile.
func (s *site) decisionLate(w http.ResponseWriter, r *http.Request, d market.Decision, err error) error {
	refusal, status := reply.Note(w, r, err)
	o := views.ReviewOutcome{CreativeID: d.Creative, Revision: d.Revision, State: "conflict", Text: refusal.Msg}
	if reply.HTMX(r) {
		reply.HTML(w, r, status, views.Outcome(o))
		return nil
	}
	frame, err := s.adminPage(r)
	if err != nil {
		return err
	}
	reply.HTML(w, r, status, views.OutcomePage(frame, o))
	return nil
}
