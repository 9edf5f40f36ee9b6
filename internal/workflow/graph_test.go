package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tuval/internal/creative"
	"tuval/internal/ledger"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/workflow"
)

const day = 24 * time.Hour

// at is an instant, counted from the hold.
func at(d time.Duration) *time.Time {
	t := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC).Add(d)
	return &t
}

func usd(n int64) money.Money { return money.Money{Amount: n, Currency: "usd"} }

func ptr[T any](v T) *T { return &v }

// life makes the facts of a rental, one thing after the other.
type life struct{ workflow.Facts }

func held() *life {
	return &life{workflow.Facts{
		Rental: rental.Rental{ID: 1, State: rental.Held, CreatedAt: *at(0), LeasedUntil: at(10 * time.Minute), PricePerWeek: usd(100)},
		Now:    *at(time.Minute),
	}}
}

func (l *life) payment(id payment.ID, why payment.Purpose, weeks int, s payment.State, made time.Duration) *life {
	p := payment.Payment{ID: id, Purpose: why, Weeks: weeks, Amount: usd(int64(100 * weeks)), State: s, CreatedAt: *at(made), ExpiresAt: *at(made + 35*time.Minute), SessionID: ptr("cs")}
	switch s {
	case payment.Paid:
		p.PaidAt, p.Outcome = at(made+time.Minute), ptr(payment.Applied)
	case payment.Expired, payment.Failed:
		p.EndedAt = at(made + 35*time.Minute)
	case payment.Open, payment.Processing:
	}
	l.Payments = append(l.Payments, p)
	return l
}

func (l *life) paying(s payment.State) *life {
	l.Rental.State, l.Rental.LeasedUntil, l.Now = rental.Paying, at(46*time.Minute), *at(2 * time.Minute)
	return l.payment(1, payment.New, 4, s, time.Minute)
}

func (l *life) paid() *life {
	l.payment(1, payment.New, 4, payment.Paid, time.Minute)
	l.Rental.State, l.Rental.PaidAt, l.Rental.ApproveBy, l.Rental.LeasedUntil = rental.Paid, at(2*time.Minute), at(30*day), at(30*day)
	l.Now = *at(time.Hour)
	l.mail("paid", 3*time.Minute)
	return l
}

func (l *life) mail(kind string, sent time.Duration) {
	l.Jobs = append(l.Jobs, workflow.Job{Kind: "send_mail", Why: kind, State: "completed", At: *at(sent), DoneAt: at(sent)})
}

func (l *life) picture(s creative.State, decided time.Duration) *life {
	n := len(l.Creatives) + 1
	c := creative.Creative{Revision: n, State: s, SubmittedAt: *at(decided - time.Minute)}
	if s == creative.Approved || s == creative.Rejected {
		c.DecidedAt = at(decided)
	}
	if s == creative.Rejected {
		c.Reason = ptr("not readable")
	}
	l.Creatives = append(l.Creatives, c)
	l.Now = *at(decided + time.Minute)
	return l
}

func (l *life) event(kind ledger.Kind, when time.Duration) *life {
	l.Events = append(l.Events, workflow.Event{Kind: kind, At: *at(when)})
	return l
}

func (l *life) live() *life {
	l.paid().picture(creative.Approved, day)
	return l.event(ledger.RentalLive, day).until(29 * day)
}

func (l *life) until(end time.Duration) *life {
	l.Rental.State, l.Rental.LiveFrom, l.Rental.EndsAt, l.Rental.LeasedUntil = rental.Live, at(day), at(end), at(end+2*day)
	return l
}

func (l *life) ended(when time.Duration) *life {
	l.Rental.State, l.Rental.ReservedUntil, l.Now = rental.Ended, at(when+2*day), *at(when + time.Hour)
	return l.event(ledger.RentalEnded, when)
}

func (l *life) closed(why rental.Reason, when time.Duration) *life {
	l.Rental.State, l.Rental.ClosedReason, l.Rental.ClosedAt, l.Rental.LeasedUntil, l.Now = rental.Closed, &why, at(when), nil, *at(when + time.Hour)
	return l
}

