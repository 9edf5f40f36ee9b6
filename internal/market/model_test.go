package market_test

import (
	"slices"

	"tuval/internal/grid"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// model is the market on paper: what should be, in whole minutes, with no
// database, no Stripe and nobody else at it. All deadlines happen at their
// minute, unless nobody works for a while.
type model struct {
	t        int
	rentals  []*mRental
	payments []*mPayment
	failed   []*mFailed // refunds that Stripe did not make
}

type mRental struct {
	key         string
	owner       int
	rect        grid.Rect
	state       rental.State
	reason      rental.Reason
	from, lease int // of the possession without payment; end of the lease
	kept        bool
	wasPaid     bool
	approveBy   int
	ends        int  // of the paid time
	reserved    int  // until when it can be renewed
	live        bool // a picture was approved
	pending     bool // a picture waits
	hidden      bool
}

const (
	holdTTL, holdMax, pageTTL, grace = 10, 90, 31, 10
	hour, day, weekMinutes           = 60, 24 * 60, 7 * 24 * 60
)

func (r *mRental) unpaid() bool { return r.state == rental.Held || r.state == rental.Paying }

func (r *mRental) close(why rental.Reason) {
	r.state, r.reason, r.pending = rental.Closed, why, false
}

// until is live to an end, with the reservation after it.
func (r *mRental) until(ends int) {
	r.state, r.reason, r.ends, r.lease = rental.Live, "", ends, ends+2*day
}

// over are the rentals that possess a block of the rect.
func (m *model) over(at grid.Rect) (rs []*mRental) {
	for _, r := range m.rentals {
		if r.state != rental.Closed && r.rect.Overlaps(at) {
			rs = append(rs, r)
		}
	}
	return rs
}

// hold is the code of the refusal, or empty with the new rental.
func (m *model) hold(owner int, at grid.Rect) (string, *mRental) {
	fresh := &mRental{owner: owner, rect: at, state: rental.Held, from: m.t}
	replaced := m.over(at)
	for _, r := range replaced {
		if r.owner != owner || !r.unpaid() {
			return "taken", nil
		}
	}
	for _, r := range replaced {
		if slices.ContainsFunc(m.of(r), func(p *mPayment) bool { return p.state == payment.Processing }) {
			return "conflict", nil
		}
		fresh.from, fresh.kept = min(fresh.from, r.from), fresh.kept || r.kept
	}
	if m.t >= fresh.from+holdMax-pageTTL-grace {
		return "limit", nil
	}
	fresh.lease = min(m.t+holdTTL, fresh.from+holdMax)
	m.rentals = append(m.rentals, fresh)
	for _, r := range replaced {
		r.close(rental.Cancelled)
		m.dropOpen(r, nil)
	}
	return "", fresh
}

func (m *model) keep(r *mRental) string {
	switch {
	case r.state == rental.Closed:
		return "gone"
	case r.state != rental.Held || r.kept:
		return "conflict"
	}
	r.kept, r.lease = true, min(r.lease+holdTTL, r.from+holdMax)
	return ""
}

func (m *model) cancel(r *mRental) string {
	if !r.unpaid() {
		if r.wasPaid {
			return "conflict"
		}
		return ""
	}
	for _, p := range m.of(r) {
		if p.state != payment.Open || !p.known {
			continue
		}
		m.expireAtStripe(p)
		if p.state == payment.Paid && p.outcome == payment.Applied {
			return "conflict"
		}
	}
	for _, p := range m.of(r) {
		if p.state == payment.Processing {
			return "conflict"
		}
	}
	r.close(rental.Cancelled)
	m.dropOpen(r, nil)
	return ""
}

func (m *model) withdraw(r *mRental) string {
	if r.state != rental.Paid {
		return "conflict"
	}
	m.refundAll(r)
	r.close(rental.Cancelled)
	m.dropOpen(r, nil)
	return ""
}

func (m *model) remove(r *mRental, back bool) string {
	if r.state == rental.Closed {
		return "conflict"
	}
	if back {
		m.refundAll(r)
	}
	r.close(rental.Removed)
	m.dropOpen(r, nil)
	return ""
}

func (m *model) hide(r *mRental, hidden bool) string {
	if r.state == rental.Closed || !r.wasPaid || r.hidden == hidden {
		return "conflict"
	}
	r.hidden = hidden
	return ""
}

func (m *model) approve(r *mRental) {
	r.pending = false
	if r.live {
		return
	}
	weeks := 0
	for _, p := range m.of(r) {
		if p.outcome == payment.Applied && !p.unwound {
			weeks += p.weeks
		}
	}
	r.live = true
	r.until(m.t + weeks*weekMinutes)
}

// next is the next minute at which time moves something, if it is not after
// the given one.
func (m *model) next(until int) int {
	for _, r := range m.rentals {
		if at, is := m.due(r); is && at > m.t {
			until = min(until, at)
		}
	}
	for _, p := range m.payments {
		if p.state == payment.Open && p.expires+1 > m.t {
			until = min(until, p.expires+1)
		}
	}
	return until
}

func (m *model) due(r *mRental) (int, bool) {
	switch {
	case r.unpaid() || r.state == rental.Ended:
		return r.lease, true
	case r.state == rental.Paid:
		return r.approveBy, true
	case r.state == rental.Live:
		return r.ends, true
	}
	return 0, false
}

// arrive is what happens at a minute by itself; late is when nobody worked
// until then.
func (m *model) arrive(at int, late bool) {
	m.t = at
	for _, p := range m.payments {
		if p.stripe == "open" && m.t >= p.expires {
			p.stripe = "expired"
		}
	}
	if late {
		m.moveAll()
	}
	for _, p := range m.payments {
		if p.state == payment.Open && m.t >= p.expires+1 {
			m.endCheckout(p)
		}
	}
	m.moveAll()
}

func (m *model) moveAll() {
	for _, r := range m.rentals {
		for at, is := m.due(r); is && m.t >= at; at, is = m.due(r) {
			m.move(r)
		}
	}
}

// seen is what a rental reads as at a minute, though nobody wrote it down.
func (m *model) seen(r mRental, at int) (rental.State, rental.Reason) {
	for due, is := m.due(&r); is && at >= due; due, is = m.due(&r) {
		r.turn()
	}
	return r.state, r.reason
}

// turn is what time makes of a rental whose deadline is there.
func (r *mRental) turn() {
	switch r.state {
	case rental.Paid:
		r.close(rental.Unapproved)
	case rental.Live:
		r.state, r.reserved = rental.Ended, r.ends+2*day
	case rental.Ended:
		r.close(rental.NotRenewed)
	default:
		r.close(rental.Expired)
	}
}

func (m *model) move(r *mRental) {
	r.turn()
	switch {
	case r.state == rental.Closed && r.reason == rental.Unapproved:
		m.refundAll(r)
		m.dropOpen(r, nil)
	case r.state == rental.Closed && r.reason == rental.NotRenewed:
		m.dropOpen(r, nil)
	}
}
