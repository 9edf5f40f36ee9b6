package market_test

import (
	"fmt"
	"testing"
	"time"

	"tuval/internal/creative"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

func submission(n int) market.Submission {
	hash := fmt.Sprintf("%064d", n)
	p := creative.Picture{Hash: hash, MIME: "image/png", Width: 1, Height: 1, Bytes: []byte(hash)}
	return market.Submission{
		Link: "https://example.com/", LinkHost: "example.com", Title: fmt.Sprint("Title ", n), Alt: "A picture", Fit: "cover", Picture: p, Picture2x: p,
	}
}

func (b buyer) submit(key string, n int) creative.Creative {
	b.t.Helper()
	c, err := b.m.Submit(b.ctx(), b.who, key, submission(n), market.Request{})
	b.must(err)
	return c
}

func (w *world) decide(c creative.Creative, approve bool) (creative.Creative, error) {
	return w.m.Decide(w.ctx(), market.Decision{Creative: c.Key, Revision: c.Revision, By: "admin", Approve: approve, Reason: "blurred"})
}

// The whole good way: paid, sent, rejected, sent again, approved, shown, over.
func TestFromPaymentToTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 2)
	if want := r.PaidAt.Add(720 * time.Hour); !r.ApproveBy.Equal(want) || !r.LeasedUntil.Equal(want) {
		t.Errorf("approve by %v, leased until %v, want %v", r.ApproveBy, r.LeasedUntil, want)
	}
	w.age(72 * time.Hour)
	first := b.submit(r.Key, 1)
	_, err := w.decide(first, false)
	w.must(err)
	w.age(72 * time.Hour)
	second := b.submit(r.Key, 2)
	if second.Revision != 2 {
		t.Errorf("revision %d", second.Revision)
	}
	_, err = w.decide(first, true)
	w.wants(err, "conflict")
	got, err := w.decide(second, true)
	w.must(err)
	if got.State != creative.Approved {
		t.Errorf("the picture is %s", got.State)
	}
	r = w.state(r.Key, rental.Live)
	if !r.EndsAt.Equal(r.LiveFrom.Add(2*168*time.Hour)) || !r.LeasedUntil.Equal(r.EndsAt.Add(48*time.Hour)) {
		t.Errorf("live from %v to %v, leased until %v", r.LiveFrom, r.EndsAt, r.LeasedUntil)
	}
	third := b.submit(r.Key, 3) // a new picture while live
	_, err = w.decide(third, true)
	w.must(err)
	if again := w.rental(r.Key); !again.EndsAt.Equal(*r.EndsAt) {
		t.Error("a new picture moved the end")
	}
	w.settled()
	w.sound()
	w.age(2 * 168 * time.Hour)
	w.settled()
	w.state(r.Key, rental.Ended)
	_, err = w.buyer().tryHold(rect(1, 1, 1, 1))
	w.wants(err, "taken")
	w.age(48 * time.Hour)
	w.settled()
	w.state(r.Key, rental.Closed, rental.NotRenewed)
	w.buyer().hold(rect(1, 1, 1, 1))
	for kind, n := range map[string]int{"paid": 1, "rejected": 1, "approved": 2} {
		if got := w.mailsOf(kind); got != n {
			t.Errorf("%d mails of kind %s, want %d", got, kind, n)
		}
	}
	w.deliver()
	w.sound()
}

// After four days without a worker all that was due happens at once.
func TestSettleCatchesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	_, err := w.decide(b.submit(r.Key, 1), true)
	w.must(err)
	w.age(400 * time.Hour)
	errs := w.rush(8, func(int) error { return w.m.Settle(w.ctx(), r.ID) })
	winners(t, errs)
	w.state(r.Key, rental.Closed, rental.NotRenewed)
	for _, kind := range []string{"rental.ended", "rental.closed", "rental.live"} {
		if n := w.count(`SELECT count(*) FROM ledger WHERE claim_id = $1 AND kind = $2`, int64(r.ID), kind); n != 1 {
			t.Errorf("%d events %s", n, kind)
		}
	}
	w.settled()
	w.sound()
}

