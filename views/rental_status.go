package views

// status is the head of a rental's page: what is happening, what is next,
// until when, and what it costs.
type status struct {
	mark, chip  string // state for StateChip, and its words
	title, lead string
	next        string
	until, in   string // what happens at the deadline, before an instant and before a countdown
	at          Moment
	costLabel   string
	cost        string
}

// status puts a phase into words. It is the one place that does.
func (p RentalPage) status() status {
	switch p.Phase {
	case PhaseHeld, PhasePaying, PhaseConfirming, PhaseProcessing:
		return p.unpaid()
	case PhaseAwaitingImage, PhaseInReview, PhaseRejected:
		return p.paid(p.beforeApproval())
	case PhaseScheduled, PhaseLive, PhaseHidden, PhaseEnded:
		return p.paid(p.onCanvas())
	}
	return p.closed()
}

func (p RentalPage) paid(s status) status {
	s.costLabel, s.cost = "Paid", p.Facts.Total
	return s
}

// unpaid is a rental that was not paid yet, whatever is under way.
func (p RentalPage) unpaid() status {
	s := status{until: "Blocks are kept until", in: "Blocks are kept for", at: p.Facts.LeasedUntil, costLabel: "Payment", cost: p.toPay()}
	switch p.Phase {
	case PhasePaying:
		s.mark, s.chip, s.title = "paying", "Payment open", "Finish your payment"
		s.lead = "The payment page is open. Until it is paid nothing is charged, and you can still choose another number of weeks or let the blocks go."
		s.next, s.costLabel = "Pay, or change your mind", "To pay"
	case PhaseConfirming:
		s.mark, s.chip, s.title = "processing", "Confirming", "Confirming your payment"
		s.lead = "The payment page sent you back; its confirmation usually takes a few seconds. This page turns by itself. There is no need to pay again."
		s.next = "Wait a moment"
	case PhaseProcessing:
		s.mark, s.chip, s.title = "processing", "Payment pending", "Your payment is pending"
		s.lead = "Your bank has not confirmed the payment yet, which can take some days. The blocks stay yours meanwhile."
		s.next = "Nothing to do. We write when it is through"
	default:
		s.mark, s.chip, s.title = "held", "Held for you", "These blocks are yours for now"
		s.lead = "Nobody else can take them while the clock runs. Nothing has been charged."
		s.next, s.until, s.in = "Choose how long, then pay", "Hold ends", "Hold ends in"
		s.costLabel, s.cost = "Price", p.Facts.PricePerWeek+" a week"
	}
	return s
}

// label is what stands over the deadline.
func (s status) label(left CountdownView) string {
	if left.Deadline != "" && s.in != "" {
		return s.in
	}
	return s.until
}

func (p RentalPage) toPay() string {
	if p.Paying == nil {
		return p.Facts.Total
	}
	return p.Paying.Amount + " for " + counted(p.Paying.Weeks, "week")
}

// beforeApproval is a paid rental of which no picture was approved yet.
func (p RentalPage) beforeApproval() status {
	s := status{until: "Approved picture needed by", at: p.Facts.ApproveBy}
	switch p.Phase {
	case PhaseInReview:
		s.mark, s.chip, s.title = "review", "In review", "Your picture is in review"
		s.lead = "A person is going to look at it, and we write to you as soon as it is decided. The paid time has not begun: it starts when the picture goes live."
		s.next = "Nothing to do"
	case PhaseRejected:
		s.mark, s.chip, s.title = "rejected", "Needs a change", "Your picture needs a change"
		s.lead = "It was not approved, for the reason below. Your blocks stay yours and what you typed is kept."
		s.next = "Change it and send it again"
	default:
		s.mark, s.chip, s.title = "paid", "Paid", "Paid. Now your picture"
		s.lead = "The place is yours. Send the picture and the link it leads to; a person looks at each before it is shown. Your " +
			counted(p.Facts.Weeks, "week") + " start when it goes live, not before."
		s.next = "Send your picture"
	}
	return s
}

