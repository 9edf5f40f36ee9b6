package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/link"
	"tuval/internal/market"
	"tuval/internal/picture"
	"tuval/internal/rental"
	"tuval/internal/text"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// submittedJSON is a revision that waits for a moderator.
type submittedJSON struct {
	Revision int            `json:"revision"`
	State    creative.State `json:"state"`
}

// submit takes a picture with its link and words. Whatever can be judged
// without the file is judged before it is unpacked, which costs most.
func (a *api) submit(w http.ResponseWriter, r *http.Request) error {
	v, place, err := a.submitter(r)
	if err != nil {
		swallow(w, r)
		return err
	}
	u, err := form.ReadUpload(w, r, form.Limits{File: "image", Bytes: int64(a.Studio.Limits().Bytes)})
	if err != nil {
		return err
	}
	s, err := submission(u)
	if err != nil {
		return err
	}
	if err := a.render(r.Context(), &s, u.File, place.Rect); err != nil {
		return err
	}
	req, err := request(r, v, []string{s.Link, s.Title, s.Alt, s.Fit, s.Picture.Hash, s.Picture2x.Hash})
	if err != nil {
		return err
	}
	c, err := a.Market.Submit(r.Context(), v.Who(), r.PathValue("id"), s, req)
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusAccepted, submittedJSON{Revision: c.Revision, State: c.State})
	return nil
}

// submitter is who sends, if the rental takes pictures from them now.
func (a *api) submitter(r *http.Request) (visitor.Visitor, rental.Rental, error) {
	v, err := a.buyer(r)
	if err != nil {
		return v, rental.Rental{}, err
	}
	place, err := a.Market.MaySubmit(r.Context(), v.Who(), r.PathValue("id"))
	if err == nil {
		err = a.Limits.Uploads.Allow(v.NetworkKey())
	}
	return v, place, err
}

// submissionFields are the parts of an upload besides the file.
var submissionFields = []string{"link", "title", "alt", "fit"}

// submission is what was sent, its pictures not made yet.
func submission(u form.Upload) (market.Submission, error) {
	for _, name := range u.Names() {
		if !slices.Contains(submissionFields, name) {
			return market.Submission{}, fault.Field(short(name), fmt.Sprintf("There is no field %q here; known are: image, link, title, alt, fit.", short(name)))
		}
	}
	c := &form.Check{}
	l := form.Text(c, u.Form, "link", link.Parse)
	s := market.Submission{
		Link: l.URL, LinkHost: l.Host,
		Title: form.Text(c, u.Form, "title", text.Title),
		Alt:   form.Text(c, u.Form, "alt", text.Alt),
		Fit:   string(form.Text(c, u.Form, "fit", picture.ParseMode)),
	}
	if u.File == nil {
		c.Add("image", fault.Field("image", "image is missing: it must be a file"))
	}
	return s, c.Err()
}

// render makes the pictures of the file.
func (a *api) render(ctx context.Context, s *market.Submission, file []byte, place grid.Rect) error {
	box := picture.Box{W: place.W * grid.BlockPx, H: place.H * grid.BlockPx}
	made, err := a.Studio.Render(ctx, file, box, picture.Mode(s.Fit))
	if err != nil {
		return err
	}
	s.Picture, s.Picture2x = stored(made.One), stored(made.Two)
	return nil
}

func stored(r picture.Rendition) creative.Picture {
	return creative.Picture{Hash: r.Hash, MIME: r.MIME, Width: r.W, Height: r.H, Bytes: r.Bytes}
}
