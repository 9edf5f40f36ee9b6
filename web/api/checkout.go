package api

import (
	"net/http"
	"time"

	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/text"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// offerJSON is a payment page that can be paid.
type offerJSON struct {
	PaymentID   string      `json:"payment_id"`
	CheckoutURL string      `json:"checkout_url"`
	ExpiresAt   time.Time   `json:"expires_at"`
	Amount      money.Money `json:"amount"`
}

// checkout opens a payment page for a hold.
func (a *api) checkout(w http.ResponseWriter, r *http.Request) error {
	v, err := a.buyer(r)
	if err != nil {
		return err
	}
	f, err := read(w, r, "weeks", "email", "go_live_at", "expected_amount")
	if err != nil {
		return a.orNotYours(r, v, err)
	}
	want := purchase(f)
	req, err := request(r, v, want)
	if f.err != nil {
		err = f.err
	}
	if err != nil {
		return a.orNotYours(r, v, err)
	}
	offer, err := onceOutside(r.Context(), a, req, func() (offerJSON, error) {
		return offerOf(a.Market.Checkout(r.Context(), v.Who(), r.PathValue("id"), want))
	})
	if err != nil {
		return err
	}
	reply.JSON(w, r, http.StatusOK, offer)
	return nil
}

func purchase(f *fields) market.Purchase {
	return market.Purchase{
		Weeks:          int(f.number("weeks", 1, market.MaxWeeks)),
		Email:          rule(f, "email", text.Email),
		GoLiveAt:       f.instant("go_live_at"),
		ExpectedAmount: f.expected(),
	}
}

// orNotYours is what is wrong with a request about a rental, unless the rental
// is not the caller's: then it is that, whatever else was asked.
func (a *api) orNotYours(r *http.Request, v visitor.Visitor, err error) error {
	viewer := v.Viewer()
	viewer.Admin = false // an admin does not act for a buyer
	if _, found := a.Market.Find(r.Context(), r.PathValue("id"), viewer); found != nil {
		return found
	}
	return err
}