// onCanvas is a rental of which a picture was approved.
func (p RentalPage) onCanvas() status {
	switch p.Phase {
	case PhaseScheduled:
		return status{
			mark: "approved", chip: "Approved", title: "Approved. It goes live by itself",
			lead: "Your picture appears on the canvas at the time you chose, and stays for " + counted(p.Facts.Weeks, "week") + ".",
			next: "Nothing to do", until: "Goes live", in: "Goes live in", at: p.Facts.LiveFrom,
		}
	case PhaseHidden:
		return status{
			mark: "taken", chip: "Hidden", title: "Your picture is hidden for now",
			lead: "We took it off the canvas. The blocks stay yours and the paid time runs on.",
			next: p.why("Nothing to do. We write to you"), until: "Paid until", at: p.Facts.EndsAt,
		}
	case PhaseEnded:
		return status{
			mark: "ended", chip: "Ended", title: "The paid time is over",
			lead: "Your picture has left the canvas. The blocks are kept for you a little longer; after that anybody can take them.",
			next: p.afterEnd(), until: "Reserved for you until", in: "Reserved for you for", at: p.Facts.Reserved,
		}
	}
	s := status{
		mark: "live", chip: "On the canvas", title: "Your picture is on the canvas",
		lead: "Everybody sees it, and its link counts every visit.",
		next: "Nothing to do", until: "Leaves the canvas", at: p.Facts.EndsAt,
	}
	switch p.latest() {
	case "pending":
		s.next = "The new version is in review"
	case "rejected":
		s.next = "The new version needs a change"
	}
	return s
}

// why points at the words of an admin, if there are any.
func (p RentalPage) why(otherwise string) string {
	if p.Facts.Reason == "" {
		return otherwise
	}
	return "Read the reason below"
}

func (p RentalPage) afterEnd() string {
	if p.More == nil {
		return "Nothing is charged by itself"
	}
	return "Renew, or let the blocks go"
}

// latest is the state of the latest picture.
func (p RentalPage) latest() string {
	if p.Creative == nil || p.Creative.Latest == nil {
		return ""
	}
	return p.Creative.Latest.State
}

// closed is a rental that is over, for each reason.
func (p RentalPage) closed() status {
	s := status{mark: "off", chip: "Closed", until: "Closed", at: p.Facts.ClosedAt, costLabel: "Cost", cost: "Nothing was charged"}
	if p.Facts.Total != "" {
		s.costLabel, s.cost = "Paid", p.Facts.Total
	}
	words := map[string][3]string{
		"expired":        {"Your hold is over", "The time ran out before a payment, so the blocks are free for everybody again.", "Choose the blocks again, if they are still free"},
		"cancelled":      {"This rental is cancelled", "You let the blocks go; they are free for everybody again.", "Choose a place on the canvas"},
		"payment_failed": {"The payment did not go through", "Your bank declined it in the end, and the blocks are free for everybody again.", "Choose the blocks again and pay another way"},
		"unapproved":     {"Cancelled: no picture was approved in time", "As agreed, the rental ended, the blocks are free again, and the full amount goes back to you.", "Choose a place on the canvas"},
		"not_renewed":    {"This rental has run its course", "The paid time and the days reserved for renewal are over. Thank you for having been on the canvas.", "Choose a place on the canvas"},
		"refunded":       {"This rental was refunded", "Its payment went back in full, which closes the rental. The blocks are free again.", "Choose a place on the canvas"},
		"removed":        {"This rental was removed", "We took it off the canvas and closed it.", "Read the reason below"},
	}
	w, ok := words[p.ClosedReason]
	if !ok {
		w = [3]string{"This rental is closed", "It is over and nothing can be changed any more.", "Choose a place on the canvas"}
	}
	s.title, s.lead, s.next = w[0], w[1], w[2]
	if p.ClosedReason == "removed" {
		s.next = p.why("Choose a place on the canvas")
	}
	switch {
	case p.late():
		s.lead = "Your payment reached us after the time was over, and by then somebody else had taken some of the blocks. We keep none of it: the full amount goes back to you."
		s.next = "Choose another place"
	case p.ClosedReason == "cancelled" && p.Facts.PaidAt.Set():
		s.lead = "You withdrew before a picture was approved. The blocks are free again and the full amount goes back to you."
	}
	return s
}

// late reports whether money came for a rental that was never paid in time.
func (p RentalPage) late() bool {
	return p.Phase == PhaseClosed && len(p.Refunds) > 0 && !p.Facts.PaidAt.Set()
}

// again reports whether the way on is to choose the same blocks once more.
func (p RentalPage) again() bool {
	return p.Phase == PhaseClosed && !p.late() && (p.ClosedReason == "expired" || p.ClosedReason == "payment_failed" || p.ClosedReason == "cancelled")
}

// reasonShown reports whether the words of an admin belong on the page.
func (p RentalPage) reasonShown() bool {
	return p.Facts.Reason != "" && (p.Phase == PhaseHidden || p.Phase == PhaseClosed)
}

// moneyBack is the state of the refunds as a whole: the worst first.
func (p RentalPage) moneyBack() string {
	worst := ""
	for _, r := range p.Refunds {
		switch {
		case r.State == "failed":
			return "failed"
		case r.State == "pending":
			worst = "pending"
		case worst == "":
			worst = "succeeded"
		}
	}
	return worst
}
