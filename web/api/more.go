package api

import (
	"context"
	"math"
	"net/http"

	"tuval/internal/market"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// extend opens a payment page for more weeks of a rental that is live.
func (a *api) extend(w http.ResponseWriter, r *http.Request) error {
	return a.buyMore(w, r, a.Market.Extend)
}

// renew opens a payment page for new weeks of a rental that has ended.
func (a *api) renew(w http.ResponseWriter, r *http.Request) error {
	return a.buyMore(w, r, a.Market.Renew)
}

type buyVerb func(context.Context, market.Who, string, market.More) (market.Offer, error)

func (a *api) buyMore(w http.ResponseWriter, r *http.Request, buy buyVerb) error {
	v, err := a.buyer(r)
	if err != nil {
		return err
	}
	f, err := read(w, r, "weeks", "expected_amount")
	if err != nil {
		return a.orNotYours(r, v, err)
	}
	want := market.More{Weeks: int(f.number("weeks", 1, market.MaxWeeks)), ExpectedAmount: f.expected()}
	req, err := request(r, v, want)
	if f.err != nil {
		err = f.err
	}
	if err != nil {
		return a.orNotYours(r, v, err)
	}
	offer, err := onceOutside(r.Context(), a, req, func() (offerJSON, error) {
		return offerOf(buy(r.Context(), v.Who(), r.PathValue("id"), want))
	})
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, offer)
	return nil
}

// expected is the amount that the caller was shown, if it says one.
func (f *fields) expected() *int64 {
	if !f.has("expected_amount") {
		return nil
	}
	amount := f.number("expected_amount", 0, math.MaxInt64)
	return &amount
}

func offerOf(o market.Offer, err error) (offerJSON, error) {
	return offerJSON{PaymentID: o.PaymentKey, CheckoutURL: o.URL, ExpiresAt: o.ExpiresAt, Amount: o.Amount}, err
}

// withdraw gives a rental back before its first approval.
func (a *api) withdraw(w http.ResponseWriter, r *http.Request) error {
	v, err := a.buyer(r)
	if err != nil {
		return err
	}
	if _, err := read(w, r); err != nil {
		return a.orNotYours(r, v, err)
	}
	key := r.PathValue("id")
	req, err := request(r, v, key)
	if err != nil {
		return a.orNotYours(r, v, err)
	}
	now, err := once(r.Context(), a, req, func() (rentalJSON, error) {
		if err := a.Market.Withdraw(r.Context(), v.Who(), key); err != nil {
			return rentalJSON{}, err
		}
		return a.now(r, v)
	})
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, now)
	return nil
}

// now is the rental of a request as it is now.
func (a *api) now(r *http.Request, v visitor.Visitor) (rentalJSON, error) {
	d, err := a.Market.Look(r.Context(), r.PathValue("id"), v.Viewer())
	return rentalOf(d), err
}
