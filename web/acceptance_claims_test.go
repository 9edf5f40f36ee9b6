package web_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tuval/internal/stripesim"
)

// openPages is how many payment pages can be paid at this moment.
func (s *stack) openPages() int {
	s.t.Helper()
	return s.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'open'`)
}

// C03: who gives up on the payment page, or finds it closed, meets their own
// hold and not "taken"; others still do. Trying again does not possess for
// longer than the rules allow.
func TestC03ComingBackMeetsTheOwnHold(t *testing.T) {
	s := newStack(t)
	a, b := s.browser(), s.browser()
	path := a.hold(11, 11, 6, 4)
	first := a.checkout(path).wants(http.StatusSeeOther)
	// Back from the payment page: the same rect, held anew, can be paid.
	again := a.hold(11, 11, 6, 4)
	second := a.checkout(again).wants(http.StatusSeeOther)
	if second.leads() == first.leads() {
		t.Error("the page of the replaced hold is offered for the new one")
	}
	// One block to the right, and one overlapping by a corner.
	moved := a.hold(12, 11, 6, 4)
	a.checkout(moved).wants(http.StatusSeeOther)
	for _, other := range [][4]int{{12, 11, 6, 4}, {17, 14, 3, 3}} {
		b.post("/holds", holdPairs(other[0], other[1], other[2], other[3])...).wants(http.StatusConflict).says("Somebody was faster", "Taken:")
	}
	// Nothing of the hold that was replaced is left behind: its first column
	// is free again at once.
	b.hold(11, 11, 1, 4)
	if n := s.count(`SELECT count(*) FROM rentals WHERE state IN ('held', 'paying') AND x <= 16 AND x + w > 11`); n != 1 {
		t.Errorf("%d holds of one person lie on the same blocks", n)
	}
	if n := s.count(`SELECT count(*) FROM rentals WHERE counted_from <> (SELECT min(counted_from) FROM rentals) AND w > 1`); n != 0 {
		t.Error("trying again begins a new possession")
	}
	// The pages of replaced holds cannot be paid once their job has run.
	s.work()
	if n := s.openPages(); n != 1 {
		t.Errorf("%d payment pages are open", n)
	}
}

// The documented total: 90 minutes from the first hold, whatever is done.
func TestC03TryingAgainDoesNotProlongForEver(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(11, 11, 6, 4)
	b.post(path + "/keep").wants(http.StatusSeeOther)
	for range 2 {
		s.age(15 * time.Minute)
		path = b.hold(11, 11, 6, 4)
		b.post(path + "/keep").wants(http.StatusConflict)
		b.checkout(path).wants(http.StatusSeeOther)
	}
	if n := s.count(`SELECT count(*) FROM rentals WHERE leased_until > counted_from + interval '90 minutes'`); n != 0 {
		t.Error("a lease goes beyond the longest possession")
	}
	s.age(25 * time.Minute) // 55 minutes after the first hold
	b.post("/holds", holdPairs(11, 11, 6, 4)...).wants(http.StatusTooManyRequests).says("too long")
	s.age(36 * time.Minute)
	s.browser().hold(11, 11, 6, 4)
}

// C03 (b): Stripe fails, the buyer gets a page to try again from, nothing was
// sold, and the blocks are free when the hold would have ended.
func TestC03StripeFailsAndNothingIsSold(t *testing.T) {
	for _, kind := range []stripesim.FaultKind{stripesim.FaultServerError, stripesim.FaultUnavailable, stripesim.FaultDropAfter, stripesim.FaultErrorAfter} {
		t.Run(string(kind), func(t *testing.T) {
			s := newStack(t)
			a, b := s.browser(), s.browser()
			path := a.hold(11, 11, 6, 4)
			if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: kind, Endpoint: "POST /v1/checkout/sessions"}); err != nil {
				t.Fatal(err)
			}
			a.checkout(path).wants(http.StatusServiceUnavailable).whole(true)
			if n := s.count(`SELECT count(*) FROM ledger WHERE amount <> 0`); n != 0 {
				t.Errorf("%d sales", n)
			}
			b.post("/holds", holdPairs(11, 11, 6, 4)...).wants(http.StatusConflict)
			if err := s.sim.ClearFaults(s.ctx()); err != nil {
				t.Fatal(err)
			}
			a.checkout(path).wants(http.StatusSeeOther)
			other := a.hold(41, 41, 2, 2)
			if _, err := s.sim.AddFault(s.ctx(), stripesim.Fault{Kind: kind, Endpoint: "POST /v1/checkout/sessions"}); err != nil {
				t.Fatal(err)
			}
			a.checkout(other).wants(http.StatusServiceUnavailable)
			s.age(10*time.Minute + time.Second)
			b.hold(41, 41, 2, 2)
		})
	}
}

// C04: an old tab cannot touch what came after it.
func TestC04AnOldTabDoesNotTouchTheNext(t *testing.T) {
	s := newStack(t)
	a, b := s.browser(), s.browser()
	old := a.hold(11, 11, 6, 4)
	s.age(10*time.Minute + time.Second)
	next := b.hold(11, 11, 6, 4)
	offered := b.checkout(next, "expected_amount", "480000").wants(http.StatusSeeOther)
	const whole = `SELECT md5(string_agg(b::text, ',' ORDER BY y, x)) FROM blocks b`
	var before, after string
	if err := s.pool.QueryRow(s.ctx(), whole).Scan(&before); err != nil {
		t.Fatal(err)
	}
	for _, scripts := range []bool{false, true} {
		a.htmx = scripts
		for _, weeks := range []string{"2", "4"} {
			a.post(old+"/checkout", "weeks", weeks, "email", "a@example.com").wants(http.StatusGone).whole(!scripts).says("Your hold")
		}
		a.post(old + "/keep").wants(http.StatusGone).says("Your hold")
		a.post(old+"/cancel").wants(http.StatusSeeOther, http.StatusOK, http.StatusGone)
	}
	if err := s.pool.QueryRow(s.ctx(), whole).Scan(&after); err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Error("the blocks of the next hold changed")
	}
	if n := s.count(`SELECT count(*) FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`, strings.TrimPrefix(old, "/rentals/")); n != 0 {
		t.Errorf("%d payments were begun for a hold that is over", n)
	}
	if again := b.checkout(next).wants(http.StatusSeeOther); again.leads() != offered.leads() {
		t.Error("the next buyer's page is another one now")
	}
	s.pay(s.session())
	s.applyEvents()
	b.get(next).says("Paid. Now your picture", "4,800.00 USD")
}

// C07: the cap is on the person, however often and from however many browsers
// they try, and on the network of whoever keeps no cookies.
func TestC07UnpaidHoldsAreCapped(t *testing.T) {
	t.Run("one browser", func(t *testing.T) {
		s := newStack(t)
		b := s.browser()
		won := s.tries(b, 200)
		if won != 3 {
			t.Errorf("one browser has %d holds", won)
		}
		s.browser().hold(90, 90, 2, 2) // the rest is for others
	})
	t.Run("one account in three browsers", func(t *testing.T) {
		s := newStack(t)
		for range 3 {
			b := s.browser()
			s.signIn(b, "zoe@example.com")
			s.tries(b, 10)
		}
		if n := s.count(`SELECT count(*) FROM rentals WHERE state = 'held'`); n != 3 {
			t.Errorf("one account has %d holds", n)
		}
	})
	t.Run("no cookies", func(t *testing.T) {
		s := newStack(t, tightAddress)
		won := 0
		for i := range 200 {
			b := s.browser() // each a new one
			if s.try(b, i) {
				won++
			}
		}
		if won != 10 {
			t.Errorf("one network has %d holds", won)
		}
	})
	t.Run("all at once", func(t *testing.T) {
		s := newStack(t, tightAddress)
		var all sync.WaitGroup
		for i := range 40 {
			b := s.browser()
			all.Go(func() { s.try(b, i) })
		}
		all.Wait()
		if n := s.count(`SELECT count(*) FROM rentals WHERE state = 'held'`); n != 10 {
			t.Errorf("one network has %d holds", n)
		}
	})
}

// try holds the i-th of many places.
func (s *stack) try(b *browser, i int) bool {
	s.t.Helper()
	a := b.post("/holds", holdPairs(1+3*(i%30), 1+3*(i/30), 2, 2)...).wants(http.StatusSeeOther, http.StatusTooManyRequests, http.StatusConflict)
	if a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" {
		s.t.Error("no Retry-After")
	}
	return a.status == http.StatusSeeOther
}

func (s *stack) tries(b *browser, n int) int {
	s.t.Helper()
	won := 0
	for i := range n {
		if s.try(b, i) {
			won++
		}
	}
	return won
}

// C07: releasing and holding the same blocks again and again does not keep them
// from others without end: what a day allows is used up.
func TestC07ReclaimingEndsInADay(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	minutes := 0
	for range 80 {
		a := b.post("/holds", holdPairs(11, 11, 10, 10)...).wants(http.StatusSeeOther, http.StatusTooManyRequests)
		if a.status == http.StatusTooManyRequests {
			break
		}
		s.age(6 * time.Minute)
		minutes += 6
		b.post(a.leads() + "/cancel").wants(http.StatusSeeOther)
	}
	if minutes < 294 || minutes > 300 {
		t.Errorf("a person can hold without paying for %d minutes a day", minutes)
	}
	s.browser().hold(11, 11, 10, 10)
	s.age(25 * time.Hour)
	b.hold(51, 11, 10, 10)
}
