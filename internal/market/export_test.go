package market

import (
	"time"

	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Rooms are how a rental can stand to its blocks when money for it arrives.
func Rooms() map[string]int {
	return map[string]int{"its own": int(own), "all free": int(free), "taken": int(taken)}
}

// Weigh is what a payment buys, and why its money goes back instead.
func Weigh(r rental.Rental, p payment.Payment, have int, now time.Time, rules Rules) (rental.Rental, string) {
	v := weigh(r, p, room(have), now, rules)
	return v.Rental, v.Back
}