func (l *life) returned(id payment.ID) *life {
	for i := range l.Payments {
		if l.Payments[i].ID == id {
			l.Payments[i].Outcome = ptr(payment.Returned)
		}
	}
	return l
}

func (l *life) unwound(id payment.ID) *life {
	for i := range l.Payments {
		if l.Payments[i].ID == id {
			l.Payments[i].UnwoundAt = at(2 * day)
		}
	}
	return l
}

func (l *life) refund(id payment.RefundID, of payment.ID, s payment.RefundState) *life {
	r := payment.Refund{ID: id, Payment: of, Amount: usd(400), State: s, Reason: payment.ReasonUnapproved}
	if s != payment.RefundPending {
		r.SettledAt = at(40 * day)
	}
	l.Refunds = append(l.Refunds, r)
	return l
}

func (l *life) job(j workflow.Job) *life {
	l.Jobs = append(l.Jobs, j)
	return l
}

func dead(kind, why string) workflow.Job {
	return workflow.Job{Kind: kind, Why: why, State: "discarded", At: *at(day), Attempt: 14, MaxAttempts: 14, LastError: "no answer"}
}

// What stands beside the main way comes as early as it can.
func TestStepsAreInOrder(t *testing.T) {
	for _, c := range []struct {
		of   *life
		want string
	}{
		{held().paid(), "hold pay receipt image review go live end renew release"},
		{held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).job(workflow.Job{Kind: "remind", Why: "24 hours to the end", State: "scheduled", At: *at(28 * day)}), "hold pay receipt image review go live extend remind end renew release"},
		{held().live().ended(29 * day).job(workflow.Job{Kind: "remind", Why: "12 hours to renew", State: "scheduled", At: *at(30 * day)}), "hold pay receipt image review go live end renew remind release"},
	} {
		var got []string
		for _, s := range workflow.Of(c.of.Facts).Steps {
			got = append(got, s.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

// Every state of a rental, and what went wrong or was taken back in it.
func TestStepsOfEveryState(t *testing.T) {
	renewed := func() *life {
		return held().live().ended(29*day).payment(5, payment.Renew, 2, payment.Paid, 30*day).event(ledger.RentalLive, 30*day).until(44 * day)
	}
	for name, c := range map[string]struct {
		of   *life
		want string // the steps in order, each "kind:state"
	}{
		"held":                    {held(), "hold:now pay:waiting image:waiting review:waiting go live:waiting end:waiting release:waiting receipt:waiting renew:waiting"},
		"paying":                  {held().paying(payment.Open), "hold:done pay:now image:waiting review:waiting go live:waiting end:waiting release:waiting receipt:waiting renew:waiting"},
		"processing":              {held().paying(payment.Processing), "hold:done pay:now"},
		"page lapsed, hold on":    {held().paying(payment.Expired), "hold:done pay:waiting"},
		"expired":                 {held().closed(rental.Expired, 10*time.Minute), "hold:done pay:skipped image:skipped review:skipped go live:skipped end:skipped release:done receipt:skipped"},
		"expired at the page":     {held().paying(payment.Expired).closed(rental.Expired, time.Hour), "hold:done pay:skipped release:done"},
		"closed, Stripe is asked": {held().paying(payment.Open).closed(rental.Expired, time.Hour), "hold:done pay:now release:done"},
		"cancelled":               {held().closed(rental.Cancelled, 5*time.Minute), "hold:done pay:skipped release:done"},
		"bank did not pay":        {held().paying(payment.Failed).closed(rental.PaymentFailed, time.Hour), "hold:done pay:failed release:done"},
		"late payment refunded": {
			held().payment(1, payment.New, 4, payment.Paid, 2*time.Hour).returned(1).closed(rental.Expired, time.Hour).refund(1, 1, payment.RefundSucceeded),
			"hold:done pay:undone release:done receipt:skipped refund:done",
		},
		"paid twice": {
			held().paid().payment(2, payment.New, 4, payment.Paid, time.Minute).returned(2).refund(1, 2, payment.RefundPending),
			"hold:done pay:done pay 2:undone receipt:done refund:now",
		},
		"paid":         {held().paid(), "hold:done pay:done image:now review:waiting receipt:done"},
		"in review":    {held().paid().picture(creative.Pending, day), "image:done review:now go live:waiting"},
		"rejected":     {held().paid().picture(creative.Rejected, day), "image:now review:failed go live:waiting"},
		"resubmitted":  {held().paid().picture(creative.Rejected, day).picture(creative.Pending, 2*day), "image:done review:now go live:waiting"},
		"unapproved":   {held().paid().unwound(1).closed(rental.Unapproved, 30*day).refund(1, 1, payment.RefundPending), "pay:undone image:skipped review:skipped go live:skipped end:skipped release:done refund:now"},
		"withdrawn":    {held().paid().picture(creative.Superseded, day).unwound(1).closed(rental.Cancelled, 2*day).refund(1, 1, payment.RefundSucceeded), "pay:undone image:done review:skipped release:done refund:done"},
		"refund fails": {held().paid().unwound(1).closed(rental.Refunded, 2*day).refund(1, 1, payment.RefundFailed), "pay:undone release:done refund:failed"},
		"scheduled": {func() *life {
			l := held().paid().picture(creative.Approved, day)
			l.Rental.LiveFrom, l.Rental.EndsAt = at(5*day), at(33*day)
			return l
		}(), "image:done review:done go live:now end:waiting"},
		"live": {held().live(), "review:done go live:done end:now release:waiting renew:waiting"},
		"hidden": {func() *life {
			l := held().live()
			l.Rental.Hidden = true
			return l
		}(), "go live:undone end:now"},
		"replacement in review": {held().live().picture(creative.Pending, 2*day), "review:done go live:done end:now replace:now"},
		"replacement rejected":  {held().live().picture(creative.Rejected, 2*day), "replace:failed"},
		"replaced": {func() *life {
			l := held().live().picture(creative.Approved, 2*day)
			l.Creatives[0].State = creative.Superseded
			return l
		}(), "image:done review:done replace:done"},
		"extending":           {held().live().payment(2, payment.Extend, 2, payment.Open, 3*day), "go live:done end:now extend:now"},
		"extended twice":      {held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).payment(3, payment.Extend, 1, payment.Paid, 4*day).until(50 * day), "end:now extend:done extend 2:done"},
		"extension refunded":  {held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).unwound(2).refund(1, 2, payment.RefundSucceeded), "extend:undone refund:done"},
		"extension too late":  {held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).returned(2).closed(rental.NotRenewed, 31*day).refund(1, 2, payment.RefundPending), "end:done release:done renew:skipped extend:undone refund:now"},
		"extension given up":  {held().live().payment(2, payment.Extend, 2, payment.Expired, 3*day), "!extend"},
		"removed while live":  {held().live().unwound(1).closed(rental.Removed, 2*day).refund(1, 1, payment.RefundSucceeded), "pay:undone go live:done end:skipped release:done refund:done"},
		"removed, money kept": {held().live().closed(rental.Removed, 2*day), "pay:done go live:done end:skipped release:done"},
		"ended":               {held().live().ended(29 * day), "go live:done end:done renew:now release:waiting"},
		"renewing":            {held().live().ended(29*day).payment(5, payment.Renew, 2, payment.Open, 30*day), "end:done renew:now release:waiting"},
		"renewed":             {renewed(), "go live:done end:done renew:done end 2:now release:waiting renew 2:waiting"},
		"renewed, extended":   {renewed().payment(6, payment.Extend, 2, payment.Paid, 31*day), "renew:done end 2:now extend:done"},
		"renewed and over":    {renewed().ended(44*day).closed(rental.NotRenewed, 46*day), "end:done renew:done end 2:done release:done renew 2:skipped"},
		"renewal came late":   {held().live().ended(29*day).payment(5, payment.Renew, 2, payment.Paid, 30*day).returned(5).closed(rental.NotRenewed, 31*day).refund(1, 5, payment.RefundPending), "end:done release:done renew:undone renew 2:skipped refund:now"},
		"not renewed":         {held().live().ended(29*day).closed(rental.NotRenewed, 31*day), "end:done release:done renew:skipped"},
		"dead mail":           {held().paid().job(dead("send_mail", "rejected")).picture(creative.Rejected, day), "review:failed"},
		"dead refund":         {held().paid().unwound(1).closed(rental.Unapproved, 30*day).refund(1, 1, payment.RefundPending).job(workflow.Job{Kind: "make_refund", State: "discarded", Attempt: 14, MaxAttempts: 14, Refund: 1, Payment: 1}), "refund:failed"},
		"dead checkout end":   {held().paying(payment.Open).job(workflow.Job{Kind: "end_checkout", State: "cancelled", LastError: "401", Attempt: 1, MaxAttempts: 14, Payment: 1}), "pay:failed"},
		"reminders": {held().live().job(workflow.Job{Kind: "remind", Why: "7 days to the end", State: "scheduled", At: *at(22 * day)}).
			job(workflow.Job{Kind: "remind", Why: "7 days to the approval deadline", State: "scheduled", At: *at(23 * day)}), "remind:waiting !remind 2"},
		"reminded of the first end": {
			renewed().job(workflow.Job{Kind: "send_mail", Why: "ends soon", State: "completed", At: *at(22 * day), DoneAt: at(22 * day)}), "remind:done end:done end 2:now",
		},
		"extension's mail dead": {held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).job(dead("send_mail", "extended")), "extend:done"},
		"reminded":              {held().live().job(workflow.Job{Kind: "send_mail", Why: "ends soon", State: "completed", At: *at(22 * day), DoneAt: at(22 * day)}), "remind:done"},
	} {
		t.Run(name, func(t *testing.T) {
			g := workflow.Of(c.of.Facts)
			sound(t, g)
			has(t, g, c.want)
		})
	}
}

