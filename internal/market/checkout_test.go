package market_test

import (
	"slices"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

const (
	beginCall  = "POST /v1/checkout/sessions"
	expireCall = "POST /v1/checkout/sessions/{id}/expire"
	readCall   = "GET /v1/checkout/sessions/{id}"
)

// calls are the requests that reached Stripe at an endpoint.
func (w *world) calls(endpoint string) []*stripesim.Request {
	w.t.Helper()
	all, err := w.sim.Requests(w.ctx(), endpoint)
	w.must(err)
	return all
}

// keys are the different idempotency keys of calls.
func keys(calls []*stripesim.Request) []string {
	var ks []string
	for _, c := range calls {
		if k := deref(c.IdempotencyKey); !slices.Contains(ks, k) {
			ks = append(ks, k)
		}
	}
	return ks
}

// sessions is how many sessions there are at Stripe.
func (w *world) sessions() int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM stripesim.sessions`)
}

func TestCheckoutGivesTheSamePageAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	first := b.checkout(h.Key, 4)
	if first.Amount != usd().Of(960_000) || first.URL == "" {
		t.Fatalf("%+v", first)
	}
	if again := b.checkout(h.Key, 4); again != first {
		t.Errorf("another page: %+v, then %+v", first, again)
	}
	r := w.state(h.Key, rental.Paying)
	p := w.payment(first)
	if want := p.ExpiresAt.Add(10 * time.Minute); !r.LeasedUntil.Equal(want) {
		t.Errorf("leased until %v, want the page's end and ten minutes: %v", r.LeasedUntil, want)
	}
	if n := w.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	w.settled()
	w.sound()
}

// W03: ten clicks at once are one page, and each is answered with it.
func TestTenCheckoutsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.fault(stripesim.Fault{Kind: stripesim.FaultSlow, Endpoint: beginCall, Count: 1, Delay: stripesim.Delay(200 * time.Millisecond)})
	offers := make([]market.Offer, 10)
	errs := w.rush(10, func(i int) (err error) {
		offers[i], err = b.tryCheckout(h.Key, weeks(2))
		return err
	})
	if won := winners(t, errs); len(won) != 10 {
		t.Fatalf("%d of 10 were answered", len(won))
	}
	for _, o := range offers {
		if o != offers[0] {
			t.Errorf("different pages: %+v, %+v", offers[0], o)
		}
	}
	if n := w.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	if n := w.count(`SELECT count(*) FROM payments`); n != 1 {
		t.Errorf("%d payments", n)
	}
	w.settled()
	w.sound()
}

// Other weeks: the old page is over before the new one is there, and Stripe's
// own word about the old one, however early it comes, ends nothing.
func TestOtherWeeksExchangeThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	old := b.checkout(h.Key, 2)
	oldSession := w.session(old)

	// The answer to us is lost, the event is not.
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: expireCall, Count: 1})
	_, err := b.tryCheckout(h.Key, weeks(4))
	w.wants(err, "unavailable")
	w.deliver()
	if r := w.state(h.Key, rental.Paying); w.owned(h.Key) != 24 {
		t.Fatalf("the exchange of a page ended the hold: %+v", r)
	}
	if p := w.payment(old); p.State != payment.Expired {
		t.Errorf("the old payment is %s", p.State)
	}

	fresh := b.checkout(h.Key, 4)
	if fresh.PaymentKey == old.PaymentKey || fresh.Amount != usd().Of(960_000) {
		t.Fatalf("%+v", fresh)
	}
	if _, err := w.sim.Pay(w.ctx(), oldSession, stripesim.Payment{}); err == nil {
		t.Error("the old page could be paid")
	}
	b.pay(fresh)
	w.deliver()
	w.state(h.Key, rental.Paid)
	w.sound()
}

func TestPageIsNotExchangedWhileStripeIsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	old := b.checkout(h.Key, 2)
	w.fault(stripesim.Fault{Kind: stripesim.FaultServerError, Endpoint: expireCall, Count: 1})
	if _, err := b.tryCheckout(h.Key, weeks(4)); fault.As(err).Kind != fault.Unavailable {
		t.Fatalf("a second page was risked: %v", err)
	}
	if n := w.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	// Stripe keeps the failure under its key: the next try must have another.
	fresh := b.checkout(h.Key, 4)
	if fresh.PaymentKey == old.PaymentKey {
		t.Error("the old page was offered for other weeks")
	}
	w.settled()
	w.sound()
}

func TestExchangeOfAPaidPageBooksIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	b.pay(b.checkout(h.Key, 2))
	_, err := b.tryCheckout(h.Key, weeks(4))
	w.wants(err, "conflict")
	w.state(h.Key, rental.Paid)
	_, err = b.tryCheckout(h.Key, weeks(4))
	w.wants(err, "conflict")
	w.deliver()
	w.sound()
}

// The page's time is over, the hold's is not: another page can be had.
func TestPageWhoseTimeIsOverIsExchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	old := b.checkout(h.Key, 2)
	w.age(32 * time.Minute)
	fresh := b.checkout(h.Key, 2)
	if fresh.PaymentKey == old.PaymentKey {
		t.Fatal("a page was offered that cannot be paid")
	}
	w.deliver() // also Stripe's word that the old one is over
	w.state(h.Key, rental.Paying)
	b.pay(fresh)
	w.deliver()
	w.state(h.Key, rental.Paid)
	w.sound()
}

// C03 (b) and the lost answers: the buyer reads "try again", the hold is as it
// was, and trying again leads to one page.
func TestCheckoutWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind           stripesim.FaultKind
		sessions, keys int
	}{
		"refused at the door": {stripesim.FaultUnavailable, 1, 1},
		"dropped before":      {stripesim.FaultDropBefore, 1, 1},
		"dropped after":       {stripesim.FaultDropAfter, 1, 1},
		// Stripe keeps a failure under its key: another one helps at once.
		"failed": {stripesim.FaultServerError, 1, 2},
		// The first page is lost then. Its address was never shown to anybody.
		"failed after acting": {stripesim.FaultErrorAfter, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			h := b.hold(rect(1, 1, 6, 4))
			w.fault(stripesim.Fault{Kind: c.kind, Endpoint: beginCall, Count: 1})
			_, err := b.tryCheckout(h.Key, weeks(2))
			w.wants(err, "unavailable")
			r := w.state(h.Key, rental.Held)
			if !r.LeasedUntil.Equal(h.LeasedUntil) {
				t.Errorf("the lease moved from %v to %v", h.LeasedUntil, r.LeasedUntil)
			}
			o := b.checkout(h.Key, 2)
			if n := w.sessions(); n != c.sessions {
				t.Errorf("%d sessions, want %d", n, c.sessions)
			}
			if ks := keys(w.calls(beginCall)); len(ks) != c.keys {
				t.Errorf("%d keys were used, want %d", len(ks), c.keys)
			}
			b.pay(o)
			w.deliver()
			w.state(h.Key, rental.Paid)
			w.sound()
		})
	}
}

// After 45 seconds the key is given up with its payment; before, it is kept.
func TestUnansweredKeyIsRepeatedFor45Seconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropBefore, Endpoint: beginCall})
	for _, wait := range []time.Duration{0, 44 * time.Second, 2 * time.Second} {
		if wait > 0 {
			w.age(wait)
		}
		_, err := b.tryCheckout(h.Key, weeks(2))
		w.wants(err, "unavailable")
	}
	calls := w.calls(beginCall)
	if len(calls) != 3 || deref(calls[0].IdempotencyKey) != deref(calls[1].IdempotencyKey) || deref(calls[1].IdempotencyKey) == deref(calls[2].IdempotencyKey) {
		t.Errorf("the keys of %d calls: %v", len(calls), keys(calls))
	}
	// Other weeks do not slip in while an answer is awaited.
	_, err := b.tryCheckout(h.Key, weeks(3))
	w.wants(err, "conflict")
	w.must(w.sim.ClearFaults(w.ctx()))
	b.checkout(h.Key, 2)
	w.settled()
	w.sound()
}

// The lost page of a key that was given up is paid all the same, and so is the
// one that was shown: one of the two buys the rental, the other goes back.
func TestLostPageThatIsPaidIsASecondPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: beginCall, Count: 1})
	_, err := b.tryCheckout(h.Key, weeks(2))
	w.wants(err, "unavailable")
	w.age(46 * time.Second)
	b.pay(b.checkout(h.Key, 2))
	w.deliver()
	w.state(h.Key, rental.Paid)
	var lost string
	w.must(w.pool.QueryRow(w.ctx(), `SELECT id FROM stripesim.sessions WHERE status = 'open'`).Scan(&lost))
	_, err = w.sim.Pay(w.ctx(), lost, stripesim.Payment{})
	w.must(err)
	w.deliver()
	w.state(h.Key, rental.Paid)
	w.kept(480_000)
	w.sound()
}

// kept fails the test unless Stripe and the ledger have this much in the end,
// and no refund is missing.
func (w *world) kept(amount int) {
	w.t.Helper()
	if n := w.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`); n != amount {
		w.t.Errorf("the ledger keeps %d, want %d", n, amount)
	}
	if n := w.count(`SELECT COALESCE(sum(amount - amount_refunded), 0) FROM stripesim.charges WHERE status = 'succeeded'`); n != amount {
		w.t.Errorf("Stripe keeps %d, want %d", n, amount)
	}
}

