package mailtext

import (
	"tuval/internal/grid"
	"tuval/internal/money"
)

// RefundCause says why money goes back without the buyer having asked.
type RefundCause int

// The causes of a refund that concern a payment, not the rental as a whole.
const (
	LatePayment   RefundCause = iota // the blocks were gone when the money of a first payment came
	SecondPayment                    // the purchase was paid already
	RentalClosed                     // the rental was closed for good: withdrawn, refunded, removed, unapproved
	LateExtension                    // an extension that came when the rental could not go on from its old end
	LateRenewal                      // a renewal that came when others had the blocks
)

// Refund is what the mail about a payment that goes back needs.
type Refund struct {
	RentalURL string
	CanvasURL string
	Receipt   string // the payment's id
	Rect      grid.Rect
	Amount    money.Money
	Cause     RefundCause
}

// Refunded says that a payment could not be kept and goes back in full.
func Refunded(r Refund) Mail {
	l := letter{
		Subject: "Refunded: your payment of " + r.Amount.String(),
		Heading: "Your payment goes back to you",
		Lead:    []string{refundedLead(r.Cause) + " We have not kept any of it: the full amount goes back the way you paid."},
		Facts:   append(refundFacts(r.Amount, r.Rect, r.Receipt), optional(fact{"Rental", r.RentalURL})...),
		Action:  action{"Choose another place", r.CanvasURL},
		After:   []string{refundTime},
	}
	if r.Cause == SecondPayment {
		l.Lead = []string{refundedLead(r.Cause)}
		l.Facts = refundFacts(r.Amount, r.Rect, r.Receipt)
		l.Action = action{"See your rental", r.RentalURL}
	}
	return l.mail()
}

func refundedLead(c RefundCause) string {
	switch c {
	case SecondPayment:
		return "This purchase was paid twice. The first payment counts and your rental is as it was; the second goes back in full the way you paid."
	case RentalClosed:
		return "Your payment reached us when this rental was closed already, so there was nothing left that it could buy."
	case LateExtension:
		return "Your payment for more weeks reached us after the rental had ended, too late to go on from there."
	case LateRenewal:
		return "Your payment for a renewal reached us after the time in which only you could renew, and by then somebody else had taken some of the blocks."
	default:
		return "Your payment reached us after the time of your hold was over, and by then somebody else had taken some of the blocks."
	}
}

const refundTime = "There is nothing to do. Depending on your bank it takes five to ten days until you see the money."

func refundFacts(amount money.Money, rect grid.Rect, receipt string) []fact {
	return append([]fact{{"Refund", amount.String()}, {"Place", place(rect)}}, optional(fact{"Payment", receipt})...)
}

// Repayment is what the mail about money that an operator gives back needs,
// when it changes neither the rental's dates nor its state.
type Repayment struct {
	RentalURL string
	Receipt   string // the payment's id
	Rect      grid.Rect
	Amount    money.Money // what goes back now
	Left      money.Money // what is left of that payment afterwards
	Reason    string      // what the admin wrote; empty when nothing was
	Closed    bool        // the rental is closed, or its time is over
}

// Repaid says that a part of a payment goes back (or, of a closed rental, all
// that was left) and how much of it is left.
func Repaid(r Repayment) Mail {
	l := letter{
		Subject: "Refunded: " + r.Amount.String() + " of your payment",
		Heading: "A part of your payment goes back to you",
		Lead:    []string{"We have refunded a part of your payment, the way you paid. Your rental goes on as it is; its dates do not change."},
		Quote:   r.Reason,
		Facts:   append(refundFacts(r.Amount, r.Rect, r.Receipt), fact{"Left of the payment", r.Left.String()}),
		Action:  action{"See your rental", r.RentalURL},
		After:   []string{refundTime},
	}
	switch {
	case r.Left.Amount == 0:
		l.Heading = "The rest of your payment goes back to you"
		l.Lead = []string{"We have refunded what was left of this payment, the way you paid. That is all of it."}
	case r.Closed:
		l.Lead = []string{"We have refunded a part of your payment, the way you paid. Nothing else changes."}
	}
	if line(r.Reason) != "" {
		l.Lead = append(l.Lead, "The reason:")
	}
	return l.mail()
}

// CancelCause says why a rental was closed.
type CancelCause int

// The causes a closed rental is mailed about.
const (
	Withdrawn    CancelCause = iota // by the buyer, before the first approval
	Unapproved                      // no approved picture within the approval window
	ClosedByUs                      // refunded or removed by an admin
	RefundedAway                    // the first payment was refunded in full elsewhere
)

// Cancellation is what the mail about a closed rental needs.
type Cancellation struct {
	RentalURL string
	Rect      grid.Rect
	Cause     CancelCause
	Reason    string       // what the admin wrote, for ClosedByUs
	Refund    *money.Money // what goes back; nil when nothing does
	Receipt   string       // the payment's id
}

// Cancelled says that a paid rental is closed, why, and what is refunded.
func Cancelled(c Cancellation) Mail {
	l := letter{
		Subject: "Cancelled: your place on the canvas",
		Heading: "Your rental is cancelled",
		Lead:    []string{cancelLead(c.Cause)},
		Facts:   []fact{{"Place", place(c.Rect)}},
		Action:  action{"See your rental", c.RentalURL},
	}
	if c.Cause == ClosedByUs && c.Reason != "" {
		l.Lead, l.Quote = []string{"We closed this rental. The reason:"}, c.Reason
	}
	if c.Refund != nil {
		l.Facts = refundFacts(*c.Refund, c.Rect, c.Receipt)
		l.After = []string{refundTime}
	}
	return l.mail()
}

func cancelLead(c CancelCause) string {
	switch c {
	case Withdrawn:
		return "You withdrew your rental before a picture was approved. The blocks are free again."
	case Unapproved:
		return "No picture was approved within the time for it. As agreed, the rental is cancelled and its blocks are free again."
	case ClosedByUs:
		return "We closed this rental."
	default:
		return "The payment of this rental was refunded in full, which closes it. Its blocks are free again."
	}
}
