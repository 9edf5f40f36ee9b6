package market_test

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tuval/internal/board"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/testdb"
)

// Random lives of rentals against the model on paper: after each step every
// refusal, every state, every deadline, the counts of the board and the
// invariants are what the model says, and in the end nothing is stuck and
// every cent is where it should be.
func TestMarketAgainstTheModelSoak(t *testing.T) {
	t.Parallel()
	lives := max(14, int(testdb.Soak(t, 0)/(6*time.Second)))
	before := flag.Lookup("rapid.checks").Value.String()
	if err := flag.Set("rapid.checks", strconv.Itoa(lives)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", before) })
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(t, rt, done)
		defer l.close()
		for range rapid.IntRange(100, 240).Draw(rt, "steps") {
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

// failing makes what fails in a world a failure of the run, which is shrunk.
type failing struct {
	testing.TB
	run *rapid.T
}

func (f failing) Error(args ...any)                 { f.run.Helper(); f.run.Fatal(args...) }
func (f failing) Errorf(format string, args ...any) { f.run.Helper(); f.run.Fatalf(format, args...) }
func (f failing) Fatal(args ...any)                 { f.run.Helper(); f.run.Fatal(args...) }
func (f failing) Fatalf(format string, args ...any) { f.run.Helper(); f.run.Fatalf(format, args...) }

func newLife(t *testing.T, rt *rapid.T, done map[string]int) *life {
	w := newWorld(t, options{conns: 6})
	w.t = failing{t, rt}
	return &life{
		world: w, T: rt, m: &model{}, people: w.buyers(3),
		board: board.New(w.pool, rental.Terms{RenewalWindow: 48 * time.Hour}), done: done,
	}
}

// rects overlap in many ways.
func rects() []grid.Rect {
	return []grid.Rect{rect(0, 0, 4, 4), rect(2, 2, 4, 4), rect(5, 0, 3, 3), rect(0, 5, 8, 2), rect(3, 3, 1, 1), rect(9, 9, 2, 2)}
}

// kinds are the steps, the usual ones more often.
func kinds() []string {
	return []string{
		"hold", "hold", "rent", "rent", "rent", "show", "show", "show", "keep", "cancel", "checkout", "checkout", "lost checkout",
		"more", "more", "more", "more", "lost more", "pay", "pay", "pay", "pay", "pay late", "pay late", "pay pending", "debit", "return",
		"deliver", "deliver", "deliver turned", "repeat", "submit", "decide", "withdraw", "remove", "hide",
		"refund", "refund", "admin refund", "admin refund", "failing refund", "again", "dispute", "decide dispute", "settle",
		"age", "age", "deadline", "deadline", "deadline", "deadline", "late deadline", "late deadline", "long age", "outage",
	}
}

func (l *life) step() {
	kind := rapid.SampledFrom(kinds()).Draw(l.T, "step")
	switch kind {
	case "hold":
		l.stepHold()
	case "rent":
		l.stepRent()
	case "show":
		l.stepShow()
	case "deliver", "deliver turned":
		l.stepDeliver(kind == "deliver turned")
	case "repeat":
		l.stepRepeat()
	case "age":
		l.pass(rapid.SampledFrom([]int{1, 2, 4, 9, 11, 33, 60}).Draw(l.T, "minutes"), false)
	case "long age", "outage":
		l.pass(rapid.SampledFrom([]int{day, 3 * day, 4 * day, 8 * day, 31 * day}).Draw(l.T, "minutes"), kind == "outage")
	case "deadline", "late deadline":
		l.stepDeadline(kind == "late deadline")
	case "pay", "pay late", "pay pending", "debit", "refund", "admin refund", "failing refund", "dispute", "decide dispute":
		l.stepMoney(kind)
	case "again":
		l.stepAgain()
	default:
		l.stepRental(kind)
	}
	for _, r := range l.m.rentals {
		l.done["seen "+string(r.state)+" "+string(r.reason)]++
	}
	l.done["steps"]++
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

// settled works off what is due. Now and then a worker dies, before it did one
// of the jobs or after it, and somebody takes the job over.
func (l *life) settled() {
	dies := rapid.IntRange(0, 15).Draw(l.T, "dies")
	for i := 0; ; i++ {
		if i == dies {
			l.unfinished()
		}
		found, err := l.workOne(l.ctx(), l.world.m)
		if err != nil {
			l.Fatalf("minute %d: %v", l.m.t, err)
		}
		if !found {
			return
		}
	}
}

// unfinished does the next job, of which nobody hears.
func (l *life) unfinished() {
	var j job
	const next = `SELECT id, kind, args, attempt + 1 FROM river_job WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= now()
		AND kind <> 'send_mail' ORDER BY id LIMIT 1`
	if err := l.pool.QueryRow(l.ctx(), next).Scan(&j.ID, &j.Kind, &j.Args, &j.Attempt); err != nil {
		return // none is due
	}
	l.done["a worker dies"]++
	_ = do(l.ctx(), l.world.m, j) // whoever takes it over sees how it came out
}

// pass lets time pass, from one deadline to the next, or with nobody at work.
func (l *life) pass(minutes int, late bool) {
	for end := l.m.t + minutes; l.m.t < end; {
		at := end
		if !late {
			at = l.m.next(end)
		}
		l.age(time.Duration(at-l.m.t) * time.Minute)
		if late {
			l.reads(at)
		}
		l.settled()
		l.m.arrive(at, late)
	}
}

// stepDeadline lets time pass to a minute before a deadline, to it, or to one
// after it.
func (l *life) stepDeadline(late bool) {
	var dues []int
	for _, r := range l.m.rentals {
		if at, is := l.m.due(r); is && at > l.m.t {
			dues = append(dues, at)
		}
	}
	if len(dues) == 0 {
		return
	}
	slices.Sort(dues)
	at := rapid.SampledFrom(dues[:min(len(dues), 4)]).Draw(l.T, "deadline")
	if minutes := at + rapid.IntRange(-1, 1).Draw(l.T, "off") - l.m.t; minutes > 0 {
		l.pass(minutes, late)
	}
}

// reads holds what people read against the model, while nobody works.
func (l *life) reads(at int) {
	now := l.now()
	for _, r := range l.m.rentals {
		got := l.rental(r.key).At(now, rental.Terms{RenewalWindow: 48 * time.Hour})
		if state, why := l.m.seen(*r, at); got.State != state || deref(got.ClosedReason) != why {
			l.Fatalf("minute %d: %s reads %s (%s); the model says %s (%s)", at, r.rect, got.State, deref(got.ClosedReason), state, why)
		}
	}
}

// compare holds the database against the model.
func (l *life) compare() {
	now := l.now()
	stored, err := rental.List(l.ctx(), l.pool, "", 0, 1000)
	l.must(err)
	real := map[string]rental.Rental{}
	for _, r := range stored {
		real[r.Key] = r.At(now, rental.Terms{RenewalWindow: 48 * time.Hour})
	}
	want := board.Counts{Free: grid.Blocks}
	for _, r := range l.m.rentals {
		l.compareRental(r, real[r.key], now)
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
	l.intact()
}

func (l *life) compareRental(r *mRental, got rental.Rental, now time.Time) {
	if got.State != r.state || deref(got.ClosedReason) != r.reason || got.Kept != r.kept && r.unpaid() || got.Hidden != r.hidden {
		l.Fatalf("minute %d: %s is %s (%s), kept %v, hidden %v; the model says %s (%s), %v, %v", l.m.t, r.rect, got.State, deref(got.ClosedReason), got.Kept, got.Hidden, r.state, r.reason, r.kept, r.hidden)
	}
	l.compareTime("the lease", r, got.LeasedUntil, now, r.lease, r.state != rental.Closed)
	l.compareTime("the end", r, got.EndsAt, now, r.ends, r.state == rental.Live || r.state == rental.Ended)
	l.compareTime("the reservation", r, got.ReservedUntil, now, r.reserved, r.state == rental.Ended)
	l.compareTime("the approval window", r, got.ApproveBy, now, r.approveBy, r.state == rental.Paid)
}

// compareTime allows for the time that the test itself takes: what was fixed
// later in the run is later.
func (l *life) compareTime(what string, r *mRental, at *time.Time, now time.Time, minute int, is bool) {
	if !is {
		return
	}
	if off := at.Sub(now) - time.Duration(minute-l.m.t)*time.Minute; off > time.Second || off < -59*time.Second {
		l.Fatalf("minute %d: %s of %s (%s) is %v away; the model says %d minutes", l.m.t, what, r.rect, r.state, at.Sub(now), minute-l.m.t)
	}
}

func (l *life) comparePayments() {
	rows, err := l.pool.Query(l.ctx(), `
		SELECT p.key, format('%s %s %s gone %s unwound %s', p.purpose, p.state, COALESCE(p.outcome, ''),
			(SELECT COALESCE(sum(amount), 0) FROM refunds f WHERE f.payment_id = p.id AND f.state <> 'failed'), p.unwound_at IS NOT NULL) FROM payments p`)
	l.must(err)
	real := map[string]string{}
	for rows.Next() {
		var key, state string
		l.must(rows.Scan(&key, &state))
		real[key] = state
	}
	l.must(rows.Err())
	for _, p := range l.m.payments {
		unwound := map[bool]string{true: "t", false: "f"}[p.unwound]
		if want := fmt.Sprintf("%s %s %s gone %d unwound %s", p.purpose, p.state, p.outcome, p.gone, unwound); real[p.key] != want {
			l.Fatalf("minute %d: a payment for %s is %q; the model says %q", l.m.t, p.r.rect, real[p.key], want)
		}
	}
	if len(real) != len(l.m.payments) {
		l.Fatalf("minute %d: %d payments, the model has %d", l.m.t, len(real), len(l.m.payments))
	}
}

// finish lets all be said and done.
func (l *life) finish() {
	l.stepDeliver(false)
	l.pass(2, false)
	l.stepDeliver(false)
	l.compare()
	ours, stripes := l.m.kept()
	if n := l.count(`SELECT COALESCE(sum(amount), 0) FROM ledger`); n != ours {
		l.Fatalf("the ledger keeps %d, the model %d", n, ours)
	}
	if n := l.count(`SELECT COALESCE(sum(amount - amount_refunded), 0) FROM stripesim.charges WHERE status = 'succeeded'`); n != stripes {
		l.Fatalf("Stripe keeps %d, the model %d", n, stripes)
	}
	open := len(slices.DeleteFunc(slices.Clone(l.m.failed), func(f *mFailed) bool { return f.done }))
	if n := l.anomalies("refund failed"); n != open {
		l.Fatalf("%d refunds failed and are told, the model has %d", n, open)
	}
	// At most one word of each reminder for each number of payments that count.
	if n := l.count(`SELECT count(*) FROM mails m WHERE kind IN ('ends soon', 'renewal closes', 'upload reminder') AND (
			SELECT count(*) FROM mails o WHERE o.rental_id = m.rental_id AND o.kind = m.kind) > 2 * (1 + (SELECT count(*) FROM payments p WHERE p.rental_id = m.rental_id))`); n > 0 {
		l.Fatalf("%d reminders too many", n)
	}
	l.sound()
	if slices.ContainsFunc(l.m.payments, func(p *mPayment) bool { return p.state == payment.Open && l.m.t > p.expires+1 }) {
		l.Fatalf("a page is open after its time")
	}
}

// The test ends at the first difference, and rapid looks for a shorter one.
func (l *life) Fatalf(format string, args ...any) { l.T.Fatalf(format, args...) }
