package e2e

import "testing"

// TestBuyers are the ways of people who each mind their own place on one site.
func TestBuyers(t *testing.T) {
	s := serve(t, roomy()...)
	for _, way := range []struct {
		name string
		walk func(*site)
	}{
		{"two want the same", twoWantTheSame},
		{"without scripts", withoutScripts},
		{"the keyboard alone", keyboardAlone},
		{"the keyboard meets others", keyboardMeetsOthers},
		{"fingers on the canvas", fingersOnTheCanvas},
		{"a phone buys", phonePurchase},
		{"a phone loses a race", phoneLoses},
		{"pressed twice", pressedTwice},
		{"changing one's mind", changedMind},
		{"payments are away", paymentsAreAway},
		{"back after paying", backAfterPaying},
		{"another hold after going back", holdAfterBack},
		{"back after signing out", backAfterSignOut},
		{"signing in elsewhere", signInElsewhere},
		{"returning by hand", returnByHand},
		{"returning from another site", returnFromAnotherSite},
	} {
		t.Run(way.name, func(t *testing.T) {
			own := *s
			own.t = t
			way.walk(&own)
		})
	}
}

// Questions about one person's rentals and one rental's payments, by a rental's key.
const (
	ofPerson = `SELECT count(*) FROM rentals WHERE person_id = (SELECT person_id FROM rentals WHERE key = $1)`
	ofRental = `SELECT count(*) FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`
)
