package market_test

import (
	"slices"

	"pgregory.net/rapid"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/stripesim"
)

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

func (l *life) stepHold() *mRental {
	who := rapid.IntRange(0, 2).Draw(l.T, "who")
	at := rapid.SampledFrom(rects()).Draw(l.T, "rect")
	h, err := l.people[who].tryHold(at)
	code, fresh := l.m.hold(who, at)
	l.same("hold", err, code)
	if fresh != nil {
		fresh.key = h.Key
	}
	l.settled()
	return fresh
}

// stepRent goes the whole way to a paid rental, as far as it goes.
func (l *life) stepRent() {
	r := l.stepHold()
	if r == nil {
		return
	}
	l.stepCheckout(l.people[r.owner], r, payment.New, false)
	if ps := l.m.of(r); len(ps) > 0 && r.state == rental.Paying {
		l.payAt("pay", ps[len(ps)-1])
		l.stepDeliver(false)
	}
	l.settled()
}

// stepShow has a picture approved for each rental that is paid.
func (l *life) stepShow() {
	for _, r := range l.m.rentals {
		if r.state == rental.Paid && !r.live {
			l.submit(r)
			l.stepDecide(r, true)
		}
	}
	l.settled()
}

func (l *life) submit(r *mRental) {
	_, err := l.world.m.Submit(l.ctx(), l.people[r.owner].who, r.key, submission(len(l.m.payments)), market.Request{})
	code := "conflict"
	if r.state == rental.Paid || r.state == rental.Live || r.state == rental.Ended {
		code, r.pending = "", true
	}
	l.same("submit", err, code)
}

// fits is whether there is something to do of that kind with a rental.
func fits(kind string, r *mRental) bool {
	switch kind {
	case "keep":
		return r.state == rental.Held
	case "cancel", "checkout", "lost checkout":
		return r.unpaid()
	case "submit", "hide":
		return r.state == rental.Paid || r.state == rental.Live
	case "more", "lost more":
		return r.state == rental.Live || r.state == rental.Ended
	case "decide":
		return r.pending
	case "withdraw":
		return r.state == rental.Paid
	}
	return r.state != rental.Closed
}

// stepRental does something with one of the rentals there are.
func (l *life) stepRental(kind string) {
	if len(l.m.rentals) == 0 {
		return
	}
	r := some(l.T, "rental", l.m.rentals, func(r *mRental) bool { return fits(kind, r) })
	b := l.people[r.owner]
	switch kind {
	case "keep":
		_, err := b.keep(r.key)
		l.same("keep", err, l.m.keep(r))
	case "cancel":
		err := b.cancel(r.key)
		l.same("cancel", err, l.m.cancel(r))
	case "checkout", "lost checkout":
		l.stepCheckout(b, r, payment.New, kind != "checkout")
	case "more", "lost more":
		purpose := payment.Extend
		if (r.state == rental.Ended) != (rapid.IntRange(0, 9).Draw(l.T, "the wrong one") == 0) {
			purpose = payment.Renew
		}
		l.stepCheckout(b, r, purpose, kind != "more")
	case "return":
		l.must(l.world.m.Return(l.ctx(), b.who, r.key))
		l.returned(r)
	case "submit":
		l.submit(r)
	case "decide":
		l.stepDecide(r, rapid.Bool().Draw(l.T, "approve"))
	case "withdraw":
		err := l.world.m.Withdraw(l.ctx(), b.who, r.key)
		l.same("withdraw", err, l.m.withdraw(r))
	case "remove":
		back := rapid.Bool().Draw(l.T, "with its money")
		err := l.world.m.Remove(l.ctx(), market.Removal{Rental: r.key, By: "admin", Refund: back})
		l.same("remove", err, l.m.remove(r, back))
	case "hide":
		l.stepHide(r)
	case "settle":
		l.must(l.world.m.Settle(l.ctx(), l.rental(r.key).ID))
	}
	l.settled()
}

func (l *life) stepHide(r *mRental) {
	hidden := !r.hidden
	if rapid.IntRange(0, 5).Draw(l.T, "again") == 0 {
		hidden = r.hidden
	}
	veil := l.world.m.Unhide
	if hidden {
		veil = l.world.m.Hide
	}
	err := veil(l.ctx(), r.key, "", "admin")
	l.same("hide", err, l.m.hide(r, hidden))
}

func (l *life) returned(r *mRental) {
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
func (l *life) stepCheckout(b buyer, r *mRental, purpose payment.Purpose, lost bool) {
	n := rapid.IntRange(1, 2).Draw(l.T, "weeks")
	if lost {
		l.fault(stripesim.Fault{Kind: stripesim.FaultDropAfter, Endpoint: beginCall, Count: 1})
	}
	var o market.Offer
	var err error
	switch purpose {
	case payment.New:
		o, err = b.tryCheckout(r.key, weeks(n))
	case payment.Extend:
		o, err = l.world.m.Extend(l.ctx(), b.who, r.key, more(n))
	case payment.Renew:
		o, err = l.world.m.Renew(l.ctx(), b.who, r.key, more(n))
	}
	l.must(l.sim.ClearFaults(l.ctx()))
	code, p, fresh := l.m.checkout(r, purpose, n)
	asked := p != nil && !p.known
	if lost && asked {
		code = "unavailable"
	}
	l.same("checkout "+string(purpose), err, code)
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

func (l *life) stepDecide(r *mRental, approve bool) {
	if !r.pending {
		return
	}
	queue, err := l.world.m.Reviews(l.ctx(), 50)
	l.must(err)
	for _, c := range queue {
		if c.RentalKey != r.key {
			continue
		}
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
			return p.stripe == "expired" && (p.purpose != payment.New || p.r.state == rental.Closed)
		case "debit":
			return p.stripe == "processing"
		case "decide dispute":
			return p.dispute == "open"
		}
		return p.stripe == "paid" && p.gone < p.amount()
	})
	switch kind {
	case "pay", "pay late", "pay pending":
		l.payAt(kind, p)
	case "debit":
		l.stepDebit(p)
	case "refund":
		l.stepRefund(p)
	case "admin refund", "failing refund":
		l.stepAdminRefund(p, kind == "failing refund")
	case "dispute", "decide dispute":
		l.stepDispute(p)
	}
}

