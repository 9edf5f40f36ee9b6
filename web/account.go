package web

import (
	"net/http"

	"tuval/internal/creative"
	"tuval/internal/rental"
	"tuval/views"
	"tuval/web/reply"
	"tuval/web/show"
	"tuval/web/visitor"
)

// rentalsShown is how many rentals the account lists.
const rentalsShown = 50

// account lists what belongs to whoever looks.
func (s *site) account(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	rentals, now, err := s.Market.Mine(ctx, visitor.From(ctx).Viewer(), rentalsShown)
	if err != nil {
		return err
	}
	p := views.AccountPage{Page: s.page(r)}
	if p.Email, err = s.emailOf(r); err != nil {
		return err
	}
	for _, one := range rentals {
		pictures, err := s.picturesOf(r, one)
		if err != nil {
			return err
		}
		p.Rentals = append(p.Rentals, show.AccountRental(one, now, pictures))
	}
	reply.HTML(w, r, http.StatusOK, views.Account(p))
	return nil
}

// picturesOf are the revisions of a rental. One that was never paid has none.
func (s *site) picturesOf(r *http.Request, one rental.Rental) ([]creative.Creative, error) {
	if one.PaidAt == nil {
		return nil, nil
	}
	return s.Market.Pictures(r.Context(), s.Pool, one.ID)
}
