package market_test

import (
	"slices"

	"tuval/internal/payment"
	"tuval/internal/rental"
)

// mPayment is a payment on paper.
type mPayment struct {
	key, session string
	r            *mRental
	purpose      payment.Purpose
	weeks        int
	state        payment.State
	outcome      payment.Outcome
	made         int
	expires      int
	known        bool   // we know the session
	stripe       string // open, expired, processing, paid, failed
	gone         int    // what went back
	unwound      bool   // in full, once
	dispute      string // open, won, lost
	taken        int    // what the bank took
}

// mFailed is a refund of ours that Stripe did not make.
type mFailed struct {
	p      *mPayment
	amount int
	done   bool // asked for again
}

func (p *mPayment) amount() int { return p.r.rect.Pixels() * 100 * p.weeks }

// refundable is whether Stripe lets money of it go back.
func (p *mPayment) refundable() bool { return p.dispute == "" || p.dispute == "won" }

// of are the payments of a rental.
func (m *model) of(r *mRental) (ps []*mPayment) {
	for _, p := range m.payments {
		if p.r == r {
			ps = append(ps, p)
		}
	}
	return ps
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

// buys is whether money for it buys something now.
func (m *model) buys(p *mPayment) bool {
	r := p.r
	fits := map[payment.Purpose]bool{
		payment.New: r.unpaid(), payment.Extend: r.state == rental.Live || r.state == rental.Ended, payment.Renew: r.state == rental.Ended,
	}[p.purpose]
	if r.state == rental.Closed && len(m.over(r.rect)) == 0 {
		unpaid := slices.Contains([]rental.Reason{rental.Expired, rental.Cancelled, rental.PaymentFailed}, r.reason) && !r.wasPaid
		fits = p.purpose == payment.New && unpaid || p.purpose != payment.New && r.reason == rental.NotRenewed
	}
	return fits && (p.purpose != payment.Extend || r.ends+p.weeks*weekMinutes > m.t)
}

func (m *model) book(p *mPayment) {
	if p.state == payment.Paid {
		return
	}
	p.state, p.known = payment.Paid, true
	if !m.buys(p) {
		p.outcome = payment.Returned
		m.refund(p, p.amount())
		return
	}
	p.outcome = payment.Applied
	r := p.r
	switch p.purpose {
	case payment.New:
		r.state, r.reason, r.wasPaid, r.approveBy, r.lease = rental.Paid, "", true, m.t+30*day, m.t+30*day
	case payment.Extend:
		r.until(r.ends + p.weeks*weekMinutes)
	case payment.Renew:
		r.until(m.t + p.weeks*weekMinutes)
	}
	for _, other := range m.of(r) { // one extension is not in the way of another
		if other != p && other.state == payment.Open && (p.purpose != payment.Extend || other.purpose != payment.Extend) {
			other.state = payment.Expired
			if other.known {
				m.expireAtStripe(other)
			}
		}
	}
}

func (m *model) process(p *mPayment) {
	if p.state != payment.Open && p.state != payment.Expired {
		return
	}
	p.state, p.known = payment.Processing, true
	r := p.r
	switch {
	case p.purpose == payment.New && r.unpaid():
		r.state, r.lease = rental.Paying, max(r.lease, m.t+7*day)
	case p.purpose == payment.Extend && (r.state == rental.Live || r.state == rental.Ended), p.purpose == payment.Renew && r.state == rental.Ended:
		r.lease = max(r.lease, m.t+7*day)
	}
}

func (m *model) fail(p *mPayment) {
	if p.state == payment.Open || p.state == payment.Processing {
		p.state = payment.Failed
		m.without(p, rental.PaymentFailed)
	}
}

func (m *model) endCheckout(p *mPayment) {
	if p.known {
		m.expireAtStripe(p)
	}
	if p.state == payment.Open {
		p.state = payment.Expired
		m.without(p, rental.Expired)
	}
}

// without brings a rental to where it is when a payment was not paid.
func (m *model) without(p *mPayment, why rental.Reason) {
	r := p.r
	switch {
	case slices.ContainsFunc(m.of(r), func(p *mPayment) bool { return p.state == payment.Open || p.state == payment.Processing }):
	case r.state == rental.Paying:
		r.close(why)
	case p.purpose == payment.New:
	case r.state == rental.Live:
		r.lease = min(r.lease, r.ends+2*day)
	case r.state == rental.Ended:
		if r.lease = min(r.lease, max(m.t, r.reserved)); r.lease <= m.t {
			m.move(r)
		}
	}
}

// refund gives back of a payment, as far as Stripe does.
func (m *model) refund(p *mPayment, amount int) {
	p.unwound = p.unwound || p.outcome == payment.Applied && p.gone+amount >= p.amount()
	if !p.refundable() {
		m.failed = append(m.failed, &mFailed{p: p, amount: amount})
		return
	}
	p.gone += amount
}

// refundAll gives back what is left of what counts.
func (m *model) refundAll(r *mRental) {
	for _, p := range m.of(r) {
		if left := p.amount() - p.gone; p.outcome == payment.Applied && left > 0 {
			m.refund(p, left)
		}
	}
}

// refundNow is an admin's refund of a part or, with 0, of all that is left; it
// fails at Stripe later if the test says so.
func (m *model) refundNow(p *mPayment, amount int, fails bool) string {
	left := p.amount() - p.gone
	switch {
	case p.state != payment.Paid, left <= 0, !p.refundable():
		return "conflict"
	case amount > left:
		return "invalid"
	case amount == 0:
		amount = left
	}
	before := p.unwound
	m.refund(p, amount)
	if fails && p.refundable() {
		p.gone -= amount
		m.failed = append(m.failed, &mFailed{p: p, amount: amount})
	}
	if p.unwound && !before {
		m.takeBack(p)
	}
	return ""
}

// takeBack takes what a payment bought that has gone back in full.
func (m *model) takeBack(p *mPayment) {
	r := p.r
	switch {
	case r.state == rental.Closed:
	case p.purpose == payment.New:
		for _, other := range m.of(r) {
			if left := other.amount() - other.gone; other != p && other.outcome == payment.Applied && left > 0 {
				m.refund(other, left)
			}
		}
		r.close(rental.Refunded)
		m.dropOpen(r, nil)
	case r.state == rental.Live:
		r.until(max(m.t, r.ends-p.weeks*weekMinutes))
		if r.ends == m.t {
			m.move(r)
		}
	}
}

// again is the button of a refund that failed.
func (m *model) again(f *mFailed) string {
	if f.done || f.amount > f.p.amount()-f.p.gone || !f.p.refundable() {
		return "conflict"
	}
	f.done = true
	before := f.p.unwound
	m.refund(f.p, f.amount)
	if f.p.unwound && !before {
		m.takeBack(f.p)
	}
	return ""
}

// checkout is the code of the refusal, or empty with the payment that is
// offered; fresh says that it is a new one.
func (m *model) checkout(r *mRental, purpose payment.Purpose, weeks int) (code string, p *mPayment, fresh bool) {
	if code := m.mayBuy(r, purpose); code != "" {
		return code, nil, false
	}
	for _, p := range m.of(r) {
		same := p.purpose == purpose && p.weeks == weeks
		if p.state != payment.Open || !p.known || same && m.t < p.expires {
			continue
		}
		if code := m.mayBegin(r, purpose); code != "" && m.t < p.expires { // a page that can be paid is not given away
			return code, nil, false
		}
		m.expireAtStripe(p)
		if p.state == payment.Processing || p.outcome == payment.Applied {
			return "conflict", nil, false
		}
		if p.state == payment.Open {
			p.state = payment.Expired
		}
	}
	for _, p := range m.of(r) {
		switch {
		case p.state == payment.Processing:
			return "conflict", nil, false
		case p.state != payment.Open:
		case !p.known && m.t > p.made:
			p.state = payment.Expired
		case p.weeks != weeks || p.purpose != purpose:
			return "conflict", nil, false
		default:
			return "", p, false
		}
	}
	if code := m.mayBegin(r, purpose); code != "" {
		return code, nil, false
	}
	p = &mPayment{r: r, purpose: purpose, weeks: weeks, state: payment.Open, made: m.t, expires: m.t + pageTTL, stripe: "open"}
	m.payments = append(m.payments, p)
	m.lengthen(r, m.t+1)
	return "", p, true
}

func (m *model) mayBuy(r *mRental, purpose payment.Purpose) string {
	switch {
	case purpose == payment.New && r.state == rental.Closed && !r.wasPaid:
		return "gone"
	case purpose == payment.New && !r.unpaid(), purpose == payment.Extend && r.state != rental.Live, purpose == payment.Renew && r.state != rental.Ended:
		return "conflict"
	}
	return ""
}

func (m *model) mayBegin(r *mRental, purpose payment.Purpose) string {
	switch {
	case purpose == payment.New && m.t >= r.from+holdMax-pageTTL-grace:
		return "gone"
	case purpose == payment.Renew && m.t >= r.reserved:
		return "conflict"
	}
	return ""
}

// lengthen is a lease for the sake of a page, no longer than such a lease is.
func (m *model) lengthen(r *mRental, until int) {
	switch {
	case r.unpaid():
		r.lease = max(r.lease, min(until, r.from+holdMax))
	case r.state == rental.Ended:
		r.lease = max(r.lease, min(until, r.reserved+pageTTL+grace+10))
	}
}

// opened is the answer of Stripe.
func (m *model) opened(p *mPayment) {
	p.known = true
	if p.r.unpaid() {
		p.r.state = rental.Paying
	}
	m.lengthen(p.r, p.expires+grace)
}

// kept is the money that should be with us, and with Stripe, in the end: they
// differ by what banks took.
func (m *model) kept() (ours, stripes int) {
	for _, p := range m.payments {
		if p.state != payment.Paid {
			continue
		}
		stripes += p.amount() - p.gone
		ours += p.amount() - p.gone
		if p.dispute == "open" || p.dispute == "lost" {
			ours -= p.taken
		}
	}
	return ours, stripes
}
