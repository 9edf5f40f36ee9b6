package views

import "github.com/a-h/templ"

// Phase is what a rental looks like to its buyer. It is finer than the states
// of the domain: what a paid rental waits for follows from its pictures and
// its go-live time.
type Phase string

// The phases, in the order in which a rental usually meets them.
const (
	PhaseHeld          Phase = "held"           // may be paid, nothing begun
	PhasePaying        Phase = "paying"         // a checkout session is open
	PhaseConfirming    Phase = "confirming"     // back from the payment page, no word from it yet
	PhaseProcessing    Phase = "processing"     // the payment is pending at the bank
	PhaseAwaitingImage Phase = "awaiting_image" // paid, no picture yet
	PhaseInReview      Phase = "in_review"      // the latest picture is with the moderators
	PhaseRejected      Phase = "rejected"       // the latest picture was refused, none was approved before
	PhaseScheduled     Phase = "scheduled"      // approved, the go-live time is to come
	PhaseLive          Phase = "live"           // on the canvas
	PhaseHidden        Phase = "hidden"         // would be on the canvas, an admin hid it
	PhaseEnded         Phase = "ended"          // paid time over, blocks reserved
	PhaseClosed        Phase = "closed"         // over, for the ClosedReason
)

// RentalPage is everything a buyer sees of a rental. Fill what applies to the
// phase; what is zero is not shown. [Rental] renders it as a page, [RentalBody]
// as the fragment that takes the place of the element #rental.
type RentalPage struct {
	Page
	ID           string // unguessable
	Phase        Phase
	ClosedReason string // expired, cancelled, unapproved, not_renewed, refunded, removed, payment_failed
	Place        PlaceView
	Facts        RentalFacts
	Left         CountdownView // until the deadline of this phase; Deadline "" when there is none

	// Notice is the answer to an action that was refused or changed something:
	// wrong state, hold over, session gone. Problems belong to the forms.
	Notice *NoticeText

	Hold     *HoldPanel    // held and paying: what can still be done with the hold
	Checkout *CheckoutForm // held, and paying to choose other weeks
	Paying   *PayingPanel  // paying: the open session
	Creative *CreativePanel
	Refunds  []RefundView // every refund of the rental, latest first
	Receipt  *Receipt     // once something was paid
	Access   *AccessPanel // how to come back from another browser
	Timeline TimelineView // what happened, what is now, what comes
	History  []EventView  // all that happened, latest first

	More     *MoreForm      // live and ended: extend or renew
	Withdraw *WithdrawPanel // until the first approval
	// Confirming says which payment for more weeks the buyer just came back
	// from, while nothing is known of it: "4,800.00 USD for 2 weeks".
	Confirming string
}

// RentalFacts are what the rental's numbers are, formatted.
type RentalFacts struct {
	PricePerWeek string // "2,400.00 USD"
	Weeks        int    // paid weeks, not those refunded in full
	Total        string // what was or is being paid
	LeasedUntil  Moment // held, paying: until when the blocks are kept
	PaidAt       Moment
	ApproveBy    Moment // paid: no approved picture by then closes the rental
	GoLiveAt     Moment // the chosen go-live time, if any
	LiveFrom     Moment
	EndsAt       Moment
	Reserved     Moment // ended: until when only this buyer can take the blocks
	ClosedAt     Moment
	Reason       string // what an admin wrote: hidden, removed, refunded
	AreaURL      string // live: the public page of the area
}

// NoticeText is a notice with its words.
type NoticeText struct {
	Kind  string // as in NoticeView
	Title string
	Text  string
}

// HoldPanel is what can be done with a hold besides paying.
type HoldPanel struct {
	CanKeep       bool // "keep my hold" is not used up
	KeepText      string
	KeepRequest   string // request_id of the keep form
	CancelRequest string // request_id of the cancel form
	BeginBy       Moment // the last moment to begin a payment
}

// PayingPanel is the open payment.
type PayingPanel struct {
	CheckoutURL string // the payment page; empty when it cannot be resumed
	Weeks       int
	Amount      string
	OpenUntil   Moment // when the payment page closes
}

