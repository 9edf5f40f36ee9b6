package workflow

import (
	"strings"

	"tuval/internal/payment"
)

// release is the end of the lease. Where the rental closed before its time,
// that leads from the last thing that happened.
func (d *drawing) release() {
	r, end := d.Rental, d.main
	s := Step{Kind: Release, State: Waiting, Due: r.LeasedUntil, Fixed: true}
	if d.closed() {
		s.State, s.At, s.Due = Done, r.ClosedAt, nil
		if r.ClosedReason != nil {
			s.Note = strings.ReplaceAll(string(*r.ClosedReason), "_", " ")
		}
	}
	d.next(s)
	if last := d.lastHappened(); d.closed() && last != end {
		d.link(last, d.main, true)
	}
}

// lastHappened is the last step of the main way before the release that
// happened.
func (d *drawing) lastHappened() string {
	last := ""
	for _, s := range d.g.Steps {
		if !s.Branch && s.Kind != Release && s.State != Skipped && s.State != Waiting {
			last = s.ID
		}
	}
	return last
}

// overtaken reports whether a refund failed because the money went back in
// another way before.
func (d *drawing) overtaken(r payment.Refund) bool {
	for _, p := range d.Payments {
		if p.ID == r.Payment {
			return payment.LeftOf(p, d.Refunds) == 0
		}
	}
	return false
}

// refunds is money on its way back, each after what it was paid for.
func (d *drawing) refunds() {
	for _, r := range d.Refunds {
		s := Step{Kind: Refund, Amount: r.Amount, Note: strings.ReplaceAll(r.Reason, "_", " "), Branch: true}
		switch r.State {
		case payment.RefundPending:
			s.State = Now
		case payment.RefundSucceeded:
			s.State, s.At = Done, r.SettledAt
		case payment.RefundFailed:
			s.State, s.At = Failed, r.SettledAt
			if d.overtaken(r) {
				s.State = Undone
			}
		}
		id := d.add(s)
		from, drawn := d.of[r.Payment]
		if !drawn {
			from = string(Pay)
		}
		d.link(from, id, true)
		d.worst(id, func(j Job) bool { return j.Refund == r.ID })
	}
}
