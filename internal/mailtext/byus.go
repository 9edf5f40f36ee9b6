package mailtext

import (
	"fmt"
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// Removal is what the mail about a rental that was taken down needs.
type Removal struct {
	RentalURL string
	Rect      grid.Rect
	Reason    string // what the admin wrote, for the buyer
	RemovedAt time.Time
	Refund    *money.Money // what goes back; nil when nothing does
	Receipt   string       // the payment's id; empty when there are several
}

// Removed says that a rental was taken down, why, and whether money goes back.
func Removed(r Removal) Mail {
	l := letter{
		Subject: "Removed: your place on the canvas",
		Heading: "We took your rental down",
		Lead:    []string{"We have ended this rental before its time and freed its blocks. It cannot be extended or renewed. The reason:"},
		Quote:   r.Reason,
		Facts:   []fact{{"Place", place(r.Rect)}, {"Removed", at(r.RemovedAt)}},
		Action:  action{"See your rental", r.RentalURL},
		After:   []string{"Nothing is refunded."},
	}
	if line(r.Reason) == "" {
		l.Lead = []string{"We have ended this rental before its time and freed its blocks. It cannot be extended or renewed."}
	}
	if r.Refund != nil {
		l.Facts = append(l.Facts, fact{"Refund", r.Refund.String()})
		l.After = []string{refundTime}
	}
	l.Facts = append(l.Facts, optional(fact{"Payment", r.Receipt})...)
	return l.mail()
}

// Hiding is what the mails about a hidden picture need.
type Hiding struct {
	RentalURL string
	Title     string
	Rect      grid.Rect
	Reason    string    // what the admin wrote, for the buyer
	EndsAt    time.Time // zero when the paid time has not begun
}

// Hidden says that a picture is not shown for now, and why.
func Hidden(h Hiding) Mail {
	l := letter{
		Subject: "Hidden: " + quoted(h.Title),
		Heading: "Your picture is not shown for now",
		Lead:    []string{fmt.Sprintf("We have hidden %s: nobody sees it on the canvas at present.", quoted(h.Title))},
		Quote:   h.Reason,
		Facts:   hidingFacts(h),
		Action:  action{"See your rental", h.RentalURL},
		After:   []string{"The blocks stay yours, and the time you paid for runs on meanwhile. You can send another picture or link from the page of your rental. We write when it is shown again."},
	}
	if line(h.Reason) != "" {
		l.Lead = []string{l.Lead[0] + " The reason:"}
	}
	return l.mail()
}

// Unhidden says that a hidden picture is shown again.
func Unhidden(h Hiding) Mail {
	l := letter{
		Subject: "Shown again: " + quoted(h.Title),
		Heading: "Your picture is no longer hidden",
		Lead:    []string{fmt.Sprintf("We have put %s back: it is shown for all the time of your rental that is left.", quoted(h.Title))},
		Quote:   h.Reason,
		Facts:   hidingFacts(h),
		Action:  action{"See your rental", h.RentalURL},
	}
	if line(h.Reason) != "" {
		l.Lead = append(l.Lead, "What we noted:")
	}
	return l.mail()
}

func hidingFacts(h Hiding) []fact {
	facts := []fact{{"Place", place(h.Rect)}}
	if !h.EndsAt.IsZero() {
		facts = append(facts, fact{"Until", at(h.EndsAt)})
	}
	return facts
}
