package mailtext

import (
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// Extension is what the receipt for an extension needs.
type Extension struct {
	RentalURL string
	Receipt   string // the payment's id
	Rect      grid.Rect
	Weeks     int
	Amount    money.Money
	PaidAt    time.Time
	OldEnd    time.Time
	NewEnd    time.Time
	Returned  bool // booked after the old end: the picture was away and is back
	Hidden    bool // the picture is hidden by an admin and stays so
}

// Extended writes the receipt for an extension: from which end to which.
func Extended(e Extension) Mail {
	lead := "The weeks are added to the end, so nothing of the time you had is lost. Your picture stays where it is; there is nothing to do."
	if e.Returned {
		lead = "The payment reached us after the old end. The weeks are counted from that end all the same, and the picture is back without another review."
	}
	if e.Hidden {
		lead = "The weeks are added to the end. Your picture is hidden and stays hidden until we show it again; the time runs on meanwhile."
	}
	return letter{
		Subject: "Extended: your place on the canvas until " + day(e.NewEnd),
		Heading: "Paid. Your rental is longer now.",
		Lead:    []string{lead},
		Facts: []fact{
			{"Place", place(e.Rect)},
			{"Added", weeks(e.Weeks)},
			{"Old end", at(e.OldEnd)},
			{"New end", at(e.NewEnd)},
			{"Amount", e.Amount.String()},
			{"Paid", at(e.PaidAt)},
			{"Receipt", e.Receipt},
		},
		Action: action{"See your rental", e.RentalURL},
		After:  []string{receiptNote},
	}.mail()
}

const receiptNote = "This mail is your receipt. The page of your rental has one that prints well."

// Renewal is what the receipt for a renewal needs.
type Renewal struct {
	RentalURL string
	Receipt   string // the payment's id
	Rect      grid.Rect
	Weeks     int
	Amount    money.Money
	PaidAt    time.Time
	LiveFrom  time.Time
	EndsAt    time.Time
	Hidden    bool // the picture is hidden by an admin and stays so
}

// Renewed writes the receipt for a renewal: live from when, and until when.
func Renewed(r Renewal) Mail {
	lead := "Your picture is on the canvas again, without another review. There is nothing to do; you can change it at any time."
	if r.Hidden {
		lead = "Your rental goes on. Your picture is hidden and stays hidden until we show it again; the time runs on meanwhile."
	}
	return letter{
		Subject: "Renewed: your place on the canvas until " + day(r.EndsAt),
		Heading: "Paid. The place is yours again.",
		Lead:    []string{lead},
		Facts: []fact{
			{"Place", place(r.Rect)},
			{"Time", weeks(r.Weeks)},
			{"Live from", at(r.LiveFrom)},
			{"Until", at(r.EndsAt)},
			{"Amount", r.Amount.String()},
			{"Paid", at(r.PaidAt)},
			{"Receipt", r.Receipt},
		},
		Action: action{"See your rental", r.RentalURL},
		After:  []string{receiptNote},
	}.mail()
}

// Shortening is what the mail about weeks that are taken back needs: an
// extension or a renewal was refunded in full.
type Shortening struct {
	RentalURL string
	Receipt   string // the payment's id
	Rect      grid.Rect
	Purpose   Purpose // ForExtension or ForRenewal
	Weeks     int
	Refund    money.Money
	Reason    string // what the admin wrote; empty when nothing was
	OldEnd    time.Time
	NewEnd    time.Time
	Ended     bool      // the new end is reached: the picture is off the canvas
	RenewBy   time.Time // until when it can be renewed after the new end
}

// Shortened says that an extension or a renewal was refunded and when the
// rental ends now.
func Shortened(s Shortening) Mail {
	what := "extension"
	if s.Purpose == ForRenewal {
		what = "renewal"
	}
	l := letter{
		Subject: "Refunded: your " + what + " of " + weeks(s.Weeks),
		Heading: "Your rental ends earlier now",
		Lead:    []string{"The " + what + " of this rental was refunded in full, and its weeks come off the end. The rest of your rental stays as it is."},
		Quote:   s.Reason,
		Facts: append([]fact{
			{"Place", place(s.Rect)},
			{"Refund", s.Refund.String()},
			{"Taken off", weeks(s.Weeks)},
			{"Old end", at(s.OldEnd)},
			{"New end", at(s.NewEnd)},
		}, optional(fact{"Payment", s.Receipt})...),
		Action: action{"See your rental", s.RentalURL},
		After:  []string{refundTime},
	}
	if s.Ended {
		l.Heading = "Your rental has ended"
		l.Lead = []string{"The " + what + " of this rental was refunded in full. Without its weeks the rental is over, and the picture is off the canvas."}
	}
	if !s.RenewBy.IsZero() {
		l.After = append(l.After, "After the end only you can take the blocks until "+at(s.RenewBy)+", by renewing the rental.")
	}
	return l.mail()
}
