package market_test

import (
	"flag"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tuval/internal/board"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
	"tuval/internal/testdb"
)

// Random lives of rentals against the model on paper: after each step every
// refusal, every state and the counts of the board are what the model says,
// and in the end nothing is stuck and every cent is where it should be.
func TestMarketAgainstTheModelSoak(t *testing.T) {
	t.Parallel()
	lives := max(6, int(testdb.Soak(t, 0)/(3*time.Second)))
	before := flag.Lookup("rapid.checks").Value.String()
	if err := flag.Set("rapid.checks", strconv.Itoa(lives)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", before) })
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(t, rt, done)
		defer l.close()
		for range rapid.IntRange(60, 160).Draw(rt, "steps") {
			l.step()
		}
		l.finish()
	})
	t.Log(done)
}

// life is one run: the real market and the one on paper, side by side.
type life struct {
	*world
	*rapid.T
	m      *model
	people []buyer
	board  *board.Board
	done   map[string]int // how the steps came out, of all lives
	unsaid []*mPayment    // at Stripe, in their order
}

func newLife(t *testing.T, rt *rapid.T, done map[string]int) *life {
	w := newWorld(t, options{conns: 6})
	return &life{
		world: w, T: rt, m: &model{}, people: w.buyers(3),
		board: board.New(w.pool, rental.Terms{RenewalWindow: 48 * time.Hour}), done: done,
	}
}

// rects overlap in many ways.
func rects() []grid.Rect {
	return []grid.Rect{rect(0, 0, 4, 4), rect(2, 2, 4, 4), rect(5, 0, 3, 3), rect(0, 5, 8, 2), rect(3, 3, 1, 1), rect(9, 9, 2, 2)}
}

func (l *life) step() {
	kinds := []string{
		"hold", "hold", "hold", "hold", "keep", "cancel", "checkout", "checkout", "checkout", "checkout", "checkout", "lost checkout", "lost checkout",
		"pay", "pay", "pay", "pay", "pay late", "pay late", "pay pending", "debit", "return", "deliver", "deliver", "repeat",
		"submit", "submit", "decide", "decide", "refund", "settle", "age", "age", "age", "long age",
	}
	switch kind := rapid.SampledFrom(kinds).Draw(l.T, "step"); kind {
	case "hold":
		l.stepHold()
	case "deliver":
		l.stepDeliver()
	case "repeat":
		l.stepRepeat()
	case "age":
		l.pass(rapid.SampledFrom([]int{1, 2, 4, 9, 11, 33, 60}).Draw(l.T, "minutes"))
	case "long age":
		l.pass(rapid.SampledFrom([]int{day, 3 * day, 8 * day, 31 * day}).Draw(l.T, "minutes"))
	case "pay", "pay late", "pay pending", "debit", "refund":
		l.stepMoney(kind)
	default:
		l.stepRental(kind)
	}
	for _, r := range l.m.rentals {
		l.done["seen "+string(r.state)+" "+string(r.reason)]++
	}
	l.compare()
}

// same fails unless err is the refusal that the model has.
func (l *life) same(what string, err error, code string) {
	got := ""
	if err != nil {
		got = fault.As(err).Code
	}
	l.done[what+" "+got]++
	if got != code {
		l.Fatalf("minute %d: %s: %q (%v), the model says %q", l.m.t, what, got, err, code)
	}
}

func (l *life) stepHold() {
	who := rapid.IntRange(0, 2).Draw(l.T, "who")
	at := rapid.SampledFrom(rects()).Draw(l.T, "rect")
	h, err := l.people[who].tryHold(at)
	code, fresh := l.m.hold(who, at)
	l.same("hold", err, code)
	if fresh != nil {
		fresh.key = h.Key
	}
	l.settled()
}

// some picks one of the last of all, as a rule one of those with which there is
// something to do.
func some[V any](t *rapid.T, label string, all []V, fits func(V) bool) V {
	recent := all[max(0, len(all)-12):]
	if rapid.IntRange(0, 7).Draw(t, "any") > 0 {
		var good []V
		for _, v := range recent {
			if fits(v) {
				good = append(good, v)
			}
		}
		if len(good) > 0 {
			recent = good
		}
	}
	return rapid.SampledFrom(recent).Draw(t, label)
}

