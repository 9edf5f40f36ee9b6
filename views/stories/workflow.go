package main

import (
	"time"

	"github.com/a-h/templ"

	revisions "tuval/internal/creative"
	"tuval/internal/ledger"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/workflow"
	"tuval/internal/workflow/drawn"
	"tuval/views"
)

// workflowStories show the steps of rentals as an admin and as a buyer sees
// them, computed from invented facts by the product's own code.
func workflowStories() []story {
	var all []story
	for _, w := range []struct {
		path, title string
		facts       workflow.Facts
	}{
		{"held", "a hold, everything is to come", flowHeld()},
		{"rejected", "paid, the picture was not approved", flowRejected()},
		{"scheduled", "paid, a start wished for, in review", flowInReview()},
		{"live", "live, extended twice, a replacement waits", flowLive()},
		{"renewed", "renewed once, on the canvas again", flowRenewed()},
		{"removed", "removed, the refund fails", flowRemoved()},
	} {
		all = append(all, story{path: "workflow/" + w.path, title: w.title, render: func(b views.Page) templ.Component {
			return flowPage(b, workflow.Of(w.facts))
		}})
	}
	return all
}

func flowPage(base views.Page, g workflow.Graph) templ.Component {
	base.Title = "Steps of a rental"
	return within(views.Layout(base), templ.Join(
		flowHead(base.Title),
		flowSection("The admin's picture", views.WorkflowPicture(drawn.Picture(g))),
		flowSection("The buyer's story", views.Timeline(drawn.Timeline(g))),
	))
}

func flowSection(title string, content templ.Component) templ.Component {
	return within(flowFrame(title), content)
}

func instant(d time.Duration) *time.Time {
	t := day0().Add(d)
	return &t
}

func flowHeld() workflow.Facts {
	return workflow.Facts{
		Rental: rental.Rental{State: rental.Held, CreatedAt: day0(), LeasedUntil: instant(10 * time.Minute)}, Now: *instant(time.Minute),
	}
}

func flowPayment(id payment.ID, why payment.Purpose, weeks int, when time.Duration) payment.Payment {
	applied := payment.Applied
	return payment.Payment{
		ID: id, Purpose: why, Weeks: weeks, Amount: money.Money{Amount: int64(weeks) * 960000, Currency: "usd"}, State: payment.Paid, Outcome: &applied,
		CreatedAt: *instant(when - time.Minute), PaidAt: instant(when),
	}
}

func flowPaid() workflow.Facts {
	f := flowHeld()
	f.Rental.State, f.Rental.PaidAt, f.Rental.ApproveBy, f.Rental.LeasedUntil = rental.Paid, instant(6*time.Minute), instant(30*day), instant(30*day)
	f.Payments = append(f.Payments, flowPayment(1, payment.New, 4, 6*time.Minute))
	f.Jobs = []workflow.Job{
		{Kind: "send_mail", Why: "paid", State: "retryable", At: *instant(12 * time.Minute), Attempt: 3, MaxAttempts: 16, LastError: "451 4.7.1 try again later"},
		{Kind: "remind", Why: "7 days to the approval deadline", State: "scheduled", At: *instant(23 * day), MaxAttempts: 12},
		{Kind: "remind", Why: "2 days to the approval deadline", State: "scheduled", At: *instant(28 * day), MaxAttempts: 12},
	}
	f.Now = *instant(day)
	return f
}

func flowRejected() workflow.Facts {
	f, why := flowPaid(), "The link leads to another shop than the picture shows."
	f.Creatives = []revisions.Creative{{Revision: 1, State: revisions.Rejected, Reason: &why, SubmittedAt: *instant(2 * time.Hour), DecidedAt: instant(20 * time.Hour)}}
	return f
}

func flowInReview() workflow.Facts {
	f := flowPaid()
	f.Rental.GoLiveAt = instant(9*day + 8*time.Minute)
	f.Creatives = []revisions.Creative{
		{Revision: 1, State: revisions.Rejected, SubmittedAt: *instant(2 * time.Hour), DecidedAt: instant(20 * time.Hour)},
		{Revision: 2, State: revisions.Pending, SubmittedAt: *instant(22 * time.Hour)},
	}
	return f
}

func flowLive() workflow.Facts {
	f := flowPaid()
	f.Rental.State, f.Rental.LiveFrom, f.Rental.EndsAt, f.Rental.LeasedUntil = rental.Live, instant(26*time.Hour), instant(50*day+2*time.Hour), instant(52*day+2*time.Hour)
	f.Events = []workflow.Event{{Kind: ledger.RentalLive, At: *instant(26 * time.Hour)}}
	f.Payments = append(f.Payments, flowPayment(2, payment.Extend, 2, 3*day), flowPayment(3, payment.Extend, 1, 4*day))
	f.Creatives = []revisions.Creative{
		{Revision: 1, State: revisions.Approved, SubmittedAt: *instant(20 * time.Hour), DecidedAt: instant(26 * time.Hour)},
		{Revision: 2, State: revisions.Pending, SubmittedAt: *instant(5 * day)},
	}
	f.Jobs = []workflow.Job{
		{Kind: "send_mail", Why: "paid", State: "completed", At: *instant(7 * time.Minute), DoneAt: instant(7 * time.Minute)},
		{Kind: "remind", Why: "7 days to the end", State: "scheduled", At: *instant(43 * day), MaxAttempts: 12},
		{Kind: "remind", Why: "24 hours to the end", State: "scheduled", At: *instant(49 * day), MaxAttempts: 12},
	}
	f.Now = *instant(5*day + time.Hour)
	return f
}

func flowRenewed() workflow.Facts {
	f := flowLive()
	f.Payments, f.Creatives = append(f.Payments[:1], flowPayment(5, payment.Renew, 2, 30*day)), f.Creatives[:1]
	f.Rental.EndsAt, f.Rental.LeasedUntil = instant(44*day), instant(46*day)
	f.Events = append(f.Events, workflow.Event{Kind: ledger.RentalEnded, At: *instant(29*day + 2*time.Hour)}, workflow.Event{Kind: ledger.RentalLive, At: *instant(30 * day)})
	f.Now = *instant(31 * day)
	return f
}

func flowRemoved() workflow.Facts {
	f, why := flowLive(), rental.Removed
	f.Rental.State, f.Rental.ClosedReason, f.Rental.ClosedAt, f.Rental.LeasedUntil = rental.Closed, &why, instant(6*day), nil
	f.Payments[0].UnwoundAt, f.Payments = instant(6*day), f.Payments[:1]
	f.Creatives = f.Creatives[:1]
	f.Refunds = []payment.Refund{{ID: 1, Payment: 1, Amount: f.Payments[0].Amount, State: payment.RefundPending, Reason: "removed"}}
	f.Jobs = []workflow.Job{
		f.Jobs[0],
		{Kind: "make_refund", State: "discarded", At: *instant(6 * day), Attempt: 14, MaxAttempts: 14, LastError: "stripe: no answer within 30 s", Payment: 1, Refund: 1},
	}
	f.Now = *instant(6*day + 5*time.Hour)
	return f
}
