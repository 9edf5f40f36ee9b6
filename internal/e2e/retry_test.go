package e2e

import (
	"tuval/internal/stripesim"
)

// changedMind: whoever leaves the payment page comes to pay again at once: from the
// rental's page, with the same blocks chosen anew, and shifted by one. For everybody
// else they are taken.
func changedMind(s *site) {
	b := s.person("buyer", desktop())
	b.canvas("/")
	b.drags(rect{40, 80, 3, 3})
	b.click("#hold-button")
	b.rental()
	b.pays()
	b.click("button[value=abandon]")
	b.rental()
	b.says("Continue to payment")
	b.click(`a[href*="/c/pay/"]`)
	b.arrive("/c/pay/")

	for _, again := range []rect{{40, 80, 3, 3}, {41, 80, 3, 3}} {
		b.canvas("/")
		b.fill(itoa(again.x+1), itoa(again.y+1), "3", "3")
		b.click("#hold-button")
		s.heldAs(b.rental(), again)
		s.counts(1, `SELECT count(*) FROM rentals WHERE state IN ('held', 'paying') AND x < 44 AND x + w > 40 AND y < 83 AND y + h > 80`)
		b.pays()
	}

	other := s.person("somebody else", desktop())
	other.expected = []refusal{{409, "/holds"}}
	other.canvas("/#41,80,3,3")
	other.click("#hold-button")
	other.says("Somebody was faster")
}

// pays goes from a rental's page to its payment page.
func (b *tab) pays() {
	b.t.Helper()
	b.write("#email", "buyer@example.com")
	b.click("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
}

// paymentsAreAway: a payment service that does not answer keeps nobody from trying
// again: what was typed stays, nothing is sold, and the next press works.
func paymentsAreAway(s *site) {
	b := s.person("buyer", desktop())
	b.open("/about")
	key := b.held(rect{50, 80, 3, 3})
	b.open("/rentals/" + key)
	s.fault(stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: "POST /v1/checkout/sessions"})
	b.expected = []refusal{{503, "/checkout"}}
	b.write("#email", "kept@example.com")
	b.click("form[data-checkout] .btn-primary")
	b.wait(`document.querySelector("#toasts").textContent.includes("try again")`)
	b.alive("form[data-checkout] .btn-primary")
	if typed := get[string](b, `document.getElementById("email").value`); typed != "kept@example.com" {
		s.t.Errorf("the address that was typed is now %q", typed)
	}
	s.counts(0, `SELECT count(*) FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1 AND p.state = 'paid'`, key)
	s.well()
	b.click("form[data-checkout] .btn-primary")
	b.arrive("/c/pay/")
}