// stepRental does something with one of the rentals there are.
func (l *life) stepRental(kind string) {
	if len(l.m.rentals) == 0 {
		return
	}
	r := some(l.T, "rental", l.m.rentals, func(r *mRental) bool {
		switch kind {
		case "keep":
			return r.state == rental.Held
		case "cancel", "checkout", "lost checkout", "return":
			return r.unpaid()
		case "submit":
			return r.state == rental.Paid || r.state == rental.Live
		case "decide":
			return r.pending
		}
		return true
	})
	b := l.people[r.owner]
	switch kind {
	case "keep":
		_, err := b.keep(r.key)
		l.same("keep", err, l.m.keep(r))
	case "cancel":
		err := b.cancel(r.key)
		l.same("cancel", err, l.m.cancel(r))
	case "checkout":
		l.stepCheckout(b, r, false)
	case "lost checkout":
		l.stepCheckout(b, r, true)
	case "return":
		l.must(l.world.m.Return(l.ctx(), b.who, r.key))
		l.returned(r)
	case "submit":
		_, err := l.world.m.Submit(l.ctx(), b.who, r.key, submission(len(l.m.payments)), market.Request{})
		code := "conflict"
		if r.state == rental.Paid || r.state == rental.Live || r.state == rental.Ended {
			code, r.pending = "", true
		}
		l.same("submit", err, code)
	case "decide":
		l.stepDecide(r)
	case "settle":
		l.must(l.world.m.Settle(l.ctx(), l.rental(r.key).ID))
	}
	l.settled()
}

func (l *life) returned(r *mRental) {
	if r.wasPaid {
		return
	}
	for _, p := range l.m.of(r) {
		if !p.known || p.state != payment.Open && p.state != payment.Processing {
			continue
		}
		switch p.stripe {
		case "paid":
			l.m.book(p)
		case "processing":
			l.m.process(p)
		}
	}
}

// stepCheckout asks for a page; lost is when the answer does not arrive, and
// the buyer leaves it at that.
func (l *life) stepCheckout(b buyer, r *mRental, lost bool) {
	n := rapid.IntRange(1, 2).Draw(l.T, "weeks")
	if lost {
		l.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: beginCall, Count: 1})
	}
	o, err := b.tryCheckout(r.key, weeks(n))
	l.must(l.sim.ClearFaults(l.ctx()))
	code, p, fresh := l.m.checkout(r, n)
	asked := p != nil && !p.known
	if lost && asked {
		code = "unavailable"
	}
	l.same("checkout", err, code)
	if p == nil {
		return
	}
	if fresh {
		l.must(l.pool.QueryRow(l.ctx(), `SELECT p.key, s.id FROM payments p JOIN stripesim.sessions s ON s.client_reference_id = p.key
			ORDER BY p.id DESC LIMIT 1`).Scan(&p.key, &p.session))
	}
	if code == "" {
		if asked {
			l.m.opened(p)
		}
		if o.PaymentKey != p.key {
			l.Fatalf("minute %d: another page is offered", l.m.t)
		}
	}
}

func (l *life) stepDecide(r *mRental) {
	if !r.pending {
		return
	}
	queue, err := l.world.m.Reviews(l.ctx(), 50)
	l.must(err)
	for _, c := range queue {
		if c.RentalKey != r.key {
			continue
		}
		approve := rapid.Bool().Draw(l.T, "approve")
		_, err := l.decide(c.Creative, approve)
		l.same("decide", err, "")
		r.pending = false
		if approve {
			l.m.approve(r)
		}
		return
	}
	l.Fatalf("minute %d: nothing of %s waits for a decision", l.m.t, r.key)
}

// stepMoney does something at Stripe. We hear of it when it is delivered, or
// when we ask.
func (l *life) stepMoney(kind string) {
	if len(l.m.payments) == 0 {
		return
	}
	p := some(l.T, "payment", l.m.payments, func(p *mPayment) bool {
		switch kind {
		case "pay", "pay pending":
			return p.stripe == "open"
		case "pay late":
			return p.stripe == "expired"
		case "debit":
			return p.stripe == "processing"
		}
		return p.stripe == "paid" && !p.back
	})
	switch kind {
	case "pay", "pay late", "pay pending":
		late := kind == "pay late"
		_, err := l.sim.Pay(l.ctx(), p.session, stripesim.Payment{Late: late, Pending: kind == "pay pending"})
		can := p.stripe == "open" || late && p.stripe == "expired"
		if (err == nil) != can {
			l.Fatalf("minute %d: %s of a page that is %s: %v", l.m.t, kind, p.stripe, err)
		}
		l.done[kind+" "+map[bool]string{true: "ok", false: "refused"}[can]]++
		if can {
			l.happened(p, map[bool]string{false: "paid", true: "processing"}[kind == "pay pending"])
		}
	case "debit":
		l.stepDebit(p)
	case "refund":
		l.stepRefund(p)
	}
}

// stepDebit ends what a bank had under way, and brings the word of it.
func (l *life) stepDebit(p *mPayment) {
	if p.stripe != "processing" {
		return
	}
	l.stepDeliver()
	if rapid.Bool().Draw(l.T, "arrives") {
		_, err := l.sim.AsyncSucceed(l.ctx(), p.session)
		l.must(err)
		l.happened(p, "paid")
	} else {
		_, err := l.sim.AsyncFail(l.ctx(), p.session)
		l.must(err)
		l.happened(p, "failed")
	}
	l.stepDeliver()
}