// Somebody takes the blocks of a rental that time has closed and no job has.
func TestTakeoverOfAFinishedRental(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	live, unapproved := b.paid(rect(1, 1, 6, 4), 1), b.paid(rect(10, 1, 6, 4), 1)
	_, err := w.decide(b.submit(live.Key, 1), true)
	w.must(err)
	b.submit(unapproved.Key, 2)
	w.age(721 * time.Hour)
	w.buyer().hold(rect(6, 4, 5, 1))
	w.state(live.Key, rental.Closed, rental.NotRenewed)
	w.state(unapproved.Key, rental.Closed, rental.Unapproved)
	w.intact()
	w.deliver()
	w.kept(240_000)
	if n := w.mailsOf("cancelled"); n != 1 {
		t.Errorf("%d mails", n)
	}
	w.sound()
}

// Thirty days without an approval: closed, refunded, once, and told once.
func TestApprovalWindowCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{frozen: true})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	c := b.submit(r.Key, 1)
	w.stop(r.ApproveBy.Add(-time.Microsecond))
	w.must(w.m.Settle(w.ctx(), r.ID))
	w.state(r.Key, rental.Paid)
	w.stop(*r.ApproveBy)
	_, err := w.decide(c, true)
	w.wants(err, "conflict")
	_, err = b.m.Submit(w.ctx(), b.who, r.Key, submission(2), market.Request{})
	w.wants(err, "conflict")
	w.must(w.m.Settle(w.ctx(), r.ID))
	w.state(r.Key, rental.Closed, rental.Unapproved)
	w.run()
	w.deliver()
	w.kept(0)
	if n := w.mailsOf("cancelled"); n != 1 {
		t.Errorf("%d mails", n)
	}
	w.intact()
}

// A go-live time that lies ahead is honoured; one that has passed means "at
// approval".
func TestChosenGoLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	for name, c := range map[string]struct {
		y     int
		wait  time.Duration
		early bool
	}{"ahead": {1, 0, true}, "passed": {20, 49 * time.Hour, false}} {
		b := w.buyer()
		h := b.hold(rect(1, c.y, 6, 4))
		at := h.LeasedUntil.Truncate(time.Hour).Add(48 * time.Hour)
		want := weeks(1)
		want.GoLiveAt = &at
		o, err := b.tryCheckout(h.Key, want)
		w.must(err)
		w.pay(o)
		w.must(w.m.Return(w.ctx(), b.who, h.Key))
		cr := b.submit(h.Key, c.y)
		if c.wait > 0 {
			w.age(c.wait)
		}
		_, err = w.decide(cr, true)
		w.must(err)
		r := w.rental(h.Key)
		if !c.early {
			w.state(h.Key, rental.Live)
			if r.LiveFrom.Equal(*r.GoLiveAt) {
				t.Errorf("%s: live from %v", name, r.LiveFrom)
			}
			continue
		}
		w.state(h.Key, rental.Paid)
		if !r.LiveFrom.Equal(*r.GoLiveAt) || !r.EndsAt.Equal(r.LiveFrom.Add(168*time.Hour)) || !r.LeasedUntil.Equal(r.EndsAt.Add(48*time.Hour)) {
			t.Errorf("%s: %+v", name, r)
		}
		w.sound()
	}
	w.age(48 * time.Hour)
	w.settled()
	if n := w.count(`SELECT count(*) FROM rentals WHERE state = 'live'`); n != 2 {
		t.Errorf("%d are live", n)
	}
	w.deliver()
	w.sound()
}

