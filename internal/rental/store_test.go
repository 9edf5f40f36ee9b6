package rental_test

import (
	"testing"
	"time"

	"tuval/internal/rental"
	"tuval/internal/testdb"
)

// A list of a state has what is in it now, as a read of the rental says.
func TestListIsOfStatesAsTheyAreNow(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	// Every state with its dates in the past and in the future.
	const fill = `
		INSERT INTO rentals (key, public_id, person_id, address, x, y, w, h, state, closed_reason, closed_at, price_per_week, currency, counted_from,
			leased_until, paid_at, approve_by, live_from, ends_at)
		SELECT n::text, n::text, 1, '', 0, 0, 1, 1, state, CASE state WHEN 'closed' THEN 'expired' END, CASE state WHEN 'closed' THEN now() END, 1, 'usd', now(),
			CASE WHEN state <> 'closed' THEN now() + make_interval(hours => lease) END, now(), now() + make_interval(hours => approve),
			CASE WHEN NOT (state = 'paid' AND unapproved) THEN now() + make_interval(hours => live) END,
			CASE WHEN NOT (state = 'paid' AND unapproved) THEN now() + make_interval(hours => live + 10) END
		FROM (SELECT row_number() OVER () AS n, * FROM unnest(ARRAY['held', 'paying', 'paid', 'live', 'ended', 'closed']) AS state,
			unnest(ARRAY[-1, 1]) AS approve, unnest(ARRAY[-20, -5, 5]) AS live, unnest(ARRAY[-9, 9, 99]) AS lease, unnest(ARRAY[true, false]) AS unapproved) all_of_them
		-- The end of the lease is never before the end of the time.
		WHERE state IN ('held', 'paying', 'closed') OR lease >= live + 10 OR state = 'paid' AND unapproved`
	if _, err := pool.Exec(t.Context(), `INSERT INTO persons DEFAULT VALUES`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	now, err := rental.Now(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	all, err := rental.List(t.Context(), pool, "", 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := map[rental.State]int{}
	for _, r := range all {
		want[r.At(now, rental.Terms{RenewalWindow: time.Hour}).State]++
	}
	for _, state := range []rental.State{rental.Held, rental.Paying, rental.Paid, rental.Live, rental.Ended, rental.Closed} {
		got, err := rental.List(t.Context(), pool, state, 0, 1000)
		if err != nil || len(got) != want[state] || len(got) == 0 {
			t.Errorf("%s: %d listed, %d are, %v", state, len(got), want[state], err)
		}
		for _, r := range got {
			if seen := r.At(now, rental.Terms{RenewalWindow: time.Hour}); seen.State != state {
				t.Errorf("%s is listed as %s", seen.State, state)
			}
		}
	}
	page, err := rental.List(t.Context(), pool, "", all[1].ID, 2)
	if err != nil || len(page) != 2 || page[0].ID != all[2].ID {
		t.Errorf("%v, %v", page, err)
	}
}
