package show

import (
	"time"

	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/workflow/drawn"
	"tuval/views"
)

// Context is what the page of a rental needs to know besides the rental.
type Context struct {
	Rules      market.Rules
	Canvas     string        // address of a picture of the canvas
	Email      string        // of the account that is signed in
	MaxBytes   int64         // of a picture
	Owner      bool          // whoever looks may act
	Confirming bool          // came back from the payment page
	Key        func() string // makes a request id
}

// Rental is the page of a rental.
func Rental(base views.Page, d market.Detail, c Context) views.RentalPage {
	r, phase := d.Rental, Phase(d, c.Confirming)
	base.Path = "/rentals/" + r.Key
	p := views.RentalPage{
		Page: base, ID: r.Key, Phase: phase, Place: Place(r.Rect, c.Canvas),
		Facts: facts(d, phase), Left: Left(d.Now, deadline(phase, r)),
		Refunds: refunds(d), Receipt: receipt(d), History: History(d), Creative: creativePanel(d, c),
		Timeline: drawn.Timeline(Steps(d, nil)),
	}
	if r.ClosedReason != nil {
		p.ClosedReason = string(*r.ClosedReason)
	}
	if r.Email != nil && r.PaidAt != nil {
		p.Access = &views.AccessPanel{Email: *r.Email, Confirmed: r.AccountID != nil}
	}
	switch {
	case c.Owner && r.Unpaid():
		beforePayment(&p, d, c)
	case c.Owner:
		afterPayment(&p, d, c)
	}
	return p
}

// beforePayment adds what can be done with a hold or a checkout.
func beforePayment(p *views.RentalPage, d market.Detail, c Context) {
	if p.Phase == views.PhaseProcessing || p.Phase == views.PhaseConfirming {
		return
	}
	r := d.Rental
	p.Hold = &views.HoldPanel{
		CanKeep:     r.State == rental.Held && !r.Kept && r.LeasedUntil.Before(r.CountedFrom.Add(c.Rules.HoldMax)),
		KeepText:    "Keep " + Duration(c.Rules.HoldTTL) + " longer",
		KeepRequest: c.Key(), CancelRequest: c.Key(), BeginBy: views.MomentOf(d.CheckoutBy),
	}
	if d.Now.Before(d.CheckoutBy) {
		p.Checkout = checkoutForm(d, c)
	}
	if open := d.OpenPayment(); open != nil && r.State == rental.Paying {
		p.Paying = &views.PayingPanel{
			CheckoutURL: *open.SessionURL, Weeks: open.Weeks, Amount: open.Amount.String(), OpenUntil: views.MomentOf(open.ExpiresAt),
		}
	}
}

func facts(d market.Detail, phase views.Phase) views.RentalFacts {
	r := d.Rental
	f := views.RentalFacts{
		PricePerWeek: r.PricePerWeek.String(), Weeks: d.Weeks,
		LeasedUntil: Moment(r.LeasedUntil), PaidAt: Moment(r.PaidAt), ApproveBy: Moment(r.ApproveBy),
		Reason: d.Reason(), GoLiveAt: Moment(r.GoLiveAt), LiveFrom: Moment(r.LiveFrom), EndsAt: Moment(r.EndsAt),
		Reserved: Moment(r.ReservedUntil), ClosedAt: Moment(r.ClosedAt),
	}
	if phase == views.PhaseLive {
		f.AreaURL = "/areas/" + r.PublicID
	}
	switch paid, any := paidTotal(d); {
	case any:
		f.Total = paid.String()
	case r.Unpaid() && len(d.Payments) > 0:
		f.Total = d.Payments[len(d.Payments)-1].Amount.String()
	}
	return f
}

// paidTotal is the money that arrived, and whether any did.
func paidTotal(d market.Detail) (money.Money, bool) {
	total, any := money.Money{Currency: d.Rental.PricePerWeek.Currency}, false
	for _, p := range d.Payments {
		if p.State == payment.Paid {
			total.Amount += p.Amount.Amount
			any = true
		}
	}
	return total, any
}

// usualWeeks is what the form proposes first.
const usualWeeks = 4

// checkoutForm offers the weeks that can be paid at once. Those of the open
// payment, if there is one, are ticked.
func checkoutForm(d market.Detail, c Context) *views.CheckoutForm {
	r := d.Rental
	f := &views.CheckoutForm{Request: c.Key(), Weeks: usualWeeks, Email: c.Email, GoLiveAt: Hour(r.GoLiveAt)}
	f.Choices = weeksAt(r.PricePerWeek, c.Rules)
	if r.Email != nil {
		f.Email = *r.Email
	}
	if n := len(d.Payments); n > 0 {
		f.Weeks = d.Payments[n-1].Weeks
	}
	earliest, latest := d.Now.Truncate(time.Hour).Add(time.Hour), d.Now.Add(market.MaxGoLive).Truncate(time.Hour)
	f.Earliest, f.Latest = Hour(&earliest), Hour(&latest)
	return f
}
