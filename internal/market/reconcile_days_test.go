package market_test

import (
	"fmt"
	"testing"
	"time"

	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

// fate is what should have become of some rentals after four days.
type fate struct {
	name  string
	begin func(*canvasful, grid.Rect) string // returns the rental's key
	gone  func(*canvasful, string)           // happens while nobody is there
	state rental.State
	why   rental.Reason
}

// canvasful is a canvas with rentals of all fates, and who has them.
type canvasful struct {
	*world
	b      buyer
	n      int // of each fate
	spots  int
	offers map[string]market.Offer // by rental
	keys   map[string][]string     // by fate
}

func (c *canvasful) spot() grid.Rect {
	i := c.spots
	c.spots++
	return rect(i%50*2, i/50*2, 2, 2)
}

func (c *canvasful) begin(fs ...fate) {
	for _, f := range fs {
		for range c.n {
			c.keys[f.name] = append(c.keys[f.name], f.begin(c, c.spot()))
		}
	}
}

func (c *canvasful) live(by time.Duration) {
	c.age(by)
	c.settled()
}

func (c *canvasful) held(r grid.Rect) string { return c.b.hold(r).Key }

func (c *canvasful) opened(r grid.Rect) string {
	key := c.held(r)
	c.offers[key] = c.b.checkout(key, 1)
	return key
}

func (c *canvasful) bought(r grid.Rect) string { return c.b.paid(r, 1).Key }

func (c *canvasful) shown(weeks int) func(*canvasful, grid.Rect) string {
	return func(c *canvasful, r grid.Rect) string { return c.b.onCanvas(r, weeks).Key }
}

// The fates, by when they begin: so long before the stop.
func fates(c *canvasful) (at map[time.Duration][]fate) {
	payNow := func(c *canvasful, key string) { c.payHow(c.offers[key], stripesim.Payment{}) }
	return map[time.Duration][]fate{
		710 * time.Hour: {{"never approved", (*canvasful).bought, nil, rental.Closed, rental.Unapproved}},
		178 * time.Hour: {
			{"ended before", c.shown(1), nil, rental.Closed, rental.NotRenewed},
			{"renewal paid meanwhile", c.shown(1), payNow, rental.Live, ""},
		},
		167 * time.Hour: {{"ended and closed meanwhile", c.shown(1), nil, rental.Closed, rental.NotRenewed}},
		108 * time.Hour: {{"ended meanwhile", c.shown(1), nil, rental.Ended, ""}},
		time.Hour: {
			{"still live", c.shown(3), nil, rental.Live, ""},
			{"still waiting", (*canvasful).bought, nil, rental.Paid, ""},
			{"went live meanwhile", (*canvasful).scheduled, nil, rental.Live, ""},
			{"refunded at Stripe", (*canvasful).bought, (*canvasful).refundedThere, rental.Closed, rental.Refunded},
		},
		0: {
			{"held", (*canvasful).held, nil, rental.Closed, rental.Expired},
			{"page open", (*canvasful).opened, nil, rental.Closed, rental.Expired},
			{"paid meanwhile", (*canvasful).opened, payNow, rental.Paid, ""},
			{"bank paid meanwhile", (*canvasful).underWay, (*canvasful).bankPays, rental.Paid, ""},
		},
	}
}

func (c *canvasful) scheduled(r grid.Rect) string {
	at := time.Now().Add(51 * time.Hour).UTC().Truncate(time.Hour)
	key := c.held(r)
	o, err := c.b.tryCheckout(key, market.Purchase{Weeks: 1, Email: "buyer@example.com", GoLiveAt: &at})
	c.must(err)
	c.pay(o)
	c.must(c.m.Return(c.ctx(), c.b.who, key))
	_, err = c.decide(c.b.submit(key, c.spots), true)
	c.must(err)
	c.state(key, rental.Paid)
	return key
}

func (c *canvasful) underWay(r grid.Rect) string {
	key := c.opened(r)
	c.payHow(c.offers[key], stripesim.Payment{Pending: true})
	return key
}

func (c *canvasful) bankPays(key string) {
	_, err := c.sim.AsyncSucceed(c.ctx(), c.session(c.offers[key]))
	c.must(err)
}

func (c *canvasful) refundedThere(key string) {
	var intent string
	const sql = `SELECT payment_intent FROM payments p JOIN rentals r ON r.id = p.rental_id WHERE r.key = $1`
	c.must(c.pool.QueryRow(c.ctx(), sql, key).Scan(&intent))
	_, err := c.sim.DashboardRefund(c.ctx(), stripesim.RefundRequest{PaymentIntent: intent})
	c.must(err)
}

// fill begins all fates in their order and stops the server.
func (c *canvasful) fill() {
	c.t.Helper()
	at := fates(c)
	before := []time.Duration{710 * time.Hour, 178 * time.Hour, 167 * time.Hour, 108 * time.Hour, time.Hour, 0}
	for i, t := range before {
		c.begin(at[t]...)
		c.deliver()
		if i+1 < len(before) {
			c.live(t - before[i+1])
		}
	}
	for _, key := range c.keys["renewal paid meanwhile"] {
		o, err := c.m.Renew(c.ctx(), c.b.who, key, market.More{Weeks: 2})
		c.must(err)
		c.offers[key] = o
	}
	until := time.Now().Add(5 * time.Hour)
	_, err := c.m.Block(c.ctx(), "admin", rect(90, 98, 10, 2), "", &until)
	c.must(err)
	c.deliver()
	for _, fs := range at {
		for _, f := range fs {
			for _, key := range c.keys[f.name] {
				if f.gone != nil {
					f.gone(c, key)
				}
			}
		}
	}
	c.down(96 * time.Hour)
}

// Four days without a server, in the midst of everything, and no webhook of
// them: after the start and one pass all is as it should be, with its jobs
// there or lost; a second pass changes nothing.
func TestFourDaysOfDowntimeSoak(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"jobs there": false, "jobs lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, options{timeout: time.Minute})
			c := &canvasful{world: w, b: w.buyer(), n: long(t, 15, 154), offers: map[string]market.Offer{}, keys: map[string][]string{}}
			c.fill()
			if lost {
				w.exec(`DELETE FROM river_job`)
			}
			last := w.count(`SELECT max(id) FROM mails`)
			w.wake()
			w.exec(`DELETE FROM river_job WHERE kind = 'reconcile'`)
			done := make(chan error)
			go func() {
				_, err := w.market(options{timeout: time.Minute}).Reconcile(w.ctx(), "start")
				done <- err
			}()
			w.settled() // workers work meanwhile
			w.must(<-done)
			w.settled()
			c.asTheyShould()
			w.sound()
			w.oneWord(last)
			w.pass() // what the first saw is over
			before := w.everything()
			w.finds(w.pass(), map[string]int{})
			if after := w.everything(); after != before {
				t.Errorf("a pass without need changed %s to %s", before, after)
			}
			if n := w.count(`SELECT count(*) FROM findings WHERE over_at IS NULL`); n != 0 {
				t.Errorf("%d findings are not over", n)
			}
			w.noDeadlocks()
		})
	}
}

