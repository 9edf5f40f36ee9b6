package workflow

import (
	"tuval/internal/payment"
	"tuval/internal/rental"
)

func (d *drawing) hold() {
	r := d.Rental
	s := Step{Kind: Hold, State: Done, At: &r.CreatedAt}
	if r.State == rental.Held {
		s.State, s.Due, s.Fixed = Now, r.LeasedUntil, true
	}
	if r.Kept {
		s.Note = "kept longer once"
	}
	d.next(s)
}

// pay is the purchase of the rental. Another payment for the same purchase
// whose money came stands beside it.
func (d *drawing) pay() {
	first := d.first()
	d.next(d.payStep(first))
	if first == nil {
		return
	}
	d.of[first.ID] = d.main
	for _, p := range d.Payments {
		if p.ID != first.ID && p.Purpose == payment.New && p.State == payment.Paid {
			s := d.purchase(Pay, p)
			s.Branch = true
			d.of[p.ID] = d.add(s, string(Hold))
		}
	}
}

// first is the payment that bought the rental; while none has, the one that
// tells most of how it stands.
func (d *drawing) first() *payment.Payment {
	var best *payment.Payment
	rank := 0
	for i, p := range d.Payments {
		if p.Purpose != payment.New {
			continue
		}
		if r := weight(p); r >= rank {
			best, rank = &d.Payments[i], r
		}
	}
	return best
}

func weight(p payment.Payment) int {
	switch p.State {
	case payment.Paid:
		if p.Outcome != nil && *p.Outcome == payment.Applied {
			return 4
		}
		return 3
	case payment.Open, payment.Processing:
		return 2
	case payment.Failed, payment.Expired:
	}
	return 1
}

func (d *drawing) payStep(p *payment.Payment) Step {
	if p == nil {
		return Step{Kind: Pay, State: d.waits()}
	}
	s := d.purchase(Pay, *p)
	switch {
	case p.State == payment.Expired && d.Rental.Unpaid():
		s.State, s.At = Waiting, nil // another page can be opened
	case p.State == payment.Processing && d.Rental.Unpaid():
		s.Due = d.Rental.LeasedUntil
	case p.State == payment.Open && p.SessionID == nil && d.Rental.State == rental.Held:
		s.Note = "the payment page is being opened"
	case p.State == payment.Open && d.closed():
		s.Note = "asking Stripe whether it was paid"
	}
	return s
}

// purchase is a payment as a step.
func (d *drawing) purchase(kind Kind, p payment.Payment) Step {
	s := Step{Kind: kind, Weeks: p.Weeks, Amount: p.Amount, Fixed: true}
	switch p.State {
	case payment.Open:
		s.State, s.Due = Now, &p.ExpiresAt
	case payment.Processing:
		s.State, s.Note = Now, "the bank moves the money"
	case payment.Expired:
		s.State, s.At, s.Note = Skipped, p.EndedAt, "not paid in time"
	case payment.Failed:
		s.State, s.At, s.Note = Failed, p.EndedAt, "the bank did not pay"
	case payment.Paid:
		s.State, s.At = Done, p.PaidAt
		switch {
		case p.Outcome != nil && *p.Outcome == payment.Returned:
			s.State, s.Note = Undone, "bought nothing and goes back"
		case !p.Counts():
			s.State, s.Note = Undone, "gone back in full"
		}
	}
	return s
}

// receipt is the mail about the first payment.
func (d *drawing) receipt() {
	s := Step{Kind: Receipt, State: d.waits(), Branch: true}
	if m := d.mail("paid"); m != nil {
		s.State, s.At = m.state(), m.DoneAt
	} else if d.Rental.PaidAt != nil && !d.closed() {
		s.Note = "no such mail is known"
	}
	d.add(s, d.main)
}

// mail is the first mail of a kind, or nil.
func (d *drawing) mail(kind string) *Job {
	for i, j := range d.Jobs {
		if j.Kind == mailKind && j.Why == kind {
			return &d.Jobs[i]
		}
	}
	return nil
}

// mailKind is the kind of the jobs that send mails.
const mailKind = "send_mail"
