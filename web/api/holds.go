package api

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"tuval/internal/board"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/web/reply"
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
		ID: h.Key, Rect: h.Rect, State: h.State, LeasedUntil: h.LeasedUntil,
		PricePerWeek: h.PricePerWeek, CheckoutBy: h.CheckoutBy,
	}
}

// hold places a hold, for anybody. The token it answers with is what everything
// else about the rental is asked with.
func (a *api) hold(w http.ResponseWriter, r *http.Request) error {
	v, err := a.holder(r)
	if err != nil {
		return err
	}
	f, err := read(w, r, rectFields...)
	if err != nil {
		return err
	}
	rect := f.rect()
	if f.err != nil {
		return f.err
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
	s, err := a.Board.Snapshot(ctx)
	if err != nil { // the answer is true without them
		return lost.With("suggestions", []grid.Rect{})
	}
	return lost.With("suggestions", a.nearby.of(s, rect))
}

// nearby are the places found last. In a rush many lose the same rect.
type nearby struct{ last atomic.Pointer[places] }

type places struct {
	of   *board.Snapshot
	rect grid.Rect
	free []grid.Rect
}

func (n *nearby) of(s *board.Snapshot, rect grid.Rect) []grid.Rect {
	found := n.last.Load()
	if found == nil || found.of != s || found.rect != rect {
		found = &places{of: s, rect: rect, free: append([]grid.Rect{}, s.Taken.Nearest(rect, suggested)...)}
		n.last.Store(found)
	}
	return found.free
}

// keep prolongs a hold, once.
func (a *api) keep(w http.ResponseWriter, r *http.Request) error {
	v, err := a.buyer(r)
	if err != nil {
		return err
	}
	if _, err := read(w, r); err != nil {
		return err
	}
	key := r.PathValue("id")
	req, err := request(r, v, key)
	if err != nil {
		return err
	}
	held, err := a.Market.Keep(r.Context(), v.Who(), key, req)
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, heldOf(held))
	return nil
}

// letGo gives a hold or a checkout up. Doing it again changes nothing.
func (a *api) letGo(w http.ResponseWriter, r *http.Request) error {
	v, err := a.buyer(r)
	if err != nil {
		return err
	}
	if err := a.Market.Cancel(r.Context(), v.Who(), r.PathValue("id")); err != nil {
		return err
	}
	nothing(w)
	return nil
}
