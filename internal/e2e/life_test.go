package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLaterLife: what happens to a rental after it went live, by its buyer and by
// an admin, each through the pages.
func TestLaterLife(t *testing.T) {
	s := serve(t, roomy()...)
	b := s.person("buyer", desktop())
	b.open("/about")
	withdrawn, plainly := b.paid(rect{40, 10, 2, 2}, "2"), b.paid(rect{50, 10, 2, 2}, "2")
	b.withdraws(withdrawn)
	b.withdrawsPlainly(plainly)
	key := b.live(rect{10, 10, 4, 4}, someWords())
	b.extends(key)
	s.admins(key)
	b.renews(key)
}

// extends: the price and the new end of each number of weeks are known before
// anything is sent; the page after paying turns by itself.
func (b *tab) extends(key string) {
	b.t.Helper()
	b.open("/rentals/" + key)
	b.says("Extend", "1,600.00 USD a week")
	b.click(`#more label:has([name=weeks][value="2"])`)
	b.wait(`document.querySelector("#more output[data-total]").textContent === "3,200.00 USD"`)
	b.wait(`document.querySelector("#more output[data-ends]").textContent === document.querySelector("#more [name=weeks]:checked").dataset.ends`)
	end := b.text("#more output[data-ends]")
	b.click("#more .btn-primary")
	b.arrive("/c/pay/")
	b.says("3,200.00 USD")
	b.back("/rentals/[^/]+$") // not sure yet; the page is not a dead one
	b.says("Your payment page is open", "3,200.00 USD for 2 weeks")
	b.click(`#more a[href*="/c/pay/"]`)
	b.arrive("/c/pay/")
	b.click(`button[value="pay"]`)
	b.rental()
	b.says("You extended by 2 weeks", end, "Extension, 2 weeks")
	b.site.counts(1, ofRental+` AND p.purpose = 'extend' AND p.state = 'paid'`, key)
}

// renews with the keyboard alone, after the end.
func (b *tab) renews(key string) {
	b.t.Helper()
	b.site.age(28*24*time.Hour + time.Hour)
	b.site.becomes(`SELECT state = 'ended' FROM rentals WHERE key = $1`, key)
	b.open("/rentals/" + key)
	b.says("The paid time is over", "46 h", "Renew, or let the blocks go")
	b.tabTo("#more [name=weeks]")
	b.press(kb.ArrowLeft)
	b.wait(`document.querySelector("#more output[data-total]").textContent === "3,200.00 USD"`)
	b.press(kb.Enter)
	b.arrive("/c/pay/")
	b.says("3,200.00 USD")
	b.click(`button[value="pay"]`)
	b.rental()
	b.says("Your picture is on the canvas", "Renewal, 2 weeks")
}

// withdraws: not without the tick, and then at once.
func (b *tab) withdraws(key string) {
	b.t.Helper()
	b.open("/rentals/" + key)
	b.click(`details:has([action$="/withdraw"]) summary`)
	b.click(`[action$="/withdraw"] .btn-danger`) // the browser itself asks for the tick
	b.site.counts(1, `SELECT count(*) FROM rentals WHERE key = $1 AND state = 'paid'`, key)
	b.click(`[action$="/withdraw"] label`)
	b.click(`[action$="/withdraw"] .btn-danger`)
	b.says("This rental is cancelled", "You withdrew", "800.00 USD")
	b.site.becomes(`SELECT every(f.state = 'succeeded') FROM refunds f JOIN payments p ON p.id = f.payment_id JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`, key)
}

// withdrawsPlainly is the same without scripts, after the address was corrected.
func (b *tab) withdrawsPlainly(key string) {
	b.t.Helper()
	p := b.another("buyer without scripts", desktop())
	p.plain()
	p.loads(chromedp.Navigate(b.site.base + "/rentals/" + key))
	p.click(`details:has([action$="/contact"]) summary`)
	p.write(`[action$="/contact"] [name=email]`, "right@example.com")
	p.loads(chromedp.Click(chromedp.CSS(`[action$="/contact"] .btn`)))
	p.reads("right@example.com")
	p.click(`details:has([action$="/withdraw"]) summary`)
	p.click(`[action$="/withdraw"] label`)
	p.loads(chromedp.Click(chromedp.CSS(`[action$="/withdraw"] .btn-danger`)))
	p.reads("This rental is cancelled", "You withdrew")
}

// admins refund a part, hide and show again, compare, and let time pass.
func (s *site) admins(key string) {
	s.t.Helper()
	a := s.person("admin", desktop())
	s.signInAdmin(a)
	a.open("/admin/rentals/" + key)
	a.says("Steps", "What can be done")
	a.act("refund", "Agreed by phone", func() { a.write("#refund-amount", "100.50") })
	a.says("The refund is on its way.", "100.50 USD")
	a.act("hide", "The linked page is broken", nil)
	a.says("The picture is hidden.", "Show again")
	a.act("unhide", "It works again", nil)
	a.says("The picture shows again.")
	a.open("/admin/anomalies")
	a.click(`[action="/admin/reconcile"] .btn`)
	a.says("Compared: found")
	a.click(`a[href="/dev/clock"]`)
	a.arrive("/dev/clock$")
	a.click(`button[value="10m"]`)
	a.says("Everything is 10 min 0 s older.")
}

// act fills in a form of a rental's page in the admin and sends it.
func (b *tab) act(verb, reason string, more func()) {
	b.t.Helper()
	form := fmt.Sprintf(`[action$="/%s"]`, verb)
	b.click(`details:has(` + form + `) summary`)
	if more != nil {
		more()
	}
	b.write("#"+verb+"-reason", reason)
	b.click(form + " label.choice:has([name=confirm])")
	b.click(form + " p > .btn")
}
