package e2e

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// withoutScripts: the whole purchase and its review with forms and links only.
func withoutScripts(s *site) {
	b := s.person("buyer", phone())
	b.plain()
	place := rect{10, 20, 5, 4}

	b.loads(chromedp.Navigate(s.base + "/"))
	for name, value := range map[string]string{"col": "11", "row": "21", "w": "5", "h": "4"} {
		b.write("#hold-form [name="+name+"]", value)
	}
	b.loads(chromedp.Click(chromedp.CSS("#hold-button")))
	key := rentalPath.FindStringSubmatch(b.address())[1]
	s.heldAs(key, place)
	b.reads("2,000.00 USD", "4 weeks", "8,000.00 USD")

	b.do(chromedp.Click(chromedp.CSS(`.week:has([value="4"])`)))
	b.write("#email", "buyer@example.com")
	b.loads(chromedp.Click(chromedp.CSS("form[data-checkout] .btn-primary")))
	b.reads("Simulation.", "8,000.00 USD")
	b.loads(chromedp.Click(chromedp.CSS(`button[value="pay"]`)))
	b.reads("Paid. Now your picture")

	b.files("input[name=image]", quarters(s.t, 300, 240))
	b.write("[name=link]", "https://shop.example/")
	b.write("[name=alt]", "Red, green, blue and yellow")
	b.loads(chromedp.Click(chromedp.CSS("form[data-upload] .btn-primary")))
	b.reads("In review", "shop.example")

	admin := s.person("admin", desktop())
	admin.plain()
	admin.loads(chromedp.Navigate(s.base + "/admin/login"))
	admin.write("#email", adminEmail)
	admin.write("#password", adminPassword)
	admin.loads(chromedp.Click(chromedp.CSS("main .btn-primary")))
	const picture = `FROM creatives c JOIN rentals r ON r.id = c.rental_id WHERE r.key = $1`
	item := "#review-" + s.word(`SELECT c.key `+picture, key) + "-item"
	admin.loads(chromedp.Click(chromedp.CSS(item + " [data-decision=approved] .btn-primary")))
	s.counts(1, `SELECT count(*) `+picture+` AND c.state = 'approved'`, key)

	b.loads(chromedp.Navigate(s.base + "/"))
	free := s.count(`SELECT count(*) FROM blocks WHERE leased_until <= now()`)
	b.reads(fmt.Sprintf("%d,%03d", free/1000, free%1000))
	b.loads(chromedp.Navigate(s.base + "/rentals/" + key))
	b.reads("On the canvas")
}

// plain switches scripts off.
func (b *tab) plain() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// loads does something that leads to another page, and waits until that stands.
func (b *tab) loads(step chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if _, err := chromedp.Run(ctx, chromedp.WaitEvent(page.LoadEventFired, nil, step)); err != nil {
		b.t.Fatalf("%s: %v", b.name, err)
	}
}

// reads fails the test unless the words are to be read on the page.
func (b *tab) reads(words ...string) {
	b.t.Helper()
	for _, w := range words {
		if !get[bool](b, found(w)) {
			b.t.Errorf("%s does not read %q on %s", b.name, w, b.address())
		}
	}
}
