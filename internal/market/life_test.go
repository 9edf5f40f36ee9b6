package market_test

import (
	"strings"
	"time"

	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

const week = 168 * time.Hour

// live is a rental that was paid and approved.
func (b buyer) live(r grid.Rect, n int) rental.Rental {
	b.t.Helper()
	paid := b.paid(r, n)
	_, err := b.decide(b.submit(paid.Key, int(paid.ID)), true)
	b.must(err)
	b.deliver()
	return b.state(paid.Key, rental.Live)
}

// ended is a rental whose time was over that long ago.
func (b buyer) ended(r grid.Rect, ago time.Duration) rental.Rental {
	b.t.Helper()
	live := b.live(r, 1)
	b.upTo(live.Key, ends, -ago)
	b.settled()
	return b.state(live.Key, rental.Ended)
}

func more(n int) market.More { return market.More{Weeks: n} }

func (b buyer) extend(key string, n int) market.Offer {
	b.t.Helper()
	o, err := b.m.Extend(b.ctx(), b.who, key, more(n))
	b.must(err)
	return o
}

func (b buyer) renew(key string, n int) market.Offer {
	b.t.Helper()
	o, err := b.m.Renew(b.ctx(), b.who, key, more(n))
	b.must(err)
	return o
}

// payLate pays a page after its end, as a bank may.
func (w *world) payLate(o market.Offer) { w.t.Helper(); w.payHow(o, stripesim.Payment{Late: true}) }

// deadlines of a rental.
func ends(r rental.Rental) time.Time     { return *r.EndsAt }
func reserved(r rental.Rental) time.Time { return *r.ReservedUntil }
func leased(r rental.Rental) time.Time   { return *r.LeasedUntil }
func approval(r rental.Rental) time.Time { return *r.ApproveBy }

// upTo lets time pass until so long before a deadline of the rental, or after
// it if before is negative.
func (w *world) upTo(key string, deadline func(rental.Rental) time.Time, before time.Duration) {
	w.t.Helper()
	w.age(deadline(w.rental(key)).Add(-before).Sub(w.now()))
}

func (w *world) now() time.Time {
	w.t.Helper()
	now, err := rental.Now(w.ctx(), w.pool)
	w.must(err)
	return now
}

// stopAt stops the clock so long before a deadline, with Stripe's clock not
// more than a second away.
func (w *world) stopAt(key string, deadline func(rental.Rental) time.Time, before time.Duration) {
	w.t.Helper()
	w.run()
	if far := deadline(w.rental(key)).Add(-before).Sub(w.now()); far > time.Second {
		w.age(far)
	}
	w.stop(deadline(w.rental(key)).Add(-before))
}

// refused fails the test unless err is a refusal with the code, and its words
// name the present state.
func (w *world) refused(err error, code string, words ...string) {
	w.t.Helper()
	f := w.wants(err, code)
	for _, s := range words {
		if !strings.Contains(f.Msg, s) {
			w.t.Errorf("%q does not say %q", f.Msg, s)
		}
	}
}

func (w *world) events(key, kind string) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM ledger WHERE claim_id = (SELECT id FROM rentals WHERE key = $1) AND kind = $2`, key, kind)
}

// netOf is what the ledger keeps of a payment.
func (w *world) netOf(o market.Offer) int {
	w.t.Helper()
	return w.count(`SELECT COALESCE(sum(amount), 0) FROM ledger WHERE payment_id = $1`, int64(w.payment(o).ID))
}

// returned fails the test unless the payment went back in full, for the reason.
func (w *world) returned(o market.Offer, why string) {
	w.t.Helper()
	p := w.payment(o)
	if p.State != payment.Paid || deref(p.Outcome) != payment.Returned {
		w.t.Fatalf("the payment is %s, %s", p.State, deref(p.Outcome))
	}
	const sql = `SELECT count(*) FROM refunds WHERE payment_id = $1 AND reason = $2 AND amount = $3 AND state <> 'failed'`
	if n := w.count(sql, int64(p.ID), why, p.Amount.Amount); n != 1 || w.netOf(o) != 0 {
		w.t.Errorf("%d refunds for %s, %d are kept", n, why, w.netOf(o))
	}
}

// lasts fails the test unless the rental is live, with the end and with the
// reservation after it.
func (w *world) lasts(key string, from, until time.Time) rental.Rental {
	w.t.Helper()
	r := w.state(key, rental.Live)
	if !r.LiveFrom.Equal(from) || !r.EndsAt.Equal(until) || !r.LeasedUntil.Equal(until.Add(48*time.Hour)) || r.ReservedUntil != nil {
		w.t.Fatalf("live from %v to %v, leased until %v; want from %v to %v", r.LiveFrom, r.EndsAt, r.LeasedUntil, from, until)
	}
	return r
}

// sees fails the test unless a read of the rental says so, though no job ran.
func (b buyer) sees(key string, want rental.State) {
	b.t.Helper()
	d, err := b.m.Look(b.ctx(), key, b.who.Viewer)
	b.must(err)
	if d.Rental.State != want {
		b.t.Errorf("it reads %s, want %s", d.Rental.State, want)
	}
}

func unavailable(endpoint string) stripesim.Fault {
	return stripesim.Fault{Kind: stripesim.FaultUnavailable, Endpoint: endpoint}
}

// dashboardRefund refunds a payment by hand at Stripe; the market does not know.
func (w *world) dashboardRefund(p payment.Payment, amount *int64) {
	w.t.Helper()
	_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: *p.PaymentIntent, Amount: amount})
	w.must(err)
}
