package drawn

import (
	"slices"

	"tuval/internal/rental"
	"tuval/internal/workflow"
	"tuval/views"
)

// Timeline is a rental's life for its buyer: what happened, what is now, what
// comes next. Steps that tell a buyer nothing are left out, and so is what
// never comes.
func Timeline(g workflow.Graph) views.TimelineView {
	var v views.TimelineView
	for _, s := range inTime(g.Steps) {
		tell := story(s.Kind)
		if tell == nil || s.State == workflow.Skipped {
			continue
		}
		if item := tell(g, s); item.Title != "" {
			v.Items = append(v.Items, item)
		}
	}
	return v
}

// inTime puts what happened first, in its order, then what is under way, then
// what comes.
func inTime(steps []workflow.Step) []workflow.Step {
	return slices.SortedStableFunc(slices.Values(steps), func(a, b workflow.Step) int {
		if turn(a) == 0 && turn(b) == 0 {
			return a.At.Compare(*b.At)
		}
		return turn(a) - turn(b)
	})
}

func turn(s workflow.Step) int {
	switch {
	case s.At != nil && untold(s).State != workflow.Now:
		return 0
	case s.State == workflow.Waiting:
		return 2
	}
	return 1
}

// story is how a kind of step is told; nothing for those that are not.
func story(k workflow.Kind) func(workflow.Graph, workflow.Step) views.TimelineItem {
	switch k {
	case workflow.Hold:
		return hold
	case workflow.Pay:
		return pay
	case workflow.Image:
		return picture
	case workflow.Review:
		return review
	case workflow.Replace:
		return replace
	case workflow.GoLive:
		return goLive
	case workflow.Extend, workflow.Renew:
		return more
	case workflow.End:
		return end
	case workflow.Release:
		return release
	case workflow.Refund:
		return refund
	case workflow.Receipt, workflow.Remind:
	}
	return nil
}

// item begins what is told of a step: its state as the buyer meets it, and its
// instant.
func item(s workflow.Step, title string) views.TimelineItem {
	i := views.TimelineItem{Title: title, State: map[workflow.State]string{
		workflow.Done: "done", workflow.Undone: "done", workflow.Now: "now", workflow.Failed: "failed",
	}[s.State]}
	switch {
	case s.At != nil:
		i.At = views.MomentOf(*s.At)
	case s.Due != nil:
		i.At = views.MomentOf(*s.Due)
	}
	return i
}

// untold hides from the buyer that a job of ours fails: it is still under way.
func untold(s workflow.Step) workflow.Step {
	if s.Tries != nil && s.Tries.Dead && s.State == workflow.Failed && s.At == nil {
		s.State = workflow.Now
	}
	return s
}

func hold(_ workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	if s.State != workflow.Now {
		return item(s, "You chose your blocks")
	}
	s.At = nil
	i := item(s, "These blocks are held for you")
	i.Lead = "until"
	return i
}

func pay(g workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	switch s.State {
	case workflow.Done:
		i := item(s, "You paid for "+counted(s.Weeks, "week"))
		i.Note = s.Amount.String()
		return i
	case workflow.Undone:
		i := item(s, "Your payment arrived")
		i.Note = s.Amount.String() + ", which goes back to you"
		if g.Rental.PaidAt == nil {
			i.Note = s.Amount.String() + ", too late for these blocks, so it goes back to you"
		}
		return i
	case workflow.Now:
		i := item(s, "You pay")
		i.Lead = "until"
		if s.Note != "" && !g.Rental.Unpaid() {
			return item(s, "We ask whether your payment arrived")
		}
		if s.Note == "the bank moves the money" {
			i.Title = "Your bank moves the money"
		}
		return i
	case workflow.Failed:
		return item(s, "Your bank did not make the payment")
	case workflow.Waiting, workflow.Skipped:
	}
	return item(s, "You choose how long, and pay")
}

func picture(g workflow.Graph, s workflow.Step) views.TimelineItem {
	switch s.State {
	case workflow.Done:
		return item(s, "You sent your picture")
	case workflow.Now:
		s.At = nil
		i := item(s, "You send your picture")
		if s.Note != "" {
			i.Title = "You send another picture"
		}
		i.Lead, i.Note = "approved at the latest on", "If no picture is approved by then, everything goes back to you."
		return i
	case workflow.Waiting, workflow.Skipped, workflow.Failed, workflow.Undone:
	}
	return item(s, "You send your picture")
}

func review(_ workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	switch s.State {
	case workflow.Done:
		return item(s, "Your picture was approved")
	case workflow.Now:
		i := item(s, "A person looks at your picture")
		i.Lead, i.Note = "at the latest on", "Usually much sooner. We write to you when it is decided."
		return i
	case workflow.Failed:
		i := item(s, "Your picture was not approved")
		i.Note = s.Note
		return i
	case workflow.Waiting, workflow.Skipped, workflow.Undone:
	}
	return item(s, "A person looks at your picture")
}