func (c *canvasful) asTheyShould() {
	c.t.Helper()
	for _, fs := range fates(c) {
		for _, f := range fs {
			for _, key := range c.keys[f.name] {
				r := c.rental(key)
				if r.State != f.state || deref(r.ClosedReason) != f.why {
					c.t.Errorf("%s: %s (%s), want %s (%s)", f.name, r.State, deref(r.ClosedReason), f.state, f.why)
				}
			}
		}
	}
	if n := c.count(`SELECT count(*) FROM blocked_areas WHERE closed_at IS NULL`); n != 0 {
		c.t.Errorf("%d areas are blocked", n)
	}
	if n := c.count(`SELECT count(*) FROM refunds WHERE state <> 'succeeded'`); n != 0 {
		c.t.Errorf("%d refunds are not through", n)
	}
	if n := c.count(`SELECT count(*) FROM refunds`); n != 2*c.n {
		c.t.Errorf("%d refunds", n)
	}
}

// oneWord fails the test when somebody would be told more than one thing.
func (w *world) oneWord(since int) {
	w.t.Helper()
	n := w.count(`SELECT count(*) FROM (SELECT rental_id FROM mails WHERE id > $1 AND sent_at IS NULL AND dropped_at IS NULL
		AND (stale_at IS NULL OR stale_at > now()) GROUP BY rental_id HAVING count(*) > 1) m`, since)
	if n != 0 {
		var which string
		const sql = `SELECT string_agg(DISTINCT kinds, '; ') FROM (SELECT string_agg(kind, ', ' ORDER BY id) AS kinds FROM mails WHERE id > $1 AND sent_at IS NULL
			AND dropped_at IS NULL AND (stale_at IS NULL OR stale_at > now()) GROUP BY rental_id HAVING count(*) > 1) m`
		w.must(w.pool.QueryRow(w.ctx(), sql, since).Scan(&which))
		w.t.Errorf("%d rentals get more than one mail: %s", n, which)
	}
}

// everything is a word about all that a pass could have changed.
func (w *world) everything() string {
	w.t.Helper()
	return fmt.Sprint(
		w.count(`SELECT count(*) FROM ledger`), w.count(`SELECT count(*) FROM river_job`), w.count(`SELECT count(*) FROM mails`),
		w.count(`SELECT count(*) FROM refunds`), w.count(`SELECT count(*) FROM anomalies WHERE resolved_at IS NULL`),
		w.count(`SELECT sum(hashtext(r::text)::bigint) FROM rentals r`), w.count(`SELECT sum(hashtext(p::text)::bigint) FROM payments p`),
	)
}