// stepRefund refunds a payment in the dashboard, and brings the word of it.
func (l *life) stepRefund(p *mPayment) {
	l.stepDeliver()
	if p.stripe != "paid" || p.back {
		return
	}
	var intent string
	l.must(l.pool.QueryRow(l.ctx(), `SELECT payment_intent FROM stripesim.sessions WHERE id = $1`, p.session).Scan(&intent))
	_, err := l.sim.DashboardRefund(l.ctx(), stripesim.RefundRequest{PaymentIntent: intent})
	l.must(err)
	p.back = true
	if p.outcome == payment.Applied && p.r.state != rental.Closed {
		p.r.close(rental.Refunded)
	}
	l.stepDeliver()
}

// stepDeliver brings in all that Stripe has to say, in its order.
func (l *life) stepDeliver() {
	for _, e := range l.news() {
		l.bring(e)
	}
	for _, p := range l.unsaid {
		switch p.stripe {
		case "paid":
			l.m.book(p)
		case "processing":
			l.m.process(p)
		case "failed":
			l.m.fail(p)
		}
	}
	l.unsaid = nil
}

// happened is something at Stripe that we do not know yet.
func (l *life) happened(p *mPayment, what string) {
	p.stripe = what
	l.unsaid = append(l.unsaid, p)
}

// stepRepeat brings in what was said before.
func (l *life) stepRepeat() {
	told := l.inbox.all
	if len(told) == 0 {
		return
	}
	l.stepDeliver()
	l.bring(rapid.SampledFrom(told).Draw(l.T, "event"))
}

// pass lets time pass, from one deadline to the next.
func (l *life) pass(minutes int) {
	for end := l.m.t + minutes; l.m.t < end; {
		at := l.m.next(end)
		l.age(time.Duration(at-l.m.t) * time.Minute)
		l.settled()
		l.m.arrive(at)
	}
}

// compare holds the database against the model.
func (l *life) compare() {
	now, err := rental.Now(l.ctx(), l.pool)
	l.must(err)
	stored, err := rental.List(l.ctx(), l.pool, "", 0, 1000)
	l.must(err)
	real := map[string]rental.Rental{}
	for _, r := range stored {
		real[r.Key] = r.At(now, rental.Terms{RenewalWindow: 48 * time.Hour})
	}
	want := board.Counts{Free: grid.Blocks}
	for _, r := range l.m.rentals {
		got := real[r.key]
		if got.State != r.state || deref(got.ClosedReason) != r.reason || got.Kept != r.kept && r.unpaid() {
			l.Fatalf("minute %d: %s is %s (%s), kept %v; the model says %s (%s), %v", l.m.t, r.rect, got.State, deref(got.ClosedReason), got.Kept, r.state, r.reason, r.kept)
		}
		switch r.state {
		case rental.Held, rental.Paying:
			want.Held += r.rect.Area()
		case rental.Paid, rental.Live:
			want.Taken += r.rect.Area()
		case rental.Ended:
			want.Reserved += r.rect.Area()
		}
	}
	want.Free -= want.Held + want.Taken + want.Reserved
	l.comparePayments()
	s, err := l.board.Snapshot(l.ctx())
	l.must(err)
	if s.Counts != want {
		l.Fatalf("minute %d: the board counts %+v, the model %+v", l.m.t, s.Counts, want)
	}
}

func (l *life) comparePayments() {
	rows, err := l.pool.Query(l.ctx(), `SELECT key, state || ' ' || COALESCE(outcome, '') FROM payments`)
	l.must(err)
	real := map[string]string{}
	for rows.Next() {
		var key, state string
		l.must(rows.Scan(&key, &state))
		real[key] = state
	}
	l.must(rows.Err())
	for _, p := range l.m.payments {
		if want := string(p.state) + " " + string(p.outcome); real[p.key] != want {
			l.Fatalf("minute %d: a payment for %s is %q; the model says %q", l.m.t, p.r.rect, real[p.key], want)
		}
	}
	if len(real) != len(l.m.payments) {
		l.Fatalf("minute %d: %d payments, the model has %d", l.m.t, len(real), len(l.m.payments))
	}
}

// finish lets all be said and done.
func (l *life) finish() {
	l.stepDeliver()
	l.pass(2)
	l.stepDeliver()
	l.compare()
	l.kept(l.m.kept())
	l.sound()
	if slices.ContainsFunc(l.m.payments, func(p *mPayment) bool { return p.state == payment.Open && l.m.t > p.expires }) {
		l.Fatalf("a page is open after its time")
	}
}

// The test ends at the first difference, and rapid looks for a shorter one.
func (l *life) Fatalf(format string, args ...any) { l.T.Fatalf(format, args...) }