func replace(_ workflow.Graph, s workflow.Step) views.TimelineItem {
	switch s.State {
	case workflow.Done:
		return item(s, "Your new picture was approved")
	case workflow.Failed:
		return item(s, "Your new picture was not approved")
	case workflow.Now:
		i := item(s, "A person looks at your new picture")
		i.Note = "The old one stays up until then."
		return i
	case workflow.Waiting, workflow.Skipped, workflow.Undone:
	}
	return views.TimelineItem{}
}

func goLive(g workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	switch {
	case s.State == workflow.Done:
		return item(s, "Your picture went live")
	case s.State == workflow.Undone:
		i := item(s, "Your picture went live")
		i.Note = "We hide it at the moment."
		return i
	case s.State == workflow.Now:
		return item(s, "Your picture goes live by itself")
	}
	i := item(s, "Your picture goes live")
	switch {
	case s.Due != nil:
		i.Lead, i.Open = "as you wished, on", "Not fixed before the picture is approved."
	case !g.Rental.Unpaid():
		i.Open = "As soon as it is approved: the date is not fixed yet."
	}
	return i
}

func more(_ workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	what := map[workflow.Kind]string{workflow.Extend: "extended by ", workflow.Renew: "renewed for "}[s.Kind]
	switch {
	case s.State == workflow.Done:
		i := item(s, "You "+what+counted(s.Weeks, "week"))
		i.Note = s.Amount.String()
		return i
	case s.State == workflow.Undone:
		i := item(s, "You paid for "+counted(s.Weeks, "more week"))
		i.Note = s.Amount.String() + ", which goes back to you"
		return i
	case s.State == workflow.Failed:
		return item(s, "Your bank did not pay for more weeks")
	case s.State == workflow.Now && s.Weeks > 0:
		i := item(s, "You pay for "+counted(s.Weeks, "more week"))
		i.Lead = "until"
		return i
	case s.State == workflow.Now:
		i := item(s, "You can renew")
		i.Lead, i.Note = "until", "Nothing is charged by itself."
		return i
	}
	return views.TimelineItem{} // what might be: the end says so
}

func end(g workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	switch {
	case s.State == workflow.Done:
		return item(s, "The paid time was over")
	case s.State == workflow.Now:
		i := item(s, "On the canvas")
		if g.Rental.Hidden {
			i.Title = "The paid time runs"
		}
		i.Lead = "until"
		return i
	}
	i := item(s, "The paid time ends")
	switch {
	case s.Due != nil && !s.Fixed:
		i.Open = "Not fixed before the picture is approved."
	case s.Due == nil && g.Weeks > 0:
		i.Open = "After " + counted(g.Weeks, "week") + " on the canvas: the date is not fixed yet."
	}
	return i
}

func release(g workflow.Graph, s workflow.Step) views.TimelineItem {
	if s.State == workflow.Done {
		i := item(s, "The blocks are free again")
		i.Note = closedWords(g.Rental)
		return i
	}
	switch g.Rental.State {
	case rental.Live, rental.Ended:
		s.State = workflow.Waiting
		i := item(s, "The blocks become free for others")
		i.Lead, i.Note = "unless you renew, on", "After the end they stay reserved for you until then."
		return i
	case rental.Held, rental.Paying, rental.Paid, rental.Closed:
	}
	return views.TimelineItem{}
}

// closedWords says why a rental is over.
func closedWords(r rental.Rental) string {
	if r.ClosedReason == nil {
		return ""
	}
	switch *r.ClosedReason {
	case rental.Expired:
		return "They were not paid in time."
	case rental.Cancelled:
		return "You let them go."
	case rental.PaymentFailed:
		return "The payment failed."
	case rental.Unapproved:
		return "No picture was approved in time."
	case rental.NotRenewed:
		return "The time to renew is over."
	case rental.Refunded:
		return "Your payment went back to you."
	case rental.Removed:
		return "We closed the rental."
	}
	return ""
}

func refund(_ workflow.Graph, s workflow.Step) views.TimelineItem {
	s = untold(s)
	amount := s.Amount.String()
	switch s.State {
	case workflow.Done:
		return item(s, amount+" went back to you")
	case workflow.Failed:
		i := item(s, "The refund of "+amount+" is outstanding")
		i.Note = "It did not go through. We know, and write to you."
		return i
	case workflow.Now, workflow.Waiting, workflow.Skipped, workflow.Undone:
	}
	i := item(s, amount+" is on its way back to you")
	i.Note = "Banks may need some days."
	return i
}