// has compares the steps named in want, written as in the table above.
func has(t *testing.T, g workflow.Graph, want string) {
	t.Helper()
	got := map[string]workflow.State{}
	for _, s := range g.Steps {
		got[s.ID] = s.State
	}
	left := want + " "
	for left != "" {
		entry, rest, _ := strings.Cut(left, " ")
		for rest != "" && !strings.Contains(entry, ":") && !(strings.HasPrefix(entry, "!") && !startsNumber(rest)) {
			var more string
			more, rest, _ = strings.Cut(rest, " ")
			entry += " " + more
		}
		left = rest
		id, state, _ := strings.Cut(entry, ":")
		if gone, not := strings.CutPrefix(strings.TrimSpace(id), "!"); not {
			if s, there := got[gone]; there {
				t.Errorf("%s is there: %s", gone, s)
			}
			continue
		}
		if got[id] != workflow.State(state) {
			t.Errorf("%s: %q, want %q\nof %s", id, got[id], state, list(g))
		}
	}
}

func startsNumber(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func list(g workflow.Graph) string {
	var b strings.Builder
	for _, s := range g.Steps {
		fmt.Fprintf(&b, "%s:%s ", s.ID, s.State)
	}
	return b.String()
}

// sound is what holds for every graph: each step once, edges between steps
// that are there and never backwards, one beginning, a date where there must be.
func sound(t *testing.T, g workflow.Graph) {
	t.Helper()
	place := map[string]int{}
	for i, s := range g.Steps {
		if _, twice := place[s.ID]; twice {
			t.Errorf("%s is there twice", s.ID)
		}
		place[s.ID] = i
		if s.State == "" {
			t.Errorf("%s has no state", s.ID)
		}
		if i > 0 && len(g.After(s.ID)) == 0 {
			t.Errorf("%s follows nothing", s.ID)
		}
		if s.State == workflow.Done && s.At == nil && s.Kind != workflow.Receipt {
			t.Errorf("%s is done and nobody knows when", s.ID)
		}
	}
	for _, e := range g.Edges {
		from, ok := place[e.From]
		to, also := place[e.To]
		if !ok || !also || from >= to {
			t.Errorf("edge %s -> %s in %s", e.From, e.To, list(g))
		}
	}
}
