package e2e

import (
	"fmt"
	"testing"
	"time"
)

// TestOffline: without a network the page says so and keeps what is typed; with it
// again it finds by itself what has happened meanwhile.
func TestOffline(t *testing.T) {
	s := serve(t)
	b := s.person("visitor", desktop())
	b.canvas("/#40,40,3,3")
	b.wait(`document.getElementById("quote-state").textContent === "All free."`)
	b.cut = true
	b.network(conditions{Offline: true})
	b.wait(`document.querySelector("#feed[data-feed=offline]")`)
	b.says("Offline: this may be out of date")
	b.click("#hold-button")
	b.says("You are offline. Nothing was sent")
	b.selected(rect{40, 40, 3, 3}, "offline")

	other := s.person("somebody else", desktop())
	other.open("/about")
	other.held(rect{41, 41, 5, 5})
	b.network(conditions{})
	b.wait(`document.querySelector("#feed[data-feed=live]")`)
	b.wait(`document.getElementById("quote-state").textContent === "Somebody else has just taken 4 of these 9 blocks."`)
	b.wait(`document.querySelector("[data-free]").textContent === "9,975"`)
}

// TestHoldRunsOut: the countdown of a hold comes to its end, asks the server, and
// the page says that the hold is over; what was typed is not thrown away for it.
func TestHoldRunsOut(t *testing.T) {
	s := serve(t)
	b := s.person("buyer", desktop())
	b.open("/about")
	key := b.held(rect{10, 10, 3, 3})
	s.age(10*time.Minute - 6*time.Second)
	b.open("/rentals/" + key)
	typed := b.another("a tab where something was typed", desktop())
	typed.open("/rentals/" + key)
	typed.write("#email", "buyer@example.com")
	b.wait(`document.querySelector("[data-countdown]").textContent.match(/^[1-6] s$/)`)
	b.says("Your hold is over")
	b.wait(`!document.querySelector("form[data-checkout]")`)
	typed.says("Time is over.", "what you typed is still here")
	typed.expected = []refusal{{410, "/checkout"}}
	typed.click("form[data-checkout] .btn-primary")
	typed.says("Your hold is over")

	b.click(`main a[href^="/#"]`)
	b.ready()
	b.selected(rect{10, 10, 3, 3}, "chosen again")
	b.click("#hold-button")
	b.wait(fmt.Sprintf(`location.pathname.startsWith("/rentals/") && !location.pathname.endsWith(%q)`, key))
	s.heldAs(b.rental(), rect{10, 10, 3, 3})
}
