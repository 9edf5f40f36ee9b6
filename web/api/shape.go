package api

import (
	"time"

	"tuval/internal/creative"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// rentalJSON is a rental as it is at the moment of the answer.
type rentalJSON struct {
	ID            string         `json:"id"`
	Rect          grid.Rect      `json:"rect"`
	State         rental.State   `json:"state"`
	ClosedReason  *rental.Reason `json:"closed_reason,omitempty"`
	LeasedUntil   *time.Time     `json:"leased_until,omitempty"`
	Weeks         int            `json:"weeks,omitempty"`
	PaidAt        *time.Time     `json:"paid_at,omitempty"`
	ApproveBy     *time.Time     `json:"approve_by,omitempty"`
	GoLiveAt      *time.Time     `json:"go_live_at,omitempty"`
	LiveFrom      *time.Time     `json:"live_from,omitempty"`
	EndsAt        *time.Time     `json:"ends_at,omitempty"`
	ReservedUntil *time.Time     `json:"reserved_until,omitempty"`
	Payments      []paymentJSON  `json:"payments"`
	Creative      *creativeJSON  `json:"creative,omitempty"`
	LiveCreative  *creativeJSON  `json:"live_creative,omitempty"`
}

type paymentJSON struct {
	ID      string          `json:"id"`
	Purpose payment.Purpose `json:"purpose"`
	Weeks   int             `json:"weeks"`
	Amount  money.Money     `json:"amount"`
	State   payment.State   `json:"state"`
	Refunds []refundJSON    `json:"refunds"`
}

type refundJSON struct {
	ID     string              `json:"id"`
	Amount money.Money         `json:"amount"`
	State  payment.RefundState `json:"state"`
	Reason string              `json:"reason"`
}

type creativeJSON struct {
	Revision int            `json:"revision"`
	State    creative.State `json:"state"`
	Reason   string         `json:"reason,omitempty"`
	ImageURL string         `json:"image_url,omitempty"`
}

func rentalOf(d market.Detail) rentalJSON {
	r := d.Rental
	return rentalJSON{
		ID: r.Key, Rect: r.Rect, State: r.State, ClosedReason: r.ClosedReason, LeasedUntil: r.LeasedUntil, Weeks: d.Weeks,
		PaidAt: r.PaidAt, ApproveBy: r.ApproveBy, GoLiveAt: r.GoLiveAt, LiveFrom: r.LiveFrom, EndsAt: r.EndsAt,
		ReservedUntil: r.ReservedUntil, Payments: paymentsOf(d.Payments, d.Refunds),
		Creative: creativeOf(d, d.Latest()), LiveCreative: creativeOf(d, d.Approved()),
	}
}

func paymentsOf(ps []payment.Payment, rs []payment.Refund) []paymentJSON {
	all := []paymentJSON{}
	for _, p := range ps {
		j := paymentJSON{ID: p.Key, Purpose: p.Purpose, Weeks: p.Weeks, Amount: p.Amount, State: p.State, Refunds: []refundJSON{}}
		for _, r := range rs {
			if r.Payment == p.ID {
				j.Refunds = append(j.Refunds, refundJSON{ID: r.Key, Amount: r.Amount, State: r.State, Reason: r.Reason})
			}
		}
		all = append(all, j)
	}
	return all
}

// creativeOf is a revision, or nothing. While everybody sees its picture it has
// a public address, else one below the rental.
func creativeOf(d market.Detail, c *creative.Creative) *creativeJSON {
	if c == nil {
		return nil
	}
	j := creativeJSON{Revision: c.Revision, State: c.State, ImageURL: privatePicture(d.Rental.Key, c.Picture)}
	if c.State == creative.Approved && d.Rental.Visible(d.Now) {
		j.ImageURL = "/pictures/" + c.Picture
	}
	if c.Reason != nil {
		j.Reason = *c.Reason
	}
	return &j
}

// privatePicture is where a rental's owner and admins find a picture.
func privatePicture(rentalKey, hash string) string {
	return "/api/v1/rentals/" + rentalKey + "/pictures/" + hash
}
