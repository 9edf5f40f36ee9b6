package market

import (
	"fmt"
	"time"

	"tuval/internal/fault"
	"tuval/internal/money"
	"tuval/internal/rental"
)

// MaxWeeks is the longest time one payment buys.
const MaxWeeks = 52

// MaxGoLive is how far ahead a go-live time may be chosen.
const MaxGoLive = 14 * 24 * time.Hour

// Purchase is what a buyer asks to pay for.
type Purchase struct {
	Weeks          int
	Email          string // a contact address; it grants nothing
	GoLiveAt       *time.Time
	ExpectedAmount *int64 // what the page showed, minor units
}

// total judges what is asked and says what it costs.
func (m *Market) total(perWeek money.Money, want Purchase) (money.Money, error) {
	if want.Weeks < 1 || want.Weeks > MaxWeeks {
		return money.Money{}, fault.Field("weeks", fmt.Sprintf("weeks must be from 1 to %d", MaxWeeks))
	}
	c, ok := money.Lookup(perWeek.Currency) // the one the hold was priced in
	if !ok {
		c = m.rules.Currency
	}
	amount, ok := money.Total(perWeek.Amount, want.Weeks)
	if !ok || amount > c.Max {
		return money.Money{}, fault.Field("weeks", fmt.Sprintf("%d weeks cost more than the largest payment of %s.", want.Weeks, c.Of(c.Max)))
	}
	if !c.Chargeable(amount) {
		return money.Money{}, fault.Field("weeks", fmt.Sprintf("%d weeks cost %s; the smallest payment is %s.", want.Weeks, c.Of(amount), c.Of(c.Min)))
	}
	total := money.Money{Amount: amount, Currency: perWeek.Currency}
	if want.ExpectedAmount != nil && *want.ExpectedAmount != amount {
		return money.Money{}, fault.New(fault.Conflict, fmt.Sprintf("The price is %s.", total)).With("amount", total)
	}
	return total, nil
}

// mayPay judges whether a payment of the rental can begin at this time.
func (m *Market) mayPay(r rental.Rental, now time.Time) error {
	switch seen := r.At(now, m.terms()); {
	case seen.State == rental.Closed && seen.PaidAt == nil:
		return ErrHoldOver()
	case seen.State == rental.Closed:
		return fault.New(fault.Conflict, "This rental is closed.")
	case !seen.Unpaid():
		return fault.New(fault.Conflict, "This rental is paid already.")
	}
	return nil
}

// mayStart judges a chosen go-live time against the database's clock.
func mayStart(at *time.Time, now time.Time) error {
	switch {
	case at == nil:
		return nil
	case !at.Equal(at.Truncate(time.Hour)):
		return fault.Field("go_live_at", "go_live_at must be on the hour, in UTC")
	case !at.After(now):
		return fault.Field("go_live_at", "go_live_at must be in the future")
	case at.After(now.Add(MaxGoLive)):
		return fault.Field("go_live_at", "go_live_at can be at most 14 days ahead")
	}
	return nil
}