// The lease is lifted to a minute while Stripe is asked, and not beyond.
func TestLeaseLastsWhileStripeIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	w.age(9*time.Minute + 50*time.Second)
	w.fault(stripesim.Fault{Kind: stripesim.FaultDropBefore, Endpoint: beginCall})
	for range 3 { // trying does not add up
		_, err := b.tryCheckout(h.Key, weeks(2))
		w.wants(err, "unavailable")
	}
	r := w.state(h.Key, rental.Held)
	if left := w.left(r); left > time.Minute || left < 50*time.Second {
		t.Errorf("leased for another %v", left)
	}
	w.age(time.Minute)
	w.work()
	w.state(h.Key, rental.Closed, rental.Expired)
	w.must(w.sim.ClearFaults(w.ctx()))
	_, err := b.tryCheckout(h.Key, weeks(2))
	w.wants(err, "gone")
	w.age(40 * time.Minute)
	w.settled()
	w.sound()
}

// left is how long the rental's lease still runs.
func (w *world) left(r rental.Rental) time.Duration {
	w.t.Helper()
	now, err := rental.Now(w.ctx(), w.pool)
	w.must(err)
	return r.LeasedUntil.Sub(now)
}

// While Stripe is slow the lease runs out and somebody else takes the blocks:
// the buyer reads that the hold is over, and nobody can pay the page.
func TestHoldTakenWhileStripeWasSlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	w.fault(stripesim.Fault{Kind: stripesim.FaultSlow, Endpoint: beginCall, Count: 1, Delay: stripesim.Delay(1500 * time.Millisecond)})
	asked := make(chan error)
	go func() {
		_, err := a.tryCheckout(h.Key, weeks(2))
		asked <- err
	}()
	w.await(`SELECT count(*) FROM stripesim.requests WHERE endpoint = '`+beginCall+`'`, 1)
	w.age(11 * time.Minute)
	other := b.hold(rect(4, 2, 6, 4))
	w.wants(<-asked, "gone")
	w.state(h.Key, rental.Closed, rental.Expired)
	w.settled()
	if n := w.count(`SELECT count(*) FROM stripesim.sessions WHERE status = 'expired'`); n != 1 {
		t.Errorf("%d sessions expired", n)
	}
	w.state(other.Key, rental.Held)
	w.sound()
}

