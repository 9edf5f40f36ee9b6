package web

import (
	"context"
	"net/http"
	"strings"

	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/link"
	"tuval/internal/market"
	"tuval/internal/picture"
	"tuval/internal/rental"
	"tuval/internal/text"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// submit takes a picture with its link and words. What can be judged without
// the file is judged together; the file, which costs most, comes last.
func (s *site) submit(w http.ResponseWriter, r *http.Request) error {
	v, key := visitor.From(r.Context()), r.PathValue("id")
	_, may := s.Market.MaySubmit(r.Context(), v.Who(), key)
	if may == nil {
		may = s.Limits.Uploads.Allow(v.NetworkKey())
	}
	u, err := s.readPicture(w, r)
	if may != nil {
		err = may
	}
	refused := func(err error, problems ...*fault.Error) error {
		return s.rentalRefused(w, r, u.Form, err, func(p *views.RentalPage) { markCreative(p, u.Form, problems) })
	}
	if err != nil {
		return refused(err, fault.As(err))
	}
	asked, c := readSubmission(u.Form)
	if err := c.Err(); err != nil {
		return refused(err, c.Problems()...)
	}
	if err := s.render(r.Context(), v, key, u.File, &asked); err != nil {
		return refused(err, fault.As(err))
	}
	body := []string{asked.Link, asked.Title, asked.Alt, asked.Fit, asked.Picture.Hash, asked.Picture2x.Hash}
	if _, err := s.Market.Submit(r.Context(), v.Who(), key, asked.Submission, request(v, "submit", asked.request, body)); err != nil {
		return refused(err, fault.As(err))
	}
	s.tell(r.Context(), "success", "Your picture is with the moderators.")
	reply.Found(w, r, "/rentals/"+key)
	return nil
}

// readPicture reads the form. One that was kept while its sender was signed
// out comes without a file, as a plain form.
func (s *site) readPicture(w http.ResponseWriter, r *http.Request) (form.Upload, error) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		f, err := form.Read(w, r)
		return form.Upload{Form: f}, err
	}
	return form.ReadUpload(w, r, form.Limits{File: "image", Bytes: int64(s.Studio.Limits().Bytes)})
}

// asked is a submission whose pictures are not made yet.
type asked struct {
	market.Submission
	request string
}

func readSubmission(f form.Form) (asked, *form.Check) {
	c := &form.Check{}
	l := form.Text(c, f, "link", link.Parse)
	a := asked{request: form.Text(c, f, "request_id", asIs)}
	a.Link, a.LinkHost = l.URL, l.Host
	a.Title = form.Text(c, f, "title", text.Title)
	a.Alt = form.Text(c, f, "alt", text.Alt)
	a.Fit = string(form.Text(c, f, "fit", picture.ParseMode))
	return a, c
}

// render makes the pictures of the file, or takes those of the newest
// revision when no file was chosen.
func (s *site) render(ctx context.Context, v visitor.Visitor, key string, file []byte, a *asked) error {
	r, err := s.Market.MaySubmit(ctx, v.Who(), key)
	if err != nil {
		return err
	}
	if file == nil {
		return s.sameAgain(ctx, r, a)
	}
	made, err := s.Studio.Render(ctx, file, boxOf(r.Rect), picture.Mode(a.Fit))
	if err != nil {
		return err
	}
	a.Picture, a.Picture2x = stored(made.One), stored(made.Two)
	return nil
}

func boxOf(r grid.Rect) picture.Box { return picture.Box{W: r.W * grid.BlockPx, H: r.H * grid.BlockPx} }

func stored(r picture.Rendition) creative.Picture {
	return creative.Picture{Hash: r.Hash, MIME: r.MIME, Width: r.W, Height: r.H, Bytes: r.Bytes}
}

// sameAgain takes the pictures of the newest revision. The file they were
// made of is not kept, so they cannot be fitted otherwise.
func (s *site) sameAgain(ctx context.Context, r rental.Rental, a *asked) error {
	all, err := s.Market.Pictures(ctx, s.Pool, r.ID)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return fault.Field("image", "Please choose a picture.")
	case all[0].Fit != a.Fit:
		return fault.Field("image", "To fit the picture otherwise, please choose its file again.")
	}
	if a.Picture, err = creative.PictureByHash(ctx, s.Pool, all[0].Picture); err != nil {
		return err
	}
	a.Picture2x, err = creative.PictureByHash(ctx, s.Pool, all[0].Picture2x)
	return err
}

// markCreative puts what was typed back into the form, and what was wrong
// with it.
func markCreative(p *views.RentalPage, f form.Form, problems []*fault.Error) {
	if p.Creative == nil || p.Creative.Form == nil {
		return
	}
	to := p.Creative.Form
	if f.Has("link") || f.Has("alt") {
		to.Link, to.Title, to.Alt, to.Fit = f.Typed("link"), f.Typed("title"), f.Typed("alt"), f.Typed("fit")
	}
	for _, problem := range problems {
		switch problem.Kind {
		case fault.Invalid, fault.TooLarge, fault.Unsupported:
			to.Problems = append(to.Problems, problemsOf([]*fault.Error{problem}, map[string]string{"request_id": ""})...)
		}
	}
}
