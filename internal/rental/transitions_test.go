package rental_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/rental"
	"tuval/internal/testdb"
)

func states() []rental.State {
	return []rental.State{rental.Held, rental.Paying, rental.Paid, rental.Live, rental.Ended, rental.Closed}
}

func reasons() []rental.Reason {
	return []rental.Reason{
		rental.Expired, rental.Cancelled, rental.Unapproved, rental.NotRenewed, rental.Refunded, rental.Removed, rental.PaymentFailed,
	}
}

// forms are a rental in every state, closed for every reason, with dates that
// the state needs.
func forms(at time.Time) (rs []rental.Rental) {
	later := at.Add(time.Hour)
	for _, s := range states() {
		r := rental.Rental{Rect: grid.Rect{X: 1, Y: 1, W: 1, H: 1}, State: s, LeasedUntil: &later, PaidAt: &at, ApproveBy: &later, LiveFrom: &at, EndsAt: &later, ReservedUntil: &later}
		if s != rental.Closed {
			rs = append(rs, r)
			continue
		}
		for _, why := range reasons() {
			r.LeasedUntil, r.ClosedAt, r.ClosedReason = nil, &at, &why
			rs = append(rs, r)
		}
	}
	return rs
}

func name(r rental.Rental) string {
	if r.ClosedReason == nil {
		return string(r.State)
	}
	return string(r.State) + " " + string(*r.ClosedReason)
}

// Every pair of states and reasons: the statement writes it exactly where the
// machine has an arrow, and only from the state that the caller saw.
func TestWriteFollowsTheTransitions(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	ctx := t.Context()
	if _, err := pool.Exec(ctx, `INSERT INTO persons DEFAULT VALUES`); err != nil {
		t.Fatal(err)
	}
	now, err := rental.Now(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	// write goes from one form to another, with what the caller believes it to be.
	write := func(stored, was, to rental.Rental) error {
		tx, err := pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		hold := stored
		hold.LeasedUntil = &now
		r, err := rental.Insert(ctx, tx, rental.New{Key: "k", PublicID: "p", Person: 1, Address: []byte{}, Rental: hold})
		if err != nil {
			t.Fatal(err)
		}
		was.ID, to.ID = r.ID, r.ID
		const sql = `UPDATE rentals SET state = $1, closed_reason = $2, closed_at = $3, leased_until = $4, paid_at = $5, live_from = $5, ends_at = $5`
		if _, err := tx.Exec(ctx, sql, stored.State, stored.ClosedReason, stored.ClosedAt, stored.LeasedUntil, stored.PaidAt); err != nil {
			t.Fatal(err)
		}
		if err := rental.Write(ctx, tx, was, to); err != nil {
			return err
		}
		if got, err := rental.ByID(ctx, tx, r.ID); err != nil || name(got) != name(to) {
			t.Errorf("%s to %s wrote %s, %v", name(was), name(to), name(got), err)
		}
		return nil
	}
	all := forms(now)
	for i := range all {
		all[i].PricePerWeek.Amount, all[i].PricePerWeek.Currency, all[i].CountedFrom = 1, "usd", now
	}
	for _, from := range all {
		for _, to := range all {
			if err := write(from, from, to); (err == nil) != rental.May(from, to) {
				t.Errorf("%s to %s: %v, the machine says %v", name(from), name(to), err, rental.May(from, to))
			}
		}
		for _, seen := range all { // the row is another one than was seen
			for _, to := range all {
				if name(seen) == name(from) || !rental.May(seen, to) {
					continue
				}
				if err := write(from, seen, to); !fault.Is(err, "conflict") {
					t.Errorf("%s seen as %s becomes %s: %v", name(from), name(seen), name(to), err)
				}
			}
		}
	}
}

// The machine is what the life of a rental says: every arrow, and no other.
func TestTransitionsAreTheLife(t *testing.T) {
	t.Parallel()
	unpaid := []string{"closed expired", "closed cancelled", "closed payment_failed"}
	want := map[string][]string{
		"held":                  append([]string{"held", "paying", "paid", "closed removed"}, unpaid...),
		"paying":                append([]string{"paying", "paid", "closed removed"}, unpaid...),
		"paid":                  {"paid", "live", "closed unapproved", "closed cancelled", "closed refunded", "closed removed"},
		"live":                  {"live", "ended", "closed refunded", "closed removed"},
		"ended":                 {"ended", "live", "closed not_renewed", "closed refunded", "closed removed"},
		"closed expired":        {"paid"},
		"closed cancelled":      {"paid"},
		"closed payment_failed": {"paid"},
		"closed not_renewed":    {"live"},
		"closed unapproved":     nil, "closed refunded": nil, "closed removed": nil,
	}
	for _, from := range forms(*at(0)) {
		for _, to := range forms(*at(0)) {
			if got := rental.May(from, to); got != slices.Contains(want[name(from)], name(to)) {
				t.Errorf("%s to %s: %v", name(from), name(to), got)
			}
		}
	}
}

// Whatever the dates, time moves a rental only along arrows, never backwards,
// and comes to rest.
func TestTimeFollowsTheTransitions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		date := func(label string) *time.Time { return at(rapid.IntRange(0, 400).Draw(t, label)) }
		r := rental.Rental{State: rapid.SampledFrom(states()).Draw(t, "state"), LeasedUntil: date("lease")}
		switch r.State {
		case rental.Closed:
			why := rental.Expired
			r.ClosedReason, r.ClosedAt, r.LeasedUntil = &why, date("closed"), nil
		case rental.Paid:
			if r.ApproveBy = r.LeasedUntil; rapid.Bool().Draw(t, "approved") {
				r.LiveFrom, r.EndsAt = date("live"), date("ends")
			}
		case rental.Live, rental.Ended:
			r.LiveFrom, r.EndsAt = date("live"), date("ends")
		case rental.Held, rental.Paying:
		}
		now, terms := *date("now"), rental.Terms{RenewalWindow: time.Hour}
		for moves := 0; ; moves++ {
			m, due := r.Next(now)
			if !due {
				if got := r.At(now, terms); name(got) != name(r) {
					t.Fatalf("at rest as %s, and At says %s", name(r), name(got))
				}
				return
			}
			after := r.After(m, terms)
			if !rental.May(r, after) || m.At.After(now) || moves > 3 {
				t.Fatalf("move %d: %s to %s at %v", moves, name(r), name(after), m.At)
			}
			r = after
		}
	})
}
