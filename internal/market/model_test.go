package market_test

import (
	"slices"

	"tuval/internal/grid"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// model is the market on paper: what should be, in whole minutes, with no
// database, no Stripe and nobody else at it. All deadlines happen at their
// minute.
type model struct {
	t        int
	rentals  []*mRental
	payments []*mPayment
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
	ends        int // of the paid time
	approveBy   int
	live        bool // a picture was approved
	pending     bool // a picture waits
}

type mPayment struct {
	key     string
	r       *mRental
	weeks   int
	state   payment.State
	outcome payment.Outcome
	made    int
	expires int
	known   bool // we know the session
	session string
	stripe  string // open, expired, processing, paid
	back    bool   // the money went back
}

const (
	holdTTL, holdMax, pageTTL, grace = 10, 90, 31, 10
	day, weekMinutes                 = 24 * 60, 7 * 24 * 60
)

func (r *mRental) unpaid() bool { return r.state == rental.Held || r.state == rental.Paying }

func (r *mRental) close(why rental.Reason) {
	r.state, r.reason, r.pending = rental.Closed, why, false
}

// of are the payments of a rental.
func (m *model) of(r *mRental) (ps []*mPayment) {
	for _, p := range m.payments {
		if p.r == r {
			ps = append(ps, p)
		}
	}
	return ps
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
		for _, p := range m.of(r) {
			if p.state == payment.Processing {
				return "conflict", nil
			}
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

// dropOpen ends the open payments of a rental, and their pages.
func (m *model) dropOpen(r *mRental, but *mPayment) {
	for _, p := range m.of(r) {
		if p != but && p.state == payment.Open {
			p.state = payment.Expired
			if p.known {
				m.expireAtStripe(p)
			}
		}
	}
}

// expireAtStripe ends a page, or learns that its buyer was done with it.
func (m *model) expireAtStripe(p *mPayment) {
	switch p.stripe {
	case "open":
		p.stripe = "expired"
	case "processing":
		m.process(p)
	case "paid":
		m.book(p)
	}
}

func (m *model) book(p *mPayment) {
	if p.state == payment.Paid {
		return
	}
	p.state, p.known = payment.Paid, true
	r := p.r
	reopens := r.state == rental.Closed && !r.wasPaid && slices.Contains([]rental.Reason{rental.Expired, rental.Cancelled, rental.PaymentFailed}, r.reason)
	if !r.unpaid() && !(reopens && len(m.over(r.rect)) == 0) {
		p.outcome, p.back = payment.Returned, true
		return
	}
	p.outcome = payment.Applied
	r.state, r.reason, r.wasPaid, r.approveBy = rental.Paid, "", true, m.t+30*day
	m.dropOpen(r, p)
}

func (m *model) process(p *mPayment) {
	if p.state != payment.Open && p.state != payment.Expired {
		return
	}
	p.state, p.known = payment.Processing, true
	if p.r.unpaid() {
		p.r.state, p.r.lease = rental.Paying, m.t+7*day
	}
}

func (m *model) fail(p *mPayment) {
	if p.state != payment.Open && p.state != payment.Processing {
		return
	}
	p.state = payment.Failed
	if p.r.state == rental.Paying && !m.underWay(p.r) {
		p.r.close(rental.PaymentFailed)
	}
}

func (m *model) underWay(r *mRental) bool {
	return slices.ContainsFunc(m.of(r), func(p *mPayment) bool { return p.state == payment.Open || p.state == payment.Processing })
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
	r.close(rental.Cancelled)
	m.dropOpen(r, nil)
	return ""
}

// checkout is the code of the refusal, or empty with the payment that is
// offered; fresh says that it is a new one.
func (m *model) checkout(r *mRental, weeks int) (code string, p *mPayment, fresh bool) {
	switch {
	case r.state == rental.Closed && !r.wasPaid:
		return "gone", nil, false
	case !r.unpaid():
		return "conflict", nil, false
	}
	for _, p := range m.of(r) {
		if p.state != payment.Open || !p.known || p.weeks == weeks && m.t < p.expires {
			continue
		}
		if m.t < p.expires && m.t >= r.from+holdMax-pageTTL-grace { // a page that can be paid is not given away
			return "gone", nil, false
		}
		m.expireAtStripe(p)
		if p.state == payment.Paid || p.state == payment.Processing {
			return "conflict", nil, false
		}
		p.state = payment.Expired
	}
	for _, p := range m.of(r) {
		switch {
		case p.state == payment.Processing:
			return "conflict", nil, false
		case p.state != payment.Open:
		case !p.known && m.t > p.made:
			p.state = payment.Expired
		case p.weeks != weeks:
			return "conflict", nil, false
		default:
			return "", p, false
		}
	}
	if m.t >= r.from+holdMax-pageTTL-grace {
		return "gone", nil, false
	}
	p = &mPayment{r: r, weeks: weeks, state: payment.Open, made: m.t, expires: m.t + pageTTL, stripe: "open"}
	m.payments = append(m.payments, p)
	r.lease = max(r.lease, min(m.t+1, r.from+holdMax))
	return "", p, true
}

// opened is the answer of Stripe.
func (m *model) opened(p *mPayment) {
	p.known = true
	if p.r.unpaid() {
		p.r.state, p.r.lease = rental.Paying, max(p.r.lease, min(p.expires+grace, p.r.from+holdMax))
	}
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

// arrive is what happens at a minute by itself.
func (m *model) arrive(at int) {
	m.t = at
	for _, p := range m.payments {
		if p.stripe == "open" && m.t >= p.expires {
			p.stripe = "expired"
		}
	}
	for _, p := range m.payments {
		if p.state == payment.Open && m.t >= p.expires+1 {
			m.endCheckout(p)
		}
	}
	for _, r := range m.rentals {
		if at, is := m.due(r); is && m.t >= at {
			m.move(r)
		}
	}
}

func (m *model) endCheckout(p *mPayment) {
	if p.known {
		m.expireAtStripe(p)
	}
	if p.state != payment.Open {
		return
	}
	p.state = payment.Expired
	if p.r.state == rental.Paying && !m.underWay(p.r) {
		p.r.close(rental.Expired)
	}
}

func (m *model) move(r *mRental) {
	switch r.state {
	case rental.Paid:
		r.close(rental.Unapproved)
		for _, p := range m.of(r) {
			p.back = p.back || p.outcome == payment.Applied
		}
	case rental.Live:
		r.state, r.lease = rental.Ended, r.ends+2*day
	case rental.Ended:
		r.close(rental.NotRenewed)
	default:
		r.close(rental.Expired)
	}
}

func (m *model) approve(r *mRental) {
	r.pending = false
	if r.live {
		return
	}
	weeks := 0
	for _, p := range m.of(r) {
		if p.outcome == payment.Applied {
			weeks += p.weeks
		}
	}
	r.live, r.state, r.ends = true, rental.Live, m.t+weeks*weekMinutes
}

// kept is the money that should be with us in the end.
func (m *model) kept() (sum int) {
	for _, p := range m.payments {
		if p.state == payment.Paid && !p.back {
			sum += p.r.rect.Pixels() * 100 * p.weeks
		}
	}
	return sum
}
