package workflow

import (
	"time"

	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// week is exact, as the market sells it.
const week = 168 * time.Hour

func (d *drawing) goLive() {
	r := d.Rental
	s := Step{Kind: GoLive, State: d.waits(), Due: r.GoLiveAt}
	began := r.LiveFrom
	if e := d.events(ledger.RentalLive); len(e) > 0 {
		began = &e[0]
	}
	switch {
	case d.reached(began):
		s.State, s.At, s.Due = Done, began, nil
		if r.Hidden && r.State == rental.Live {
			s.State, s.Note = Undone, "hidden by an admin"
		}
	case r.State == rental.Paid && r.LiveFrom != nil:
		s.State, s.Due, s.Fixed = Now, r.LiveFrom, true
	}
	if s.State == Skipped {
		s.Due = nil
	}
	d.next(s)
}

// events are the instants of a kind, the earliest first.
func (d *drawing) events(kind ledger.Kind) []time.Time {
	var at []time.Time
	for _, e := range d.Events {
		if e.Kind == kind {
			at = append(at, e.At)
		}
	}
	return at
}

// rounds are the ends of the time paid for: one, and one more for each renewal,
// with the extensions before each.
func (d *drawing) rounds() {
	renewals := d.bought(payment.Renew)
	for i, p := range renewals {
		d.round(i, renewals)
		s := Step{Kind: End, State: Done, At: d.lastEnd(p)}
		d.finish(s)
		d.next(d.purchase(Renew, p))
		d.of[p.ID] = d.main
	}
	d.round(len(renewals), renewals)
	d.finish(d.lastRound())
	d.renewal()
}

// bought are the payments of a purpose whose weeks were given.
func (d *drawing) bought(why payment.Purpose) []payment.Payment {
	var ps []payment.Payment
	for _, p := range d.Payments {
		if p.Purpose == why && p.Outcome != nil && *p.Outcome == payment.Applied {
			ps = append(ps, p)
		}
	}
	return ps
}

// round adds the extensions that were begun in a round.
func (d *drawing) round(n int, renewals []payment.Payment) {
	for _, p := range d.Payments {
		if p.Purpose != payment.Extend || p.State == payment.Expired || roundOf(p, renewals) != n {
			continue
		}
		s := d.purchase(Extend, p)
		s.Branch = true
		d.of[p.ID] = d.add(s, d.main)
	}
}

func roundOf(p payment.Payment, renewals []payment.Payment) int {
	n := 0
	for _, r := range renewals {
		if r.PaidAt != nil && !p.CreatedAt.Before(*r.PaidAt) {
			n++
		}
	}
	return n
}

// lastEnd is when the time was over that a renewal followed.
func (d *drawing) lastEnd(p payment.Payment) *time.Time {
	var at *time.Time
	for _, e := range d.events(ledger.RentalEnded) {
		if p.PaidAt != nil && !e.After(*p.PaidAt) {
			at = &e
		}
	}
	return at
}

// finish adds an end, which the extensions of its round lead to.
func (d *drawing) finish(s Step) {
	began := d.main
	d.next(s)
	for _, e := range d.g.Edges {
		if from := d.step(e.To); e.From == began && from.Kind == Extend {
			d.link(from.ID, d.main, false)
		}
	}
}

// lastRound is the end that is to come, or the last that came.
func (d *drawing) lastRound() Step {
	r := d.Rental
	s := Step{Kind: End, State: d.waits(), Due: r.EndsAt, Fixed: r.EndsAt != nil}
	switch {
	case r.State == rental.Live:
		s.State = Now
	case r.State == rental.Ended, d.closedFor(rental.NotRenewed), d.reached(r.EndsAt):
		s.State, s.At, s.Due = Done, r.EndsAt, nil
	case d.closed():
		s.Due, s.Fixed = nil, false
	case r.EndsAt == nil && r.GoLiveAt != nil && d.g.Weeks > 0:
		wished := r.GoLiveAt.Add(time.Duration(d.g.Weeks) * week)
		s.Due = &wished
	}
	return s
}

// renewal is what can follow the last end, and money for one that came to
// nothing.
func (d *drawing) renewal() {
	s := Step{Kind: Renew, State: d.waits(), Branch: true}
	if d.Rental.State == rental.Ended {
		s.State, s.Due, s.Fixed = Now, d.Rental.ReservedUntil, true
	}
	open := payment.ID(0)
	for _, p := range d.Payments {
		if p.Purpose != payment.Renew || p.State == payment.Expired || d.of[p.ID] != "" {
			continue
		}
		if p.State == payment.Paid || p.State == payment.Failed {
			came := d.purchase(Renew, p)
			came.Branch = true
			d.of[p.ID] = d.add(came, d.main)
			continue
		}
		s, open = d.purchase(Renew, p), p.ID
		s.Branch = true
	}
	if d.closed() && open == 0 && !d.closedFor(rental.NotRenewed) {
		return
	}
	id := d.add(s, d.main)
	if open != 0 {
		d.of[open] = id
	}
}
