package mailtext

import (
	"tuval/internal/grid"
	"tuval/internal/money"
)

// RefundCause says why money goes back without the buyer having asked.
type RefundCause int

// The causes of a refund that concern a payment, not the rental as a whole.
const (
	LatePayment   RefundCause = iota // the blocks were gone when the money came
	SecondPayment                    // the purchase was paid already
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
		Lead: []string{
			"Your payment reached us after the time of your hold was over, and by then somebody else had taken some of the blocks. We have not kept any of it: the full amount goes back to the card you paid with.",
		},
		Facts:  refundFacts(r.Amount, r.Rect, r.Receipt),
		Action: action{"Choose another place", r.CanvasURL},
		After:  []string{refundTime},
	}
	if r.Cause == SecondPayment {
		l.Lead = []string{"This purchase was paid twice. The first payment counts and your rental is as it was; the second goes back in full to the card you paid with."}
		l.Action = action{"See your rental", r.RentalURL}
	}
	return l.mail()
}

const refundTime = "There is nothing to do. Depending on your bank it takes five to ten days until you see the money."

func refundFacts(amount money.Money, rect grid.Rect, receipt string) []fact {
	return []fact{{"Refund", amount.String()}, {"Place", place(rect)}, {"Payment", receipt}}
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
