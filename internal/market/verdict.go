package market

import (
	"time"

	"tuval/internal/payment"
	"tuval/internal/rental"
)

// room says how a rental stands to its blocks when money for it arrives.
type room int

const (
	own   room = iota // they are its own, lapsed or not
	free              // it is closed, and all of them can be had
	taken             // it is closed, and somebody else has some
)

// verdict is what money that arrived buys: the rental as it is then, or the
// reason why the money goes back in full.
type verdict struct {
	Rental rental.Rental
	Back   string
}

// weigh decides what a payment that just arrived buys. What counts is what
// was begun, not when the money came: a first payment buys the rental if its
// blocks can be had; an extension moves the end the rental has, if the new end
// is still to come; a renewal begins now. A second payment for what is bought
// already goes back. r is as time has made it short of closing it.
func weigh(r rental.Rental, p payment.Payment, have room, now time.Time, rules Rules) verdict {
	if back := refusal(r, p.Purpose, have); back != "" {
		return verdict{Back: back}
	}
	length := time.Duration(p.Weeks) * week
	switch p.Purpose {
	case payment.New:
		return verdict{Rental: firstPaid(r, p, now, rules)}
	case payment.Renew:
		r.LiveFrom = &now
		return verdict{Rental: liveUntil(r, now.Add(length), rules)}
	case payment.Extend:
	}
	ends := r.EndsAt.Add(length)
	if !ends.After(now) {
		return verdict{Back: payment.ReasonTooLate}
	}
	return verdict{Rental: liveUntil(r, ends, rules)}
}

// refusal says why a payment of this purpose buys nothing of a rental that is
// as it is, or nothing.
func refusal(r rental.Rental, purpose payment.Purpose, have room) string {
	if r.State == rental.Closed {
		return closedRefusal(r, purpose, have)
	}
	fits := map[payment.Purpose]bool{
		payment.New:    r.Unpaid(),
		payment.Extend: r.State == rental.Live || r.State == rental.Ended,
		payment.Renew:  r.State == rental.Ended,
	}
	if fits[purpose] {
		return ""
	}
	return payment.ReasonSecond
}

func closedRefusal(r rental.Rental, purpose payment.Purpose, have room) string {
	switch {
	case !reopens(r, purpose):
		return payment.ReasonClosed
	case have == taken:
		return payment.ReasonBlocksGone
	}
	return ""
}

// reopens reports whether a payment may still open a closed rental again, if
// its blocks are free: a first payment one that was never paid, more weeks one
// whose time is over.
func reopens(r rental.Rental, purpose payment.Purpose) bool {
	if r.State != rental.Closed {
		return false
	}
	switch *r.ClosedReason {
	case rental.Expired, rental.PaymentFailed, rental.Cancelled:
		return purpose == payment.New && r.PaidAt == nil
	case rental.NotRenewed:
		return purpose != payment.New
	case rental.Unapproved, rental.Refunded, rental.Removed:
	}
	return false
}

func firstPaid(r rental.Rental, p payment.Payment, now time.Time, rules Rules) rental.Rental {
	until := now.Add(rules.ApprovalWindow)
	r.State, r.PaidAt, r.ApproveBy, r.LeasedUntil = rental.Paid, &now, &until, &until
	r.ClosedReason, r.ClosedAt = nil, nil
	r.Email, r.GoLiveAt = &p.Email, p.GoLiveAt
	return r
}

// liveUntil is the rental live to a new end, with the reservation after it.
func liveUntil(r rental.Rental, ends time.Time, rules Rules) rental.Rental {
	until := ends.Add(rules.RenewalWindow)
	r.State, r.EndsAt, r.LeasedUntil = rental.Live, &ends, &until
	r.ReservedUntil, r.ClosedReason, r.ClosedAt = nil, nil, nil
	return r
}
