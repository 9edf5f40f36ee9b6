package api

import (
	"math"
	"net/http"

	"tuval/internal/market"
	"tuval/internal/text"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// refund sends money back, a part of a payment or all that is left of it.
func (a *api) refund(w http.ResponseWriter, r *http.Request) error {
	v, f, err := a.amending(w, r, "payment_id", "amount", "reason")
	if err != nil {
		return err
	}
	order := market.RefundOrder{
		Rental: r.PathValue("id"), Reason: f.reason(), By: v.Admin.Email,
		Payment: rule(f, "payment_id", text.Rule{Field: "payment_id", Label: "payment_id", Max: 100}.Clean),
	}
	if f.has("amount") {
		amount := f.number("amount", 1, math.MaxInt64)
		order.Amount = &amount
	}
	return a.amend(w, r, v, f, order, func() error { return a.Market.RefundNow(r.Context(), order) })
}

// hide takes a picture off the canvas; its paid time runs on.
func (a *api) hide(w http.ResponseWriter, r *http.Request) error {
	v, f, err := a.amending(w, r, "reason")
	if err != nil {
		return err
	}
	reason := f.reason()
	return a.amend(w, r, v, f, reason, func() error {
		return a.Market.Hide(r.Context(), r.PathValue("id"), reason, v.Admin.Email)
	})
}

// unhide puts a hidden picture back.
func (a *api) unhide(w http.ResponseWriter, r *http.Request) error {
	v, f, err := a.amending(w, r, "reason")
	if err != nil {
		return err
	}
	reason := f.reason()
	return a.amend(w, r, v, f, reason, func() error {
		return a.Market.Unhide(r.Context(), r.PathValue("id"), reason, v.Admin.Email)
	})
}

// remove closes a rental for good and frees its blocks.
func (a *api) remove(w http.ResponseWriter, r *http.Request) error {
	v, f, err := a.amending(w, r, "reason", "refund")
	if err != nil {
		return err
	}
	order := market.Removal{Rental: r.PathValue("id"), Reason: f.reason(), By: v.Admin.Email, Refund: f.flag("refund")}
	return a.amend(w, r, v, f, order, func() error { return a.Market.Remove(r.Context(), order) })
}

// amending reads what an admin asks to be done with a rental.
func (a *api) amending(w http.ResponseWriter, r *http.Request, known ...string) (visitor.Visitor, *fields, error) {
	v, err := a.admin(r)
	if err != nil {
		return v, nil, err
	}
	f, err := read(w, r, known...)
	return v, f, err
}

// amend does it once for a key and answers with the rental as it is then.
func (a *api) amend(w http.ResponseWriter, r *http.Request, v visitor.Visitor, f *fields, body any, do func() error) error {
	if f.err != nil {
		return f.err
	}
	req, err := request(r, v, body)
	if err != nil {
		return err
	}
	now, err := once(r.Context(), a, req, func() (rentalJSON, error) {
		if err := do(); err != nil {
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

// reason is why, in words for the buyer.
func (f *fields) reason() string {
	return rule(f, "reason", text.Rule{Field: "reason", Label: "The reason", Max: reasonMax, Required: true, Lines: true}.Clean)
}
