package mailtext

import (
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// Purpose says what a payment buys, in the words that payments are kept with.
type Purpose string

// The purposes of a payment.
const (
	ForNew       Purpose = "new"
	ForExtension Purpose = "extend"
	ForRenewal   Purpose = "renew"
)

// Failure is what the mail about a payment that a bank did not make needs.
type Failure struct {
	RentalURL string
	CanvasURL string
	Receipt   string // the payment's id
	Rect      grid.Rect
	Amount    money.Money // what was not charged
	Purpose   Purpose
	EndsAt    time.Time // of an extension: the end that stays, also when it has passed
	Ended     bool      // of an extension: that end has passed
	RenewBy   time.Time // until when it can be renewed; zero when it cannot (any more)
}

// NotPaid says that a bank did not make a payment, that nothing was charged,
// and what became of the rental.
func NotPaid(f Failure) Mail {
	l := letter{
		Subject: "Not paid: your place on the canvas",
		Heading: "Your payment did not arrive",
		Lead:    []string{notPaidLead(f)},
		Facts:   append([]fact{{"Place", place(f.Rect)}, {"Not charged", f.Amount.String()}}, optional(fact{"Payment", f.Receipt})...),
		After:   []string{"A card is the surest way to pay here: you see at once whether it worked."},
	}
	switch {
	case f.Purpose == ForExtension && !f.Ended:
		l.Action = action{"Extend it again", f.RentalURL}
	case f.Purpose != ForNew && !f.RenewBy.IsZero():
		l.Action = action{"Renew it", f.RentalURL}
	default:
		l.Facts = append(l.Facts, optional(fact{"Rental", f.RentalURL})...)
		l.Action = action{"Choose blocks again", f.CanvasURL}
	}
	switch f.Purpose {
	case ForExtension:
		l.Subject = "Not paid: your extension"
	case ForRenewal:
		l.Subject = "Not paid: your renewal"
	}
	return l.mail()
}

func notPaidLead(f Failure) string {
	const nothing = "Your bank did not make the payment, so nothing was charged. "
	switch {
	case f.Purpose == ForExtension && !f.Ended:
		return nothing + "Your rental goes on as it was and ends on " + at(f.EndsAt) + "; until then you can extend it again."
	case f.Purpose == ForExtension && !f.RenewBy.IsZero():
		return nothing + "Without the extension your rental ended on " + at(f.EndsAt) + ". Until " + at(f.RenewBy) + " only you can take its blocks, by renewing it."
	case f.Purpose == ForExtension:
		return nothing + "Without the extension your rental ended on " + at(f.EndsAt) + ", and its blocks are free again."
	case f.Purpose == ForRenewal && !f.RenewBy.IsZero():
		return nothing + "Until " + at(f.RenewBy) + " only you can take the blocks of this rental; you can try again until then."
	case f.Purpose == ForRenewal:
		return nothing + "The time in which only you could renew this rental is over, and its blocks are free again."
	default:
		return nothing + "The blocks are free again, for you as for everybody."
	}
}