// Two admins, the buyer with a newer picture and the end of the 30 days, at
// one instant: exactly one decides, and what is approved is what was named.
func TestDecisionsRaceSoak(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{conns: 12})
	for round := range long(t, 8, 50) {
		b := w.buyer()
		r := b.paid(rect(round%16*6, round/16*6, 6, 4), 1)
		c := b.submit(r.Key, 10*round)
		closes := round%2 == 0
		if closes { // the 30 days end in this very moment
			w.exec(`UPDATE rentals SET approve_by = now(), leased_until = now() WHERE id = $1`, r.ID)
			w.exec(`UPDATE blocks SET claim_id = claim_id, leased_until = (SELECT leased_until FROM rentals WHERE id = $1) WHERE claim_id = $1`, r.ID)
		}
		errs := w.rush(8, func(i int) error {
			switch i % 4 {
			case 0:
				_, err := w.decide(c, true)
				return err
			case 1:
				_, err := w.decide(c, false)
				return err
			case 2:
				_, err := b.m.Submit(w.ctx(), b.who, r.Key, submission(10*round+i), market.Request{})
				return err
			}
			return w.m.Settle(w.ctx(), r.ID)
		})
		won := winners(t, errs, "conflict")
		decided := 0
		for _, i := range won {
			if i%4 < 2 {
				decided++
			}
		}
		now := w.rental(r.Key)
		var state string
		w.must(w.pool.QueryRow(w.ctx(), `SELECT state FROM creatives WHERE key = $1`, c.Key).Scan(&state))
		switch {
		case closes && (now.State != rental.Closed || decided > 0 || state != "superseded"):
			t.Fatalf("round %d: the window is over, %d decided, the rental is %s, the picture %s", round, decided, now.State, state)
		case !closes && decided > 1:
			t.Fatalf("round %d: %d decisions", round, decided)
		case !closes && (state == "approved") != (now.State == rental.Live):
			t.Fatalf("round %d: the picture is %s, the rental %s", round, state, now.State)
		case !closes && decided == 0 && state != "superseded":
			t.Fatalf("round %d: nobody decided, and the picture is %s", round, state)
		}
		w.intact()
	}
	w.deliver()
	w.sound()
	w.noDeadlocks()
}

// A refund in the dashboard against the approval.
func TestApprovalAgainstRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	for round := range 5 {
		b := w.buyer()
		r := b.paid(rect(6*round, 0, 6, 4), 1)
		c := b.submit(r.Key, round)
		var intent string
		w.must(w.pool.QueryRow(w.ctx(), `SELECT payment_intent FROM payments WHERE rental_id = $1`, r.ID).Scan(&intent))
		_, err := w.sim.DashboardRefund(w.ctx(), stripesim.RefundRequest{PaymentIntent: intent})
		w.must(err)
		errs := w.rush(2, func(i int) error {
			if i == 0 {
				return w.m.SyncRefunds(w.ctx(), intent)
			}
			_, err := w.decide(c, true)
			return err
		})
		winners(t, errs, "conflict")
		w.state(r.Key, rental.Closed, rental.Refunded)
		w.intact()
	}
	w.deliver()
	w.kept(0)
	w.sound()
}

func TestPicturesAreForPaidRentals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	h := b.hold(rect(1, 1, 6, 4))
	_, err := w.m.MaySubmit(w.ctx(), b.who, h.Key)
	w.wants(err, "conflict")
	_, err = w.m.Submit(w.ctx(), b.who, h.Key, submission(1), market.Request{})
	w.wants(err, "conflict")
	_, err = w.m.Submit(w.ctx(), w.buyer().who, h.Key, submission(1), market.Request{})
	w.wants(err, "not_found")
	_, err = w.m.Decide(w.ctx(), market.Decision{Creative: "nothing", Revision: 1, By: "admin"})
	w.wants(err, "not_found")
}

// Ten copies of one submission are one revision.
func TestCopiesOfASubmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, options{})
	b := w.buyer()
	r := b.paid(rect(1, 1, 6, 4), 1)
	req := market.Request{Scope: "submit", Caller: "a", Key: "request-1"}
	errs := w.rush(10, func(int) error {
		_, err := w.m.Submit(w.ctx(), b.who, r.Key, submission(1), req)
		return err
	})
	if won := winners(t, errs); len(won) != 10 {
		t.Errorf("%d of 10 were answered", len(won))
	}
	if n := w.count(`SELECT count(*) FROM creatives`); n != 1 {
		t.Errorf("%d revisions", n)
	}
	// Without a key each is a revision, one of which waits.
	errs = w.rush(10, func(i int) error {
		_, err := w.m.Submit(w.ctx(), b.who, r.Key, submission(i), market.Request{})
		return err
	})
	winners(t, errs)
	if n := w.count(`SELECT max(revision) FROM creatives`); n != 11 || w.count(`SELECT count(*) FROM creatives WHERE state = 'pending'`) != 1 {
		t.Errorf("the last revision is %d", n)
	}
}
