package account_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"tuval/internal/account"
	"tuval/internal/fault"
	"tuval/internal/testdb"
)

func TestSigningInGathersWhatIsTheBuyers(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	browser, other := addPerson(t, pool), addPerson(t, pool)
	mine := addRental(t, pool, browser, "")
	mailed := addRental(t, pool, other, "Ada@Example.com")
	others := addRental(t, pool, other, "bob@example.com")
	none := addRental(t, pool, other, "")

	id, err := signIn(t.Context(), pool, " ada@EXAMPLE.com ", browser)
	if err != nil {
		t.Fatal(err)
	}
	for rental, want := range map[int64]int64{mine: id, mailed: id, others: 0, none: 0} {
		if got := ownerOf(t, pool, rental); got != want {
			t.Errorf("rental %d is in account %d, want %d", rental, got, want)
		}
	}
	again, err := signIn(t.Context(), pool, "ADA@example.com")
	if err != nil || again != id {
		t.Errorf("the same address gives account %d, then %d (%v)", id, again, err)
	}
	a, err := account.Get(t.Context(), pool, id)
	if err != nil || a.Email != "ada@example.com" {
		t.Errorf("the account is %+v, %v", a, err)
	}
	if _, err := account.Get(t.Context(), pool, browser); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("a browser passes for an account: %v", err)
	}
}

func TestOneSpellingOfADomainIsAsGoodAsTheOther(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	r := addRental(t, pool, addPerson(t, pool), "ada@xn--bcher-kva.example")
	id, err := signIn(t.Context(), pool, "ada@bücher.example")
	if err != nil || ownerOf(t, pool, r) != id {
		t.Errorf("the rental is in %d, want %d (%v)", ownerOf(t, pool, r), id, err)
	}
}

func TestAnAccountKeepsItsRentals(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	browser := addPerson(t, pool)
	r := addRental(t, pool, browser, "bob@example.com")
	ada := must(signIn(t.Context(), pool, "ada@example.com", browser))
	bob := must(signIn(t.Context(), pool, "bob@example.com", browser))
	if got := ownerOf(t, pool, r); got != ada || ada == bob {
		t.Errorf("the rental went from account %d to %d", ada, got)
	}
	// What Ada makes while signed in is no anonymous person's.
	made := addRental(t, pool, ada, "")
	must(signIn(t.Context(), pool, "bob@example.com", ada))
	if got := ownerOf(t, pool, made); got != 0 {
		t.Errorf("Bob got what Ada made: account %d", got)
	}
}

func TestABadAddressSignsNobodyIn(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	_, err := signIn(t.Context(), pool, "ada")
	if f := fault.As(err); f.Kind != fault.Invalid || f.Field != "email" {
		t.Errorf("answered %v", err)
	}
}

// Two tabs, two links, one address: one account, and every rental in it.
func TestSigningInTwiceAtOnceMakesOneAccount(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for round := range 10 {
		email := fmt.Sprintf("ada%d@example.com", round)
		const n = 8
		var persons, rentals [n]int64
		for i := range n {
			persons[i] = addPerson(t, pool)
			rentals[i] = addRental(t, pool, persons[i], email)
		}
		var ids [n]int64
		for _, err := range atOnce(n, func(i int) (err error) {
			ids[i], err = signIn(t.Context(), pool, email, persons[i], persons[(i+1)%n])
			return err
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			if ids[i] != ids[0] || ownerOf(t, pool, rentals[i]) != ids[0] {
				t.Fatalf("round %d: account %d, rental in %d, want %d", round, ids[i], ownerOf(t, pool, rentals[i]), ids[0])
			}
		}
	}
}

// Different addresses, confirmed at once in one browser, want the same
// rentals: each rental ends up with exactly one of them, nobody deadlocks.
func TestAccountsThatWantTheSameRentals(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for round := range 10 {
		browser := addPerson(t, pool)
		var rentals []int64
		for range 20 {
			rentals = append(rentals, addRental(t, pool, browser, ""))
		}
		const n = 8
		accounts := map[int64]bool{}
		var ids [n]int64
		for _, err := range atOnce(n, func(i int) (err error) {
			ids[i], err = signIn(t.Context(), pool, fmt.Sprintf("p%d.%d@example.com", round, i), browser)
			return err
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range ids {
			accounts[id] = true
		}
		winner := ownerOf(t, pool, rentals[0])
		for _, r := range rentals {
			if got := ownerOf(t, pool, r); got != winner || !accounts[got] {
				t.Fatalf("round %d: rental %d is in account %d, its neighbour in %d", round, r, got, winner)
			}
		}
	}
}

// Rentals are locked by id, not as they lie in the table: all who lock several
// do it so, and nobody deadlocks.
func TestRentalsAreLockedById(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	browser := addPerson(t, pool)
	for _, id := range []int64{900_002, 900_001} { // the later id lies first in the table
		addRentalAs(t, pool, id, browser, "")
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM rentals WHERE id = 900002 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := signIn(t.Context(), pool, "ada@example.com", browser)
		done <- err
	}()
	waitForLock(t, pool)
	var free int
	if err := tx.QueryRow(t.Context(), `SELECT count(*) FROM (SELECT FROM rentals WHERE id = 900001 FOR UPDATE SKIP LOCKED) r`).Scan(&free); err != nil || free != 0 {
		t.Errorf("the first rental is not locked while the second is waited for (%v)", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