func (l *life) payAt(kind string, p *mPayment) {
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
}

// stepDebit ends what a bank had under way, and brings the word of it.
func (l *life) stepDebit(p *mPayment) {
	if p.stripe != "processing" {
		return
	}
	l.stepDeliver(false)
	if rapid.Bool().Draw(l.T, "arrives") {
		_, err := l.sim.AsyncSucceed(l.ctx(), p.session)
		l.must(err)
		l.happened(p, "paid")
	} else {
		_, err := l.sim.AsyncFail(l.ctx(), p.session)
		l.must(err)
		l.happened(p, "failed")
	}
	l.stepDeliver(false)
}

// stepRefund refunds a part or the rest of a payment in the dashboard, and
// brings the word of it.
func (l *life) stepRefund(p *mPayment) {
	l.stepDeliver(false)
	left := p.amount() - p.gone
	if p.stripe != "paid" || left <= 0 || !p.refundable() {
		return
	}
	amount := int64(left)
	if rapid.Bool().Draw(l.T, "a part") && left > 1000 {
		amount = 1000
	}
	var intent string
	l.must(l.pool.QueryRow(l.ctx(), `SELECT payment_intent FROM stripesim.sessions WHERE id = $1`, p.session).Scan(&intent))
	_, err := l.sim.DashboardRefund(l.ctx(), stripesim.RefundRequest{PaymentIntent: intent, Amount: &amount})
	l.must(err)
	l.m.refundNow(p, int(amount), false)
	l.done["refund in the dashboard"]++
	l.stepDeliver(true)
}

// stepAdminRefund refunds a part, the rest or too much of a payment. Stripe
// may make it and find later that it failed.
func (l *life) stepAdminRefund(p *mPayment, fails bool) {
	l.stepDeliver(false)
	left := p.amount() - p.gone
	order := market.RefundOrder{Rental: p.r.key, Payment: p.key, By: "admin"}
	amount := rapid.SampledFrom([]int{0, 0, max(1, left/2), left + 1}).Draw(l.T, "amount")
	if amount > 0 {
		n := int64(amount)
		order.Amount = &n
	}
	if fails {
		l.fault(stripesim.Fault{Kind: stripesim.FaultRefundOutcome, Outcome: stripesim.OutcomeFailed, Count: 1})
	}
	err := l.world.m.RefundNow(l.ctx(), order)
	l.same("admin refund", err, l.m.refundNow(p, amount, fails && err == nil))
	l.settled()
	l.must(l.sim.ClearFaults(l.ctx()))
	l.stepDeliver(false)
}

// stepAgain presses the button of a refund that failed.
func (l *life) stepAgain() {
	l.stepDeliver(false)
	all, err := l.world.m.Anomalies(l.ctx(), 500)
	l.must(err)
	for _, a := range slices.Backward(all) { // the oldest first, as the model has them
		if a.Remedy != market.RefundAgain {
			continue
		}
		i := slices.IndexFunc(l.m.failed, func(f *mFailed) bool { return !f.done })
		if i < 0 {
			l.Fatalf("minute %d: a refund failed, the model knows of none", l.m.t)
		}
		_, err := l.world.m.Remedy(l.ctx(), a.Key, "admin")
		f := l.m.failed[i]
		l.same("refund again", err, l.m.again(f))
		if err != nil { // it went back in another way
			l.must(l.world.m.Resolve(l.ctx(), a.Key, "admin"))
			f.done = true
		}
		l.settled()
		return
	}
}

// stepDispute lets a bank take a payment's money back, or decides about it.
func (l *life) stepDispute(p *mPayment) {
	l.stepDeliver(false)
	switch {
	case p.state == payment.Paid && p.dispute == "" && p.gone < p.amount():
		var intent string
		l.must(l.pool.QueryRow(l.ctx(), `SELECT payment_intent FROM stripesim.sessions WHERE id = $1`, p.session).Scan(&intent))
		_, err := l.sim.OpenDispute(l.ctx(), stripesim.DisputeRequest{PaymentIntent: intent})
		l.must(err)
		p.dispute, p.taken = "open", p.amount()-p.gone
	case p.dispute == "open":
		var id string
		l.must(l.pool.QueryRow(l.ctx(), `SELECT d.id FROM stripesim.disputes d JOIN payments p ON p.payment_intent = d.payment_intent WHERE p.key = $1`, p.key).Scan(&id))
		won := rapid.Bool().Draw(l.T, "won")
		_, err := l.sim.CloseDispute(l.ctx(), id, won)
		l.must(err)
		p.dispute = map[bool]string{true: "won", false: "lost"}[won]
	default:
		return
	}
	l.done["dispute "+p.dispute]++
	l.stepDeliver(rapid.Bool().Draw(l.T, "turned"))
}

// stepDeliver brings in all that Stripe has to say, in its order or the last
// first.
func (l *life) stepDeliver(turned bool) {
	news := l.news()
	if turned {
		slices.Reverse(news)
		slices.Reverse(l.unsaid)
	}
	for _, e := range news {
		l.must(l.receive(l.world.m, e))
		l.settled()
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
	l.stepDeliver(false)
	l.must(l.receive(l.world.m, rapid.SampledFrom(told).Draw(l.T, "event")))
	l.settled()
}
