package drawn_test

import (
	"strings"
	"testing"
	"time"

	"tuval/internal/creative"
	"tuval/internal/ledger"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/workflow"
	"tuval/internal/workflow/drawn"
	"tuval/views"
)

const day = 24 * time.Hour

func at(d time.Duration) *time.Time {
	t := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC).Add(d)
	return &t
}

func ptr[T any](v T) *T { return &v }

func held() workflow.Facts {
	return workflow.Facts{Rental: rental.Rental{State: rental.Held, CreatedAt: *at(0), LeasedUntil: at(10 * time.Minute)}, Now: *at(time.Minute)}
}

func paid() workflow.Facts {
	f := held()
	f.Rental.State, f.Rental.PaidAt, f.Rental.ApproveBy, f.Rental.LeasedUntil, f.Now = rental.Paid, at(time.Minute), at(30*day), at(30*day), *at(day)
	f.Payments = []payment.Payment{{
		ID: 1, Purpose: payment.New, Weeks: 4, Amount: money.Money{Amount: 40000, Currency: "usd"}, State: payment.Paid, Outcome: ptr(payment.Applied), PaidAt: at(time.Minute),
	}}
	return f
}

func wished() workflow.Facts {
	f := paid()
	f.Rental.GoLiveAt = at(9 * day)
	return f
}

func rejected() workflow.Facts {
	f := paid()
	f.Creatives = []creative.Creative{{Revision: 1, State: creative.Rejected, Reason: ptr("<b>not</b> readable"), SubmittedAt: *at(time.Hour), DecidedAt: at(2 * time.Hour)}}
	return f
}

func live() workflow.Facts {
	f := paid()
	f.Creatives = []creative.Creative{{Revision: 1, State: creative.Approved, SubmittedAt: *at(time.Hour), DecidedAt: at(day)}}
	f.Rental.State, f.Rental.LiveFrom, f.Rental.EndsAt, f.Rental.LeasedUntil, f.Now = rental.Live, at(day), at(29*day), at(31*day), *at(2 * day)
	f.Events = []workflow.Event{{Kind: ledger.RentalLive, At: *at(day)}}
	return f
}

func ended() workflow.Facts {
	f := live()
	f.Rental.State, f.Rental.ReservedUntil, f.Now = rental.Ended, at(31*day), *at(30 * day)
	return f
}

func removed() workflow.Facts {
	f := live()
	f.Rental.State, f.Rental.ClosedReason, f.Rental.ClosedAt, f.Rental.LeasedUntil = rental.Closed, ptr(rental.Removed), at(3*day), nil
	f.Payments[0].UnwoundAt, f.Now = at(3*day), *at(4 * day)
	f.Refunds = []payment.Refund{{ID: 1, Payment: 1, Amount: f.Payments[0].Amount, State: payment.RefundPending}}
	f.Jobs = []workflow.Job{{Kind: "make_refund", State: "discarded", Refund: 1, Attempt: 14, MaxAttempts: 14, LastError: "no answer"}}
	return f
}

func find(v views.TimelineView, title string) (views.TimelineItem, bool) {
	for _, i := range v.Items {
		if i.Title == title {
			return i, true
		}
	}
	return views.TimelineItem{}, false
}

