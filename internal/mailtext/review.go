package mailtext

import (
	"fmt"
	"time"

	"tuval/internal/grid"
)

// Approval is what the mail about an approved picture needs.
type Approval struct {
	RentalURL   string
	Title       string // of the picture, as the buyer typed it
	Rect        grid.Rect
	LiveFrom    time.Time
	EndsAt      time.Time
	Scheduled   bool // LiveFrom is a chosen time still to come
	Replacement bool // a picture was shown before; the dates do not change
}

// Approved says that a picture was approved and when it is shown.
func Approved(a Approval) Mail {
	l := letter{
		Subject: "Live: " + quoted(a.Title),
		Heading: "Approved. Your picture is on the canvas.",
		Lead:    []string{fmt.Sprintf("We approved %s. Everybody sees it now.", quoted(a.Title))},
		Facts:   []fact{{"Place", place(a.Rect)}, {"Live since", at(a.LiveFrom)}, {"Until", at(a.EndsAt)}},
		Action:  action{"See your rental", a.RentalURL},
		After:   []string{replaceNote},
	}
	switch {
	case a.Replacement:
		l.Subject = "Replaced: " + quoted(a.Title)
		l.Heading = "Approved. The new picture is up."
		l.Lead = []string{fmt.Sprintf("We approved %s. It took the place of the earlier one; the dates stay as they were.", quoted(a.Title))}
	case a.Scheduled:
		l.Subject = "Approved: " + quoted(a.Title)
		l.Heading = "Approved. Your picture goes live as planned."
		l.Lead = []string{fmt.Sprintf("We approved %s. It appears by itself at the time you chose.", quoted(a.Title))}
		l.Facts[1].Label = "Goes live"
	}
	return l.mail()
}

// Rejection is what the mail about a rejected picture needs.
type Rejection struct {
	RentalURL  string
	Title      string
	Reason     string    // what the moderator wrote, for the buyer
	ApproveBy  time.Time // until when another picture can be approved; zero when one was approved before
	StillShown bool      // an earlier approved picture stays up
}

// Rejected says why a picture was not approved and what can be done.
func Rejected(r Rejection) Mail {
	return letter{
		Subject: "Please change " + quoted(r.Title),
		Heading: "This picture was not approved",
		Lead:    []string{fmt.Sprintf("We could not approve %s. The reason:", quoted(r.Title))},
		Quote:   r.Reason,
		Action:  action{"Change it and send it again", r.RentalURL},
		After:   rejectedAfter(r),
	}.mail()
}

func rejectedAfter(r Rejection) []string {
	if r.StillShown {
		return []string{"The picture that was approved before stays on the canvas. What you typed is kept on the page of your rental."}
	}
	after := []string{"Your blocks stay yours, and what you typed is kept on the page of your rental."}
	if !r.ApproveBy.IsZero() {
		after = append(after, "If no picture is approved by "+at(r.ApproveBy)+", the rental is cancelled and the full amount refunded by itself.")
	}
	return after
}
