package api

import (
	"net/http"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// rentalsPage is how many rentals one answer has. Each that was ever to be paid
// is looked at on its own.
const rentalsPage = 50

type rentalsJSON struct {
	Rentals []rentalJSON `json:"rentals"`
	Next    string       `json:"next,omitempty"`
}

// rentals lists all rentals or those of a state, the newest first.
func (a *api) rentals(w http.ResponseWriter, r *http.Request) error {
	v, err := a.admin(r)
	if err != nil {
		return err
	}
	state, err := stateParam(r)
	if err != nil {
		return err
	}
	below, err := a.below(r)
	if err != nil {
		return err
	}
	list, err := a.listed(r, v, state, below)
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, list)
	return nil
}

func (a *api) listed(r *http.Request, v visitor.Visitor, state rental.State, below rental.ID) (rentalsJSON, error) {
	list := rentalsJSON{Rentals: []rentalJSON{}}
	found, now, err := a.Market.Rentals(r.Context(), state, below, rentalsPage+1)
	if err != nil {
		return list, err
	}
	if len(found) > rentalsPage {
		found = found[:rentalsPage]
		list.Next = found[rentalsPage-1].Key
	}
	for _, one := range found {
		d := market.Detail{Rental: one, Now: now}
		if one.Email != nil { // nobody pays without one
			if d, err = a.Market.Look(r.Context(), one.Key, v.Viewer()); err != nil {
				return list, err
			}
		}
		// What time has moved on since it was written down is in another state.
		if state == "" || d.Rental.State == state {
			list.Rentals = append(list.Rentals, rentalOf(d))
		}
	}
	return list, nil
}

func stateParam(r *http.Request) (rental.State, error) {
	s, err := param(r, "state")
	switch state := rental.State(s); state {
	case "", rental.Held, rental.Paying, rental.Paid, rental.Live, rental.Ended, rental.Closed:
		return state, err
	}
	return "", fault.Field("state", "state must be one of held, paying, paid, live, ended, closed")
}

// below is the row of the rental that the last page ended with.
func (a *api) below(r *http.Request) (rental.ID, error) {
	key, err := param(r, "next")
	if err != nil || key == "" {
		return 0, err
	}
	last, err := rental.ByKey(r.Context(), a.Pool, key)
	if fault.As(err).Kind == fault.NotFound {
		return 0, fault.Field("next", "next must be what an earlier answer gave")
	}
	return last.ID, err
}