// What a buyer reads, state by state: the words, the day, and whether it is fixed.
func TestTimelineTellsTheBuyer(t *testing.T) {
	for name, c := range map[string]struct {
		of                 workflow.Facts
		title, state, lead string
		at, open           string // the day named, and a part of why it is not fixed
	}{
		"hold":                  {held(), "These blocks are held for you", "now", "until", "1 Mar 2027, 09:10 UTC", ""},
		"paid":                  {paid(), "You paid for 4 weeks", "done", "", "1 Mar 2027, 09:01 UTC", ""},
		"picture":               {paid(), "You send your picture", "now", "approved at the latest on", "31 Mar 2027", ""},
		"start unknown":         {paid(), "Your picture goes live", "", "", "", "not fixed yet"},
		"end unknown":           {paid(), "The paid time ends", "", "", "", "4 weeks on the canvas"},
		"start wished":          {wished(), "Your picture goes live", "", "as you wished, on", "10 Mar 2027", "Not fixed"},
		"end of the wish":       {wished(), "The paid time ends", "", "", "7 Apr 2027", "Not fixed"},
		"rejected":              {rejected(), "Your picture was not approved", "failed", "", "1 Mar 2027, 11:00 UTC", ""},
		"another":               {rejected(), "You send another picture", "now", "approved at the latest on", "31 Mar 2027", ""},
		"live":                  {live(), "On the canvas", "now", "until", "30 Mar 2027, 09:00 UTC", ""},
		"reservation":           {live(), "The blocks become free for others", "", "unless you renew, on", "1 Apr 2027", ""},
		"renew":                 {ended(), "You can renew", "now", "until", "1 Apr 2027", ""},
		"over":                  {ended(), "The paid time was over", "done", "", "30 Mar 2027", ""},
		"our job fails":         {removed(), "400.00 USD is on its way back to you", "now", "", "", ""},
		"closed, and why, once": {removed(), "The blocks are free again", "done", "", "4 Mar 2027", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := drawn.Timeline(workflow.Of(c.of))
			i, ok := find(v, c.title)
			if !ok {
				t.Fatalf("%q is not told: %+v", c.title, v.Items)
			}
			if i.State != c.state || i.Lead != c.lead || !strings.Contains(i.At.Text, c.at) || (c.at == "") == i.At.Set() || !strings.Contains(i.Open, c.open) || (c.open == "") != (i.Open == "") {
				t.Errorf("%+v", i)
			}
		})
	}
}

// First what happened, in its order, then what is, then what comes; never what
// will not come.
func TestTimelineIsInOrder(t *testing.T) {
	order := map[string]int{"done": 0, "failed": 0, "now": 1, "": 2}
	for name, f := range map[string]workflow.Facts{"held": held(), "paid": paid(), "rejected": rejected(), "live": live(), "ended": ended(), "removed": removed()} {
		items := drawn.Timeline(workflow.Of(f)).Items
		for i := 1; i < len(items); i++ {
			a, b := items[i-1], items[i]
			if order[a.State] > order[b.State] || order[b.State] == 0 && a.At.ISO > b.At.ISO {
				t.Errorf("%s: %q stands before %q", name, a.Title, b.Title)
			}
		}
	}
	if _, told := find(drawn.Timeline(workflow.Of(removed())), "The paid time ends"); told {
		t.Error("the end of a removed rental is told")
	}
}

// The admin's picture has every step, with what its job last said, and room for
// each line.
func TestPictureHasEveryStep(t *testing.T) {
	const letters = 22 // of a line, in the widest of the usual fonts
	for name, f := range map[string]workflow.Facts{"held": held(), "wished": wished(), "rejected": rejected(), "live": live(), "ended": ended(), "removed": removed()} {
		g := workflow.Of(f)
		v := drawn.Picture(g)
		if len(v.Steps) != len(g.Steps) || v.Title == "" || !strings.Contains(v.Desc, string(g.Rental.State)) {
			t.Errorf("%s: %d steps of %d, %q, %q", name, len(v.Steps), len(g.Steps), v.Title, v.Desc)
		}
		for i, s := range v.Steps {
			if s.Title == "" || s.Word == "" || len(s.Lead+" "+s.Brief) > letters || len(s.Title) > 16 {
				t.Errorf("%s: %+v", name, s)
			}
			if i > 0 && len(s.After) == 0 {
				t.Errorf("%s: %s follows nothing", name, s.ID)
			}
		}
	}
	v := drawn.Picture(workflow.Of(removed()))
	for _, s := range v.Steps {
		if s.ID == "refund" && (s.State != "failed" || s.Tries != "try 14 of 14, given up" || s.Error != "no answer" || !s.After[0].Back) {
			t.Errorf("%+v", s)
		}
	}
}
