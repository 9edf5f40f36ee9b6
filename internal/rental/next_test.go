package rental_test

import (
	"testing"
	"time"

	"tuval/internal/rental"
)

func at(minutes int) *time.Time {
	t := time.Date(2027, 3, 22, 11, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
	return &t
}

// Each deadline: a microsecond before nothing, at it and after it the move.
func TestNextHoldsToTheMicrosecond(t *testing.T) {
	for name, c := range map[string]struct {
		r      rental.Rental
		due    *time.Time
		to     rental.State
		reason rental.Reason
	}{
		"hold":      {rental.Rental{State: rental.Held, LeasedUntil: at(10)}, at(10), rental.Closed, rental.Expired},
		"checkout":  {rental.Rental{State: rental.Paying, LeasedUntil: at(41)}, at(41), rental.Closed, rental.Expired},
		"approval":  {rental.Rental{State: rental.Paid, ApproveBy: at(60), LeasedUntil: at(60)}, at(60), rental.Closed, rental.Unapproved},
		"scheduled": {rental.Rental{State: rental.Paid, ApproveBy: at(60), LiveFrom: at(90), EndsAt: at(200)}, at(90), rental.Live, ""},
		"end":       {rental.Rental{State: rental.Live, LiveFrom: at(0), EndsAt: at(200), LeasedUntil: at(300)}, at(200), rental.Ended, ""},
		"renewal":   {rental.Rental{State: rental.Ended, EndsAt: at(200), LeasedUntil: at(300)}, at(300), rental.Closed, rental.NotRenewed},
	} {
		if m, due := c.r.Next(c.due.Add(-time.Microsecond)); due {
			t.Errorf("%s: moved early to %v", name, m)
		}
		for _, late := range []time.Duration{0, time.Microsecond, 96 * time.Hour} {
			m, due := c.r.Next(c.due.Add(late))
			if !due || m.To != c.to || m.Reason != c.reason || !m.At.Equal(*c.due) {
				t.Errorf("%s, %v late: %+v, due %v", name, late, m, due)
			}
		}
	}
}

// Four days without a server: live, ended and closed follow in one read.
func TestAtCatchesUp(t *testing.T) {
	terms := rental.Terms{RenewalWindow: 48 * time.Hour}
	r := rental.Rental{State: rental.Paid, LiveFrom: at(0), EndsAt: at(60), LeasedUntil: at(60 + 48*60)}
	for _, c := range []struct {
		now  *time.Time
		want rental.State
	}{{at(-1), rental.Paid}, {at(0), rental.Live}, {at(60), rental.Ended}, {at(60 + 48*60), rental.Closed}, {at(99999), rental.Closed}} {
		if got := r.At(*c.now, terms); got.State != c.want {
			t.Errorf("at %v: %s, want %s", c.now, got.State, c.want)
		}
	}
}

func TestVisibleIsReadFromTheDates(t *testing.T) {
	r := rental.Rental{State: rental.Paid, LiveFrom: at(0), EndsAt: at(60)}
	for _, c := range []struct {
		now  *time.Time
		want bool
	}{{at(-1), false}, {at(0), true}, {at(59), true}, {at(60), false}} {
		if r.Visible(*c.now) != c.want {
			t.Errorf("visible at %v: %v", c.now, !c.want)
		}
	}
	r.Hidden = true
	if r.Visible(*at(1)) {
		t.Error("a hidden picture shows")
	}
}
