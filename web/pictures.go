package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/rental"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// canvasPicture is the composed canvas of a revision. Who asks for one that
// is not known any more is led to the present one.
func (s *site) canvasPicture(w http.ResponseWriter, r *http.Request) error {
	revision, kind, _ := strings.Cut(r.PathValue("file"), ".")
	if kind != "png" && kind != "webp" {
		return fault.New(fault.NotFound, "There is no such picture.")
	}
	picture, err := s.Board.Picture(r.Context(), revision, kind)
	if fault.As(err).Kind == fault.NotFound {
		return s.presentPicture(w, r, revision, kind)
	}
	if err != nil {
		return err
	}
	sendCanvas(w, r, revision, kind, picture)
	return nil
}

// presentPicture answers for a revision that this process has not drawn.
// Another one may have told the browser of it before this one heard.
func (s *site) presentPicture(w http.ResponseWriter, r *http.Request, revision, kind string) error {
	b, err := s.Board.Snapshot(r.Context())
	if err != nil {
		return err
	}
	if b.Revision != revision {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, show.CanvasPicture(b.Revision, kind), http.StatusFound)
		return nil
	}
	picture, err := s.Board.Picture(r.Context(), revision, kind)
	if err != nil {
		return err
	}
	sendCanvas(w, r, revision, kind, picture)
	return nil
}

func sendCanvas(w http.ResponseWriter, r *http.Request, revision, kind string, picture []byte) {
	w.Header().Set("Cache-Control", "public, max-age=60")
	sendPicture(w, r, revision, "image/"+kind, picture)
}

// picture is an approved picture while it is on the canvas.
func (s *site) picture(w http.ResponseWriter, r *http.Request) error {
	hash := r.PathValue("hash")
	showing, err := creative.ShowingOf(r.Context(), s.Pool, hash)
	switch {
	case err != nil:
		return err
	case showing == creative.Over:
		return fault.New(fault.Gone, "This picture is no longer on the canvas.")
	case showing == creative.Unknown:
		return creative.NotFound()
	}
	w.Header().Set("Cache-Control", "public, max-age=3600")
	return s.storedPicture(w, r, hash)
}

// privatePicture is any picture of a rental, for its owner and admins.
func (s *site) privatePicture(w http.ResponseWriter, r *http.Request) error {
	hash := r.PathValue("hash")
	found, err := s.Market.Find(r.Context(), r.PathValue("id"), visitor.From(r.Context()).Viewer())
	if err != nil {
		return err
	}
	belongs, err := s.belongs(r.Context(), found.ID, hash)
	switch {
	case err != nil:
		return err
	case !belongs:
		return creative.NotFound()
	}
	w.Header().Set("Cache-Control", "private, no-store")
	return s.storedPicture(w, r, hash)
}

func (s *site) storedPicture(w http.ResponseWriter, r *http.Request, hash string) error {
	p, err := creative.PictureByHash(r.Context(), s.Pool, hash)
	if err != nil {
		return err
	}
	sendPicture(w, r, hash, p.MIME, p.Bytes)
	return nil
}

// sendPicture answers with bytes that are addressed by what they are, so the
// name is their tag.
func sendPicture(w http.ResponseWriter, r *http.Request, name, mime string, body []byte) {
	reply.Bytes(w, r, `"`+name+`"`, mime, body)
}

func (s *site) belongs(ctx context.Context, id rental.ID, hash string) (bool, error) {
	all, err := s.Market.Pictures(ctx, s.Pool, id)
	return slices.ContainsFunc(all, func(c creative.Creative) bool { return hash == c.Picture || hash == c.Picture2x }), err
}
