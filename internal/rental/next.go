package rental

import "time"

// Terms are the operator's lengths that time alone applies.
type Terms struct {
	RenewalWindow time.Duration // reservation for the former renter after the end
}

// Move is what time does to a rental: the state it turns to and the instant
// at which it did, which may be long ago.
type Move struct {
	To     State
	Reason Reason // of To == Closed
	At     time.Time
}

// Next says what time has made due for the rental at now, and whether there
// is anything. One move at a time: after four days without a server a rental
// may have to go live, end and close.
func (r Rental) Next(now time.Time) (Move, bool) {
	switch r.State {
	case Held, Paying:
		return r.due(r.LeasedUntil, now, Closed, Expired)
	case Paid:
		if r.LiveFrom != nil {
			return r.due(r.LiveFrom, now, Live, "")
		}
		return r.due(r.ApproveBy, now, Closed, Unapproved)
	case Live:
		return r.due(r.EndsAt, now, Ended, "")
	case Ended:
		return r.due(r.LeasedUntil, now, Closed, NotRenewed)
	case Closed:
	}
	return Move{}, false
}

func (r Rental) due(at *time.Time, now time.Time, to State, why Reason) (Move, bool) {
	if at == nil || now.Before(*at) {
		return Move{}, false
	}
	return Move{To: to, Reason: why, At: *at}, true
}

// After is the rental once the move is made. It changes the copy only.
func (r Rental) After(m Move, t Terms) Rental {
	r.State = m.To
	switch m.To {
	case Ended:
		// The lease was fixed at the approval. Terms that changed since do not
		// move it, and one that reaches further is a renewal under way.
		until := r.EndsAt.Add(t.RenewalWindow)
		switch {
		case r.LeasedUntil == nil:
			r.LeasedUntil = &until
		case r.LeasedUntil.Before(until):
			until = *r.LeasedUntil
		}
		r.ReservedUntil = &until
	case Closed:
		reason, at := m.Reason, m.At
		r.ClosedReason, r.ClosedAt, r.LeasedUntil = &reason, &at, nil
	case Held, Paying, Paid, Live:
	}
	return r
}

// At is the rental as it is at now, whether or not a job has written it down.
func (r Rental) At(now time.Time, t Terms) Rental {
	for {
		m, due := r.Next(now)
		if !due {
			return r
		}
		r = r.After(m, t)
	}
}
