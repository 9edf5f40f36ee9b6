package workflow_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tuval/internal/creative"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/workflow"
)

// Whatever the facts are, also those that cannot be together: the graph is one,
// nothing in it leads backwards, and a rental that is over waits for nothing but mails.
func TestAnyFactsMakeASoundGraph(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := anyFacts(r)
		g := workflow.Of(f)
		place := map[string]int{}
		for i, s := range g.Steps {
			if _, twice := place[s.ID]; twice || s.State == "" || i > 0 && len(g.After(s.ID)) == 0 {
				r.Fatalf("%s in %s", s.ID, list(g))
			}
			if f.Rental.State == rental.Closed && s.State == workflow.Waiting && s.Kind != workflow.Remind && s.Kind != workflow.Receipt {
				r.Fatalf("%s waits, and the rental is closed", s.ID)
			}
			place[s.ID] = i
		}
		for _, e := range g.Edges {
			from, ok := place[e.From]
			if to, also := place[e.To]; !ok || !also || from >= to {
				r.Fatalf("edge %s -> %s in %s", e.From, e.To, list(g))
			}
		}
		if len(f.Refunds) != count(g, workflow.Refund) {
			r.Fatalf("%d refunds, %d drawn", len(f.Refunds), count(g, workflow.Refund))
		}
	})
}

func count(g workflow.Graph, k workflow.Kind) int {
	n := 0
	for _, s := range g.Steps {
		if s.Kind == k {
			n++
		}
	}
	return n
}

func maybe(r *rapid.T, name string) *time.Time {
	if rapid.Bool().Draw(r, "has "+name) {
		return at(time.Duration(rapid.IntRange(0, 80).Draw(r, name)) * day)
	}
	return nil
}

func anyFacts(r *rapid.T) workflow.Facts {
	f := workflow.Facts{Now: *at(time.Duration(rapid.IntRange(0, 100).Draw(r, "now")) * day)}
	f.Rental = rental.Rental{
		State:     rapid.SampledFrom([]rental.State{rental.Held, rental.Paying, rental.Paid, rental.Live, rental.Ended, rental.Closed}).Draw(r, "state"),
		CreatedAt: *at(0), LeasedUntil: maybe(r, "lease"), PaidAt: maybe(r, "paid"), ApproveBy: maybe(r, "approve by"), GoLiveAt: maybe(r, "go live at"),
		LiveFrom: maybe(r, "live from"), EndsAt: maybe(r, "ends"), ReservedUntil: maybe(r, "reserved"), Hidden: rapid.Bool().Draw(r, "hidden"),
	}
	if f.Rental.State == rental.Closed {
		f.Rental.ClosedAt = at(time.Duration(rapid.IntRange(0, 80).Draw(r, "closed at")) * day)
		f.Rental.ClosedReason = ptr(rapid.SampledFrom([]rental.Reason{rental.Expired, rental.Cancelled, rental.Unapproved, rental.NotRenewed, rental.Refunded, rental.Removed, rental.PaymentFailed}).Draw(r, "reason"))
	}
	for i := range rapid.IntRange(0, 6).Draw(r, "payments") {
		f.Payments = append(f.Payments, anyPayment(r, payment.ID(i+1)))
	}
	for i := range rapid.IntRange(0, 4).Draw(r, "refunds") {
		f.Refunds = append(f.Refunds, payment.Refund{
			ID: payment.RefundID(i + 1), Payment: payment.ID(rapid.IntRange(0, 6).Draw(r, "refunded")), SettledAt: maybe(r, "settled"),
			State: rapid.SampledFrom([]payment.RefundState{payment.RefundPending, payment.RefundSucceeded, payment.RefundFailed}).Draw(r, "refund"),
		})
	}
	for i := range rapid.IntRange(0, 4).Draw(r, "pictures") {
		f.Creatives = append(f.Creatives, creative.Creative{
			Revision: i + 1, SubmittedAt: *at(day), DecidedAt: maybe(r, "decided"),
			State: rapid.SampledFrom([]creative.State{creative.Pending, creative.Approved, creative.Rejected, creative.Superseded}).Draw(r, "picture"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(r, "events") {
		f.Events = append(f.Events, workflow.Event{Kind: rapid.SampledFrom([]ledger.Kind{ledger.RentalLive, ledger.RentalEnded}).Draw(r, "event"), At: *at(time.Duration(rapid.IntRange(0, 80).Draw(r, "event at")) * day)})
	}
	for range rapid.IntRange(0, 6).Draw(r, "jobs") {
		f.Jobs = append(f.Jobs, anyJob(r))
	}
	return f
}

func anyPayment(r *rapid.T, id payment.ID) payment.Payment {
	p := payment.Payment{
		ID: id, CreatedAt: *at(time.Duration(rapid.IntRange(0, 80).Draw(r, "made")) * day), Weeks: 1, PaidAt: maybe(r, "paid at"), UnwoundAt: maybe(r, "unwound"),
		Purpose: rapid.SampledFrom([]payment.Purpose{payment.New, payment.Extend, payment.Renew}).Draw(r, "purpose"),
		State:   rapid.SampledFrom([]payment.State{payment.Open, payment.Processing, payment.Paid, payment.Expired, payment.Failed}).Draw(r, "payment"),
	}
	if p.State == payment.Paid {
		p.Outcome = ptr(rapid.SampledFrom([]payment.Outcome{payment.Applied, payment.Returned}).Draw(r, "outcome"))
	}
	return p
}

func anyJob(r *rapid.T) workflow.Job {
	return workflow.Job{
		Kind: rapid.SampledFrom([]string{"settle", "remind", "end_checkout", "make_refund", "send_mail", "sync_refunds"}).Draw(r, "kind"),
		Why: rapid.SampledFrom([]string{
			"", "hold lapses", "approval window closes", "goes live", "ends", "renewal window closes", "7 days to the end", "2 days to the approval deadline",
			"12 hours to renew", "paid", "ends soon", "upload reminder", "renewal closes", "extended", "over",
		}).Draw(r, "why"),
		State: rapid.SampledFrom([]string{"scheduled", "available", "running", "retryable", "completed", "discarded", "cancelled"}).Draw(r, "job"),
		At:    *at(time.Duration(rapid.IntRange(0, 80).Draw(r, "job at")) * day), Attempt: rapid.IntRange(0, 3).Draw(r, "attempt"),
		Payment: payment.ID(rapid.IntRange(0, 6).Draw(r, "of payment")), Refund: payment.RefundID(rapid.IntRange(0, 4).Draw(r, "of refund")),
	}
}
