package market_test

import (
	"testing"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

func (w *world) dispute(o market.Offer) string {
	w.t.Helper()
	d, err := w.sim.OpenDispute(w.ctx(), stripesim.DisputeRequest{PaymentIntent: *w.payment(o).PaymentIntent})
	w.must(err)
	return d.ID
}

func (w *world) disputes(o market.Offer) []payment.Dispute {
	w.t.Helper()
	ds, err := payment.DisputesOf(w.ctx(), w.pool, w.payment(o).ID)
	w.must(err)
	return ds
}

// Each event twice, in order or not: the money goes and comes back once, the
// rental stays, and an admin is told of both.
func TestDisputes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		won, reverse bool
		state        payment.DisputeState
		net          int
	}{
		"won":          {true, false, payment.DisputeWon, 240_000},
		"lost":         {false, false, payment.DisputeLost, 0},
		"won, turned":  {true, true, payment.DisputeWon, 240_000},
		"lost, turned": {false, true, payment.DisputeLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.live(rect(1, 1, 6, 4), 1)
			o := w.offerOf(r.Key, 0)
			id := w.dispute(o)
			news := w.news()
			if !c.reverse {
				w.bring(news[0], news[0])
				if ds := w.disputes(o); len(ds) != 1 || ds[0].State != payment.DisputeOpen || w.netOf(o) != 0 || w.anomalies("dispute") != 1 {
					t.Errorf("%+v, net %d", ds, w.netOf(o))
				}
				w.sound()
			}
			_, err := w.sim.CloseDispute(w.ctx(), id, c.won)
			w.must(err)
			closed := w.news()
			w.bring(closed[0], closed[0])
			if c.reverse {
				w.bring(news[0], news[0])
			}
			ds := w.disputes(o)
			if len(ds) != 1 || ds[0].State != c.state || ds[0].ClosedAt == nil || w.netOf(o) != c.net {
				t.Errorf("%+v, net %d", ds, w.netOf(o))
			}
			if n := w.anomalies("dispute " + string(c.state)); n != 1 {
				t.Errorf("%d anomalies", n)
			}
			for _, kind := range []string{"dispute.opened", "dispute." + string(c.state)} {
				if n := w.events(r.Key, kind); n != 1 {
					t.Errorf("%d events %s", n, kind)
				}
			}
			w.lasts(r.Key, *r.LiveFrom, *r.EndsAt)
			d, err := w.m.Look(w.ctx(), r.Key, b.who.Viewer)
			w.must(err)
			if len(d.Disputes) != 1 {
				t.Error("the page does not know it")
			}
			w.sound()
		})
	}
}

// An inquiry moves no money.
func TestInquiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	o := w.offerOf(r.Key, 0)
	w.dispute(o)
	asked := w.lastOf("charge.dispute.created")
	asked = w.changed(asked, asked.Type, `"needs_response"`, `"warning_needs_response"`)
	w.bring(asked, asked)
	if ds := w.disputes(o); len(ds) != 1 || ds[0].Amount.Amount != 0 || w.netOf(o) != 240_000 || w.anomalies("dispute") != 1 {
		t.Errorf("%+v, net %d", ds, w.netOf(o))
	}
	over := w.changed(asked, "charge.dispute.closed", `"warning_needs_response"`, `"warning_closed"`)
	w.bring(over, over)
	if ds := w.disputes(o); ds[0].State != payment.DisputeWon || w.netOf(o) != 240_000 {
		t.Errorf("%+v, net %d", ds, w.netOf(o))
	}
	w.state(r.Key, rental.Paid)
	w.sound()
}

// P13 (c): a dispute before our refund. Stripe refuses the refund; that is
// told, not tried for ever, and the disputed money is booked once.
func TestDisputeBeforeOurRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	key, _ := w.unapproved()
	o := w.offerOf(key, 0)
	w.dispute(o)
	w.deliver()
	for range 3 {
		w.age(jobGap)
		w.settled()
	}
	if n := len(w.calls(refundCall)); n != 1 {
		t.Errorf("%d calls", n)
	}
	if w.netOf(o) != 0 || w.anomalies("refund failed") != 1 || w.anomalies("dispute") != 1 {
		t.Errorf("net %d", w.netOf(o))
	}
	w.state(key, rental.Closed, rental.Unapproved)
	w.sound()
}

// What the payer's bank has taken back is not refunded as well; what it gave
// back can be.
func TestDisputedMoneyIsNotRefunded(t *testing.T) {
	t.Parallel()
	for name, won := range map[string]bool{"won": true, "lost": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{})
			b := w.buyer()
			r := b.live(rect(1, 1, 6, 4), 1)
			id := w.dispute(w.offerOf(r.Key, 0))
			w.deliver()
			order := market.RefundOrder{Rental: r.Key, Reason: "Sorry", By: "admin"}
			w.refused(w.m.RefundNow(w.ctx(), order), "conflict", "disputed")
			w.state(r.Key, rental.Live)
			_, err := w.sim.CloseDispute(w.ctx(), id, won)
			w.must(err)
			w.deliver()
			if !won {
				w.refused(w.m.RefundNow(w.ctx(), order), "conflict", "lost")
				w.state(r.Key, rental.Live)
				return
			}
			w.must(w.m.RefundNow(w.ctx(), order))
			w.deliver()
			w.state(r.Key, rental.Closed, rental.Refunded)
			w.kept(0)
			w.sound()
		})
	}
}

// An inquiry that becomes a dispute takes the money then, once; its end takes
// nothing more.
func TestInquiryBecomesADispute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	o := w.offerOf(r.Key, 0)
	w.dispute(o)
	real := w.lastOf("charge.dispute.created")
	asked := w.changed(real, real.Type, `"needs_response"`, `"warning_needs_response"`)
	w.bring(asked, real, asked)
	if ds := w.disputes(o); len(ds) != 1 || ds[0].Amount.Amount != 240_000 || w.netOf(o) != 0 {
		t.Errorf("%+v, net %d", ds, w.netOf(o))
	}
	lost := w.changed(real, "charge.dispute.closed", `"needs_response"`, `"lost"`)
	w.bring(lost, real, lost)
	if ds := w.disputes(o); ds[0].State != payment.DisputeLost || w.netOf(o) != 0 || w.anomalies("dispute") != 1 {
		t.Errorf("%+v, net %d, %d anomalies", ds, w.netOf(o), w.anomalies("dispute"))
	}
	w.sound()
}
