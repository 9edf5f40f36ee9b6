package rental

import "slices"

// Transition is one arrow of the state machine. Reasons are those that a
// closed rental gets (To is Closed) or must have had (From is Closed).
type Transition struct {
	From, To State
	Reasons  []Reason
	Why      string // what makes it, in words
}

// Transitions is the whole machine. Staying in a state that is not closed is
// always allowed: dates change without the state.
func Transitions() []Transition {
	return []Transition{
		{Held, Paying, nil, "the payment page is open"},
		{Held, Paid, nil, "the money is faster than the answer about the page"},
		{Held, Closed, []Reason{Expired, Cancelled, PaymentFailed, Removed}, "time, the buyer, the bank, an admin"},
		{Paying, Paid, nil, "the money is there"},
		{Paying, Closed, []Reason{Expired, Cancelled, PaymentFailed, Removed}, "time, the buyer, the bank, an admin"},
		{Closed, Paid, []Reason{Expired, Cancelled, PaymentFailed}, "the money is late and all blocks are free"},
		{Paid, Live, nil, "the first picture is approved and its time has come"},
		{Paid, Closed, []Reason{Unapproved, Cancelled, Refunded, Removed}, "the approval window, the buyer withdraws, an admin"},
		{Live, Ended, nil, "the time paid for is over"},
		{Live, Closed, []Reason{Refunded, Removed}, "an admin"},
		{Ended, Live, nil, "a renewal, or an extension that was paid late"},
		{Ended, Closed, []Reason{NotRenewed, Refunded, Removed}, "the renewal window, an admin"},
		{Closed, Live, []Reason{NotRenewed}, "a late renewal or extension and all blocks are free"},
	}
}

// May reports whether the machine has an arrow between two states of a rental.
func May(from, to Rental) bool {
	if from.State == to.State {
		return from.State != Closed
	}
	for _, t := range Transitions() {
		if t.From == from.State && t.To == to.State {
			return t.Reasons == nil || t.reason(from, to)
		}
	}
	return false
}

func (t Transition) reason(from, to Rental) bool {
	closed := to
	if t.From == Closed {
		closed = from
	}
	return closed.ClosedReason != nil && slices.Contains(t.Reasons, *closed.ClosedReason)
}