// await waits until the database counts n.
func (w *world) await(sql string, n int) {
	w.t.Helper()
	for w.count(sql) != n {
		if w.ctx().Err() != nil {
			w.t.Fatal(w.ctx().Err())
		}
	}
}

func TestCheckoutIsForHoldsThatRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	at := h.LeasedUntil
	w.stop(at)
	_, err := b.tryCheckout(h.Key, weeks(2))
	w.wants(err, "gone")
	w.stop(at.Add(-time.Microsecond))
	b.checkout(h.Key, 2)
	if n := w.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// A checkout cannot begin later than 49 minutes after the hold was made: its
// page and the grace would end after the longest possession.
func TestCheckoutBeginsIn49Minutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true, rules: func(r *market.Rules) { r.HoldTTL = time.Hour }})
	b, c := w.buyer(), w.buyer()
	h, late := b.hold(rect(1, 1, 6, 4)), c.hold(rect(20, 20, 6, 4))
	if want := w.rental(h.Key).CountedFrom.Add(49 * time.Minute); !h.CheckoutBy.Equal(want) {
		t.Errorf("checkout by %v, want %v", h.CheckoutBy, want)
	}
	w.stop(late.CheckoutBy)
	_, err := c.tryCheckout(late.Key, weeks(2))
	w.wants(err, "gone")
	w.stop(h.CheckoutBy.Add(-time.Microsecond))
	b.checkout(h.Key, 2)
	r := w.state(h.Key, rental.Paying)
	if most := r.CountedFrom.Add(90 * time.Minute); r.LeasedUntil.After(most) {
		t.Errorf("leased until %v, after %v", r.LeasedUntil, most)
	}
}

func TestExpectedAmountGuardsThePrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	want, wrong := weeks(2), int64(479_999)
	want.ExpectedAmount = &wrong
	_, err := b.tryCheckout(h.Key, want)
	if f := w.wants(err, "conflict"); f.Details["amount"] != usd().Of(480_000) {
		t.Errorf("details: %v", f.Details)
	}
	right := int64(480_000)
	want.ExpectedAmount = &right
	if _, err := b.tryCheckout(h.Key, want); err != nil {
		t.Error(err)
	}
}

// P14: one integer from the hold to the payment service, for odd prices too.
func TestAmountsAreWholeEverywhere(t *testing.T) {
	t.Parallel()
	for _, price := range []int64{1, 1999} {
		w := newWorld(t, options{rules: func(r *market.Rules) { r.PricePerPixel, r.MaxBlocks = price, 10_000 }})
		for i, blocks := range []int{1, 7, 99} {
			for _, n := range []int{1, 3, 52} {
				b := w.buyer()
				h := b.hold(rect(0, i, blocks, 1))
				if want := usd().Of(int64(blocks) * 100 * price); h.PricePerWeek != want {
					t.Fatalf("%d blocks cost %v a week, want %v", blocks, h.PricePerWeek, want)
				}
				total := int64(blocks) * 100 * price * int64(n)
				o, err := b.tryCheckout(h.Key, weeks(n))
				if !usd().Chargeable(total) {
					if f := w.wants(err, "invalid"); f.Field != "weeks" {
						t.Errorf("field %s", f.Field)
					}
					w.must(b.cancel(h.Key))
					continue
				}
				w.must(err)
				if o.Amount.Amount != total {
					t.Errorf("%d blocks for %d weeks: %v, want %d", blocks, n, o.Amount, total)
				}
				s, err := w.sim.Pay(w.ctx(), w.session(o), stripesim.Payment{})
				w.must(err)
				if s.AmountTotal != total {
					t.Errorf("Stripe took %d, want %d", s.AmountTotal, total)
				}
				w.must(w.m.Return(w.ctx(), b.who, h.Key))
				w.state(h.Key, rental.Paid)
				_, err = w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: deref(w.payment(o).PaymentIntent)})
				w.must(err)
				w.deliver()
				w.state(h.Key, rental.Closed, rental.Refunded)
			}
		}
		w.kept(0)
		w.sound()
	}
}

