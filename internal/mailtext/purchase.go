package mailtext

import (
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// Receipt is what the mail after a first payment needs.
type Receipt struct {
	RentalURL string
	Receipt   string // the payment's id, as the rental's page shows it
	Rect      grid.Rect
	Weeks     int
	Amount    money.Money
	PaidAt    time.Time
	ApproveBy time.Time  // no approved picture by then: cancelled and refunded
	GoLiveAt  *time.Time // the chosen go-live time, if one was chosen
	HasImage  bool       // a picture waits for review already
}

// Paid writes the receipt and says what is needed next. Dates of showing are
// not promised here: they are fixed by the first approval.
func Paid(r Receipt) Mail {
	return letter{
		Subject: "Paid: your place on the canvas",
		Heading: "Paid. The place is yours.",
		Lead:    []string{receiptNext(r)},
		Facts: []fact{
			{"Place", place(r.Rect)},
			{"Time", weeks(r.Weeks) + ", counted from the moment your picture goes live"},
			{"Go-live", goLive(r.GoLiveAt)},
			{"Amount", r.Amount.String()},
			{"Paid", at(r.PaidAt)},
			{"Receipt", r.Receipt},
		},
		Action: action{receiptAction(r.HasImage), r.RentalURL},
		After: []string{
			"If no picture is approved by " + at(r.ApproveBy) + ", the rental is cancelled and the full amount refunded by itself.",
			receiptNote,
		},
	}.mail()
}

func receiptNext(r Receipt) string {
	if r.HasImage {
		return "Your picture waits for its review. We write as soon as it is decided; there is nothing to do until then."
	}
	return "One thing is left to do: send us the picture and the link it should lead to. A person looks at each picture before it is shown."
}

func receiptAction(hasImage bool) string {
	if hasImage {
		return "See your rental"
	}
	return "Add your picture"
}

func goLive(t *time.Time) string {
	if t == nil {
		return "as soon as the picture is approved"
	}
	return at(*t) + ", or at the approval if that comes later"
}
