package api

import (
	"net/http"
	"slices"

	"tuval/internal/creative"
	"tuval/web/reply"
)

// rental is everything its buyer, or an admin, may know of a rental.
func (a *api) rental(w http.ResponseWriter, r *http.Request) error {
	v, err := a.viewer(r)
	if err != nil {
		return err
	}
	d, err := a.Market.Look(r.Context(), r.PathValue("id"), v.Viewer())
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, rentalOf(d))
	return nil
}

// picture is any picture of a rental, whether or not it was approved.
func (a *api) picture(w http.ResponseWriter, r *http.Request) error {
	ctx, hash := r.Context(), r.PathValue("hash")
	v, err := a.viewer(r)
	if err != nil {
		return err
	}
	found, err := a.Market.Find(ctx, r.PathValue("id"), v.Viewer())
	if err != nil {
		return err
	}
	all, err := a.Market.Pictures(ctx, a.Pool, found.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(c creative.Creative) bool { return hash == c.Picture || hash == c.Picture2x }) {
		return creative.NotFound()
	}
	p, err := creative.PictureByHash(ctx, a.Pool, hash)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "private, no-store")
	reply.Bytes(w, r, `"`+hash+`"`, p.MIME, p.Bytes)
	return nil
}