// CheckoutForm asks how long, to whom and when. Fields: weeks, email,
// go_live_at (hour, UTC, "2006-01-02T15:04"), expected_amount (sent by scripts
// only), request_id.
type CheckoutForm struct {
	Request  string // request_id
	Weeks    int    // the chosen number
	Choices  []WeeksChoice
	Email    string
	GoLiveAt string
	Earliest string // smallest and largest go_live_at, same form
	Latest   string
	Problems []Problem // Field: weeks, email, go_live_at or ""
}

// WeeksChoice is a number of weeks that can be paid at once, with its price.
type WeeksChoice struct {
	Weeks  int
	Total  string // "9,600.00 USD"
	Amount int64  // the same in minor units, for expected_amount
	Until  Moment // of an extension or renewal: the new end
	Day    string // its day, "3 Mar 2027"
}

// CreativePanel is the latest picture of a rental, the one on the canvas if
// that is another, and the form for a new one.
type CreativePanel struct {
	Latest *CreativeView
	Shown  *CreativeView // the approved one, when the latest is another
	Form   *CreativeForm // nil when no picture can be sent now
}

// CreativeView is one revision.
type CreativeView struct {
	Revision int
	State    string // pending, approved, rejected, superseded
	Reason   string // of a rejection
	Image    string // address at 1x and 2x
	Image2x  string
	Link     string
	Host     string // the link's real host
	Title    string
	Alt      string
	SentAt   Moment
}

// CreativeForm asks for a picture. Fields: image, link, title, alt, fit,
// request_id. What was typed is kept; a file cannot be.
type CreativeForm struct {
	Request  string
	Link     string
	Title    string
	Alt      string
	Fit      string // cover or contain
	MaxBytes int64
	Problems []Problem // Field: image, link, title, alt, fit or ""
	Replaces bool      // an approved picture stays up until this one is approved
	// KeepsImage allows an empty file: the picture of the latest revision then
	// goes into the new one.
	KeepsImage bool
}

// RefundView is money on its way back.
type RefundView struct {
	Amount string
	State  string // pending, succeeded, failed
	Why    string // "late payment", "withdrawn", …
	At     Moment
}

// Receipt lists what was paid. It prints alone on a sheet.
type Receipt struct {
	Number string // id of the first payment
	Email  string
	Lines  []ReceiptLine
	Kept   string // paid minus refunded
}

// ReceiptLine is one payment.
type ReceiptLine struct {
	ID      string
	What    string // "4 weeks", "Extension, 2 weeks"
	At      Moment
	Amount  string
	State   string // paid, processing, …
	Refunds []RefundView
}

// AccessPanel tells how to reach the rental from elsewhere.
type AccessPanel struct {
	Email     string
	Confirmed bool         // a link mailed to the address was used
	Correct   *ContactForm // while it was not
}

// EventView is one line of the history.
type EventView struct {
	At   Moment
	Text string
}

// frame is the page's frame with what its forms need.
func (p RentalPage) frame() Page {
	frame := p.Page.private(p.status().title)
	switch {
	case p.Checkout != nil || p.Hold != nil || p.More != nil:
		return frame.htmx().uses("js/checkout.js")
	case p.Withdraw != nil || p.Access != nil && p.Access.Correct != nil:
		return frame.htmx()
	}
	return frame
}

// polls reports whether the page asks for itself until something is known.
func (p RentalPage) polls() bool { return p.Phase == PhaseConfirming || p.Confirming != "" }

func (p RentalPage) path(verb string) templ.SafeURL {
	return templ.URL("/rentals/" + p.ID + "/" + verb)
}

// common are the numbers of weeks shown first; the others wait behind a fold.
func common(weeks int) bool {
	switch weeks {
	case 1, 2, 4, 8, 12, 26, 52:
		return true
	}
	return false
}

// split parts the choices into those shown first, the chosen one among them,
// and the others. A short list is shown whole.
func (f CheckoutForm) split() (first, others []WeeksChoice) {
	if len(f.Choices) <= 8 {
		return f.Choices, nil
	}
	for _, c := range f.Choices {
		if common(c.Weeks) || c.Weeks == f.Weeks {
			first = append(first, c)
		} else {
			others = append(others, c)
		}
	}
	return first, others
}

// chosen is the choice that is ticked; the first when none is.
func (f CheckoutForm) chosen() WeeksChoice {
	for _, c := range f.Choices {
		if c.Weeks == f.Weeks {
			return c
		}
	}
	if len(f.Choices) > 0 {
		return f.Choices[0]
	}
	return WeeksChoice{}
}
