package market_test

import (
	"strings"
	"testing"
	"time"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// standing is a rental as money may find it, with what a first payment, an
// extension and a renewal buy of it while its blocks are its own or free: a
// refund's reason, or yes. What only its blocks stop is marked with a question
// mark.
type standing struct {
	name               string
	r                  rental.Rental
	fresh, more, again string
}

const second, over = payment.ReasonSecond, payment.ReasonClosed

func standings(now time.Time) []standing {
	at := func(d time.Duration) *time.Time { t := now.Add(d); return &t }
	closed := func(why rental.Reason, paid bool) rental.Rental {
		r := rental.Rental{State: rental.Closed, ClosedReason: &why, ClosedAt: at(-time.Hour)}
		if paid {
			r.PaidAt, r.LiveFrom, r.EndsAt, r.ReservedUntil = at(-900*time.Hour), at(-800*time.Hour), at(-50*time.Hour), at(-2*time.Hour)
		}
		return r
	}
	timed := func(s rental.State, from, ends time.Duration) rental.Rental {
		r := rental.Rental{State: s, PaidAt: at(-900 * time.Hour), LiveFrom: at(from), EndsAt: at(ends), LeasedUntil: at(ends + 48*time.Hour), Hidden: true}
		if s == rental.Ended {
			r.ReservedUntil = r.LeasedUntil
		}
		return r
	}
	return []standing{
		{"a hold", rental.Rental{State: rental.Held, LeasedUntil: at(time.Minute)}, "yes", second, second},
		{"a hold that lapsed", rental.Rental{State: rental.Held, LeasedUntil: at(-time.Minute)}, "yes", second, second},
		{"a checkout", rental.Rental{State: rental.Paying, LeasedUntil: at(time.Minute)}, "yes", second, second},
		{"paid", rental.Rental{State: rental.Paid, PaidAt: at(-time.Hour), ApproveBy: at(time.Hour), LeasedUntil: at(time.Hour)}, second, second, second},
		{"scheduled", timed(rental.Paid, time.Hour, 169*time.Hour), second, second, second},
		{"live", timed(rental.Live, -time.Hour, 167*time.Hour), second, "yes", second},
		{"ended", timed(rental.Ended, -169*time.Hour, -time.Hour), second, "yes", "yes"},
		{"ended, its reservation lapsed", timed(rental.Ended, -217*time.Hour, -49*time.Hour), second, "yes", "yes"},
		{"expired", closed(rental.Expired, false), "yes?", over, over},
		{"cancelled", closed(rental.Cancelled, false), "yes?", over, over},
		{"failed", closed(rental.PaymentFailed, false), "yes?", over, over},
		{"not renewed", closed(rental.NotRenewed, true), over, "yes?", "yes?"},
		{"withdrawn", closed(rental.Cancelled, true), over, over, over},
		{"unapproved", closed(rental.Unapproved, true), over, over, over},
		{"refunded", closed(rental.Refunded, true), over, over, over},
		{"removed", closed(rental.Removed, true), over, over, over},
		{"removed before it was paid", closed(rental.Removed, false), over, over, over},
	}
}

// What money buys: every state, purpose and room.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 22, 11, 0, 0, 0, time.UTC)
	for _, s := range standings(now) {
		for purpose, want := range map[payment.Purpose]string{payment.New: s.fresh, payment.Extend: s.more, payment.Renew: s.again} {
			for room, have := range market.Rooms() {
				name := s.name + ", " + string(purpose) + ", " + room
				p := payment.Payment{Purpose: purpose, Weeks: 2, Email: "buyer@example.com"}
				r, back := market.Weigh(s.r, p, have, now, rules())
				expected := want
				if before, doubtful := strings.CutSuffix(want, "?"); doubtful {
					if expected = before; room == "taken" {
						expected = payment.ReasonBlocksGone
					}
				}
				switch {
				case expected != "yes" && back != expected, expected == "yes" && back != "":
					t.Errorf("%s: %q, want %q", name, back, expected)
				case expected == "yes":
					bought(t, name, s.r, r, p, now)
				}
			}
		}
	}
}

// bought holds a rental against what the payment is to make of it.
func bought(t *testing.T, name string, was, r rental.Rental, p payment.Payment, now time.Time) {
	t.Helper()
	if r.ClosedReason != nil || r.ClosedAt != nil || r.ReservedUntil != nil || r.Hidden != was.Hidden {
		t.Errorf("%s: %+v", name, r)
	}
	if p.Purpose == payment.New {
		by := now.Add(720 * time.Hour)
		if r.State != rental.Paid || !r.PaidAt.Equal(now) || !r.ApproveBy.Equal(by) || !r.LeasedUntil.Equal(by) || *r.Email != p.Email || r.LiveFrom != nil {
			t.Errorf("%s: %+v", name, r)
		}
		return
	}
	from, ends := *was.LiveFrom, was.EndsAt.Add(336*time.Hour)
	if p.Purpose == payment.Renew {
		from, ends = now, now.Add(336*time.Hour)
	}
	if r.State != rental.Live || !r.LiveFrom.Equal(from) || !r.EndsAt.Equal(ends) || !r.LeasedUntil.Equal(ends.Add(48*time.Hour)) || r.PaidAt != was.PaidAt {
		t.Errorf("%s: %s from %v to %v until %v", name, r.State, r.LiveFrom, r.EndsAt, r.LeasedUntil)
	}
}

// A late extension buys its weeks as long as a microsecond of them is left; a
// renewal whatever time it is.
func TestVerdictsAtTheEndOfTheWeeks(t *testing.T) {
	t.Parallel()
	base := time.Date(2027, 3, 22, 11, 0, 0, 0, time.UTC)
	for _, s := range standings(base) {
		if s.r.EndsAt == nil || !strings.HasPrefix(s.more, "yes") {
			continue
		}
		last := s.r.EndsAt.Add(168 * time.Hour)
		for late, want := range map[time.Duration]string{-time.Microsecond: "", 0: payment.ReasonTooLate, time.Microsecond: payment.ReasonTooLate} {
			for room, have := range market.Rooms() {
				if room == "taken" {
					continue
				}
				_, back := market.Weigh(s.r, payment.Payment{Purpose: payment.Extend, Weeks: 1}, have, last.Add(late), rules())
				if back != want {
					t.Errorf("%s, %s, %v after the weeks: %q, want %q", s.name, room, late, back, want)
				}
				if !strings.HasPrefix(s.again, "yes") {
					continue
				}
				if _, back := market.Weigh(s.r, payment.Payment{Purpose: payment.Renew, Weeks: 1}, have, last.Add(late), rules()); back != "" {
					t.Errorf("%s, %s, a renewal %v: %q", s.name, room, late, back)
				}
			}
		}
	}
}
