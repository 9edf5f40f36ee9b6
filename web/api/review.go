package api

import (
	"context"
	"net/http"
	"time"

	"tuval/internal/creative"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/web/reply"
)

// reviewJSON is a revision with what a moderator needs to know. State and
// Reason are told with a decision; in the queue all are pending.
type reviewJSON struct {
	CreativeID  string         `json:"creative_id"`
	RentalID    string         `json:"rental_id"`
	Revision    int            `json:"revision"`
	State       creative.State `json:"state"`
	Reason      string         `json:"reason,omitempty"`
	ImageURL    string         `json:"image_url"`
	Link        string         `json:"link"`
	LinkHost    string         `json:"link_host"`
	Title       string         `json:"title"`
	Alt         string         `json:"alt"`
	SubmittedAt time.Time      `json:"submitted_at"`
	DecideBy    *time.Time     `json:"decide_by,omitempty"`
	Rect        grid.Rect      `json:"rect"`
}

func reviewOf(c creative.Creative, r rental.Rental) reviewJSON {
	j := reviewJSON{
		CreativeID: c.Key, RentalID: r.Key, Revision: c.Revision, State: c.State, ImageURL: privatePicture(r.Key, c.Picture),
		Link: c.Link, LinkHost: c.LinkHost, Title: c.Title, Alt: c.Alt, SubmittedAt: c.SubmittedAt,
		DecideBy: r.ApproveBy, Rect: r.Rect,
	}
	if r.LiveFrom != nil { // the window is for the first approval only
		j.DecideBy = r.EndsAt
	}
	if c.Reason != nil {
		j.Reason = *c.Reason
	}
	return j
}

type reviewsJSON struct {
	Reviews []reviewJSON `json:"reviews"`
	Next    string       `json:"next,omitempty"`
}

// reviews is the queue, the nearest deadline first.
func (a *api) reviews(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.admin(r); err != nil {
		return err
	}
	after, err := param(r, "next")
	if err != nil {
		return err
	}
	queue, err := a.Market.Reviews(r.Context(), mostListed)
	if err != nil {
		return err
	}
	page, next := pageOf(queue, after, func(r creative.Review) string { return r.Key })
	list := reviewsJSON{Reviews: []reviewJSON{}, Next: next}
	for _, one := range page {
		of, err := rental.ByID(r.Context(), a.Pool, one.Rental)
		if err != nil {
			return err
		}
		list.Reviews = append(list.Reviews, reviewOf(one.Creative, of))
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

// reasonMax is the length of a reason in characters.
const reasonMax = 500

// approve puts an exact revision onto the canvas.
func (a *api) approve(w http.ResponseWriter, r *http.Request) error {
	return a.decide(w, r, true, "revision")
}

// reject refuses an exact revision; the buyer reads the reason.
func (a *api) reject(w http.ResponseWriter, r *http.Request) error {
	return a.decide(w, r, false, "revision", "reason")
}

func (a *api) decide(w http.ResponseWriter, r *http.Request, approve bool, known ...string) error {
	v, err := a.admin(r)
	if err != nil {
		return err
	}
	f, err := read(w, r, known...)
	if err != nil {
		return err
	}
	d := market.Decision{
		Creative: r.PathValue("id"), By: v.Admin.Email, Approve: approve, Revision: int(f.number("revision", 1, 1_000_000)),
	}
	if !approve {
		d.Reason = f.reason()
	}
	if f.err != nil {
		return f.err
	}
	req, err := request(r, v, d)
	if err != nil {
		return err
	}
	decided, err := once(r.Context(), a, req, func() (reviewJSON, error) { return a.decided(r.Context(), d) })
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, decided)
	return nil
}

func (a *api) decided(ctx context.Context, d market.Decision) (reviewJSON, error) {
	c, err := a.Market.Decide(ctx, d)
	if err != nil {
		return reviewJSON{}, err
	}
	of, err := rental.ByID(ctx, a.Pool, c.Rental)
	return reviewOf(c, of), err
}
