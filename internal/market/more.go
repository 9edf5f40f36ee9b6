package market

import (
	"context"
	"time"

	"tuval/internal/fault"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// More is what a renter asks to pay for after the first payment.
type More struct {
	Weeks          int
	ExpectedAmount *int64 // what the page showed, minor units
}

// Extend opens a payment page for more weeks of a rental that is live. They
// are added to the end it has when the money is booked, so that extending
// early loses nothing and extending twice adds twice. The price is today's.
//
// It refuses with Invalid (weeks), and Conflict when the rental is not live,
// when the amount differs or when a payment of it is being processed; with
// Unavailable when Stripe does not answer.
func (m *Market) Extend(ctx context.Context, who Who, key string, want More) (Offer, error) {
	return m.addWeeks(ctx, who, key, payment.Extend, want)
}

// Renew opens a payment page for new weeks of a rental that has ended, within
// the time for which it is reserved. They start when the money is booked, with
// the picture that was approved. The blocks are kept until the end of the
// page and the grace after it. It refuses as Extend does.
func (m *Market) Renew(ctx context.Context, who Who, key string, want More) (Offer, error) {
	return m.addWeeks(ctx, who, key, payment.Renew, want)
}

func (m *Market) addWeeks(ctx context.Context, who Who, key string, purpose payment.Purpose, want More) (Offer, error) {
	r, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return Offer{}, err
	}
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return Offer{}, err
	}
	if err := m.mayBuy(r, purpose, now); err != nil {
		return Offer{}, err
	}
	today, err := m.price(r.Rect)
	if err != nil {
		return Offer{}, err
	}
	amount, err := m.total(today, Purchase{Weeks: want.Weeks, ExpectedAmount: want.ExpectedAmount})
	if err != nil {
		return Offer{}, err
	}
	return m.sell(ctx, r, payment.Payment{Rental: r.ID, Purpose: purpose, Weeks: want.Weeks, Amount: amount, Email: *r.Email}, now)
}

// mayBuy judges whether the rental, as it is now, is in the state for this
// kind of payment.
func (m *Market) mayBuy(r rental.Rental, purpose payment.Purpose, now time.Time) error {
	seen := r.At(now, m.terms())
	switch {
	case purpose == payment.New:
		return m.mayPay(r, now)
	case purpose == payment.Extend && seen.State != rental.Live:
		return fault.New(fault.Conflict, "Only a rental that is live can be extended. "+standing(seen))
	case purpose == payment.Renew && seen.State != rental.Ended:
		return errNoRenewal(seen)
	}
	return nil
}

func errNoRenewal(r rental.Rental) *fault.Error {
	return fault.New(fault.Conflict, "A rental can be renewed after its end, as long as it is reserved. "+standing(r))
}

// standing says in a sentence where a rental is.
func standing(r rental.Rental) string {
	switch r.State {
	case rental.Held:
		return "This one is a hold that is not paid yet."
	case rental.Paying:
		return "This one is being paid."
	case rental.Paid:
		if r.LiveFrom != nil {
			return "This one goes live at " + clock(*r.LiveFrom) + "."
		}
		return "This one waits for its first picture to be approved."
	case rental.Live:
		return "This one is live until " + clock(*r.EndsAt) + "."
	case rental.Ended:
		return "This one ended at " + clock(*r.EndsAt) + " and is reserved until " + clock(*r.ReservedUntil) + "."
	case rental.Closed:
	}
	return "This one is closed: " + reasonWords(r) + "."
}

func reasonWords(r rental.Rental) string {
	switch *r.ClosedReason {
	case rental.Expired:
		return "it was not paid in time"
	case rental.Cancelled:
		return "it was cancelled"
	case rental.Unapproved:
		return "no picture was approved in time"
	case rental.NotRenewed:
		return "its time is over and it was not renewed"
	case rental.Refunded:
		return "its money went back"
	case rental.Removed:
		return "it was removed"
	case rental.PaymentFailed:
	}
	return "its payment did not arrive"
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
