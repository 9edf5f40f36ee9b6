package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// heldJSON is a hold as it was placed or kept.
type heldJSON struct {
	ID           string       `json:"id"`
	Token        string       `json:"token,omitempty"`
	Rect         grid.Rect    `json:"rect"`
	State        rental.State `json:"state"`
	LeasedUntil  time.Time    `json:"leased_until"`
	PricePerWeek money.Money  `json:"price_per_week"`
	CheckoutBy   time.Time    `json:"checkout_by"`
}

func heldOf(h market.Held) heldJSON {
	return heldJSON{
		ID: h.Key, Rect: h.Rect, State: h.State, LeasedUntil: h.LeasedUntil.UTC(),
		PricePerWeek: h.PricePerWeek, CheckoutBy: h.CheckoutBy.UTC(),
	}
}

// hold places a hold, for anybody. The token it answers with is what everything
// else about the rental is asked with.
func (a *api) hold(w http.ResponseWriter, r *http.Request) error {
	f, err := read(w, r, rectFields...)
	if err != nil {
		return err
	}
	rect := f.rect()
	if f.err != nil {
		return f.err
	}
	v, err := a.holder(r)
	if err != nil {
		return err
	}
	if err := a.Limits.Holds.Allow(v.NetworkKey()); err != nil {
		return err
	}
	req, err := request(r, v, rect)
	if err != nil {
		return err
	}
	held, err := a.Market.Hold(r.Context(), v.Who(), rect, req)
	if err != nil {
		return a.elsewhere(r.Context(), rect, err)
	}
	answer := heldOf(held)
	answer.Token = a.Market.Token(held.Key, held.Version)
	w.Header().Set("Location", "/api/v1/rentals/"+held.Key)
	reply.JSON(w, r, http.StatusCreated, answer)
	return nil
}

// suggested is how many places a loser is shown.
const suggested = 5

// elsewhere adds to a lost race the nearest places that are free.
func (a *api) elsewhere(ctx context.Context, rect grid.Rect, err error) error {
	var lost *fault.Error
	if !errors.As(err, &lost) || lost.Code != "taken" {
		return err
	}
	near := []grid.Rect{}
	if s, err := a.Board.Snapshot(ctx); err == nil {
		near = append(near, s.Taken.Nearest(rect, suggested)...)
	}
	return lost.With("suggestions", near)
}

// keyHeader is by what a client says that it asks the same again.
const keyHeader = "Idempotency-Key"

// request is how the market recognises a request that is sent again.
func request(r *http.Request, v visitor.Visitor, body any) (market.Request, error) {
	req := market.Request{Scope: r.Method + " " + r.URL.Path, Caller: v.Caller(), Body: body, Field: keyHeader}
	switch keys := r.Header.Values(keyHeader); {
	case len(keys) == 1 && keys[0] != "":
		req.Key = keys[0]
	case len(keys) > 0:
		return req, fault.Field(keyHeader, keyHeader+" must be 8 to 200 printable ASCII characters, sent once")
	}
	return req, nil
}