func TestAmountsThatCannotBeChargedAreRefusedBeforeTheHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{rules: func(r *market.Rules) { r.PricePerPixel, r.MaxBlocks = 100, 10_000 }})
	b := w.buyer()
	_, err := b.tryHold(rect(0, 0, 100, 100)) // 1,000,000 USD a week
	if f := w.wants(err, "invalid"); f.Field != "w" {
		t.Errorf("field %s", f.Field)
	}
	h := b.hold(rect(0, 0, 99, 100)) // 990,000 USD: one week goes, two do not
	_, err = b.tryCheckout(h.Key, weeks(2))
	if f := w.wants(err, "invalid"); f.Field != "weeks" {
		t.Errorf("field %s", f.Field)
	}
	b.checkout(h.Key, 1)

	yen, _ := money.Lookup("jpy")
	cheap := w.market(options{rules: func(r *market.Rules) { r.Currency, r.PricePerPixel = yen, 0 }})
	_, err = cheap.Hold(w.ctx(), b.who, rect(0, 0, 1, 1), market.Request{})
	if f := w.wants(err, "invalid"); f.Field != "w" {
		t.Errorf("field %s", f.Field)
	}
}

func TestGoLiveIsOnAnHourOfTheNextTwoWeeks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	noon := h.LeasedUntil.Truncate(time.Hour).Add(-10 * time.Hour)
	w.stop(noon)
	for _, c := range []struct {
		at time.Time
		ok bool
	}{
		{noon, false},
		{noon.Add(-time.Hour), false},
		{noon.Add(30 * time.Minute), false},
		{noon.Add(time.Hour + time.Microsecond), false},
		{noon.Add(14*24*time.Hour + time.Hour), false},
		{noon.Add(time.Hour), true},
		{noon.Add(14 * 24 * time.Hour), true},
		{noon.Add(time.Hour).In(time.FixedZone("India", 19800)), true},
	} {
		want := weeks(2)
		want.GoLiveAt = &c.at
		_, err := b.tryCheckout(h.Key, want)
		if f := fault.As(err); (err == nil) != c.ok || !c.ok && f.Field != "go_live_at" {
			t.Errorf("%v: %v", c.at, err)
		}
	}
}

func TestWeeksAreFrom1To52(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 1, 1))
	for _, n := range []int{-1, 0, 53, 1 << 40} {
		_, err := b.tryCheckout(h.Key, weeks(n))
		if f := w.wants(err, "invalid"); f.Field != "weeks" {
			t.Errorf("field %s", f.Field)
		}
	}
	b.checkout(h.Key, 52)
}

// The price of the hold holds, whatever becomes of the price list.
func TestHoldFixesThePrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	dearer := w.market(options{rules: func(r *market.Rules) { r.PricePerPixel = 300 }})
	o, err := dearer.Checkout(w.ctx(), b.who, h.Key, weeks(2))
	w.must(err)
	if o.Amount != usd().Of(480_000) {
		t.Errorf("the hold was made for %v a week, two cost %v", h.PricePerWeek, o.Amount)
	}
}

// The process died while it exchanged a page: the old one is over at Stripe,
// nobody wrote that down, no new one was begun. The hold goes on, and comes to
// its end.
func TestDiedWhileExchangingAPage(t *testing.T) {
	t.Parallel()
	for name, comesBack := range map[string]bool{"the buyer comes back": true, "nobody comes back": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			h := b.hold(rect(1, 1, 6, 4))
			o := b.checkout(h.Key, 2)
			w.exec(`UPDATE payments SET ended_at = now()`)
			_, err := w.sim.Expire(w.ctx(), w.session(o))
			w.must(err)
			w.deliver()
			w.state(h.Key, rental.Paying)
			w.sound()
			if comesBack {
				b.pay(b.checkout(h.Key, 4))
				w.deliver()
				w.state(h.Key, rental.Paid)
				w.kept(960_000)
			} else {
				w.age(42 * time.Minute)
				w.settled()
				w.state(h.Key, rental.Closed, rental.Expired)
			}
			w.sound()
		})
	}
}

// Somebody ends the page in Stripe's dashboard: nothing can be paid any more,
// and the blocks are free at once.
func TestPageEndedInTheDashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	a, b := w.buyer(), w.buyer()
	h := a.hold(rect(1, 1, 6, 4))
	_, err := w.sim.Expire(w.ctx(), w.session(a.checkout(h.Key, 2)))
	w.must(err)
	w.deliver()
	w.state(h.Key, rental.Closed, rental.Expired)
	b.hold(rect(1, 1, 6, 4))
	w.settled()
	w.sound()
}
