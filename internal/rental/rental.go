package rental

import (
	"slices"
	"time"

	"tuval/internal/grid"
	"tuval/internal/money"
)

// State is where a rental stands.
type State string

// The states, in the order of a full life.
const (
	Held   State = "held"
	Paying State = "paying"
	Paid   State = "paid"
	Live   State = "live"
	Ended  State = "ended"
	Closed State = "closed"
)

// Reason says why a rental is closed.
type Reason string

// The reasons.
const (
	Expired       Reason = "expired"
	Cancelled     Reason = "cancelled"
	Unapproved    Reason = "unapproved"
	NotRenewed    Reason = "not_renewed"
	Refunded      Reason = "refunded"
	Removed       Reason = "removed"
	PaymentFailed Reason = "payment_failed"
)

// ID is a rental's row and its claim on blocks.
type ID int64

// Rental is a rental as stored. Instants are the database's; a nil one is not
// set. LeasedUntil is nil exactly when the rental is closed.
type Rental struct {
	ID            ID
	Key           string // what its address carries
	PublicID      string // what the canvas shows; never leads to the rental
	TokenVersion  int
	PersonID      int64
	AccountID     *int64
	Rect          grid.Rect
	State         State
	ClosedReason  *Reason
	PricePerWeek  money.Money
	CreatedAt     time.Time
	CountedFrom   time.Time // when possession without payment began
	Kept          bool
	LeasedUntil   *time.Time
	Email         *string
	GoLiveAt      *time.Time
	PaidAt        *time.Time
	ApproveBy     *time.Time
	LiveFrom      *time.Time
	EndsAt        *time.Time
	ReservedUntil *time.Time
	Hidden        bool
	ClosedAt      *time.Time
}

// Viewer is who asks: the persons a browser session has been, the account it
// is signed in to, and the rental a token was shown for.
type Viewer struct {
	Persons []int64
	Account int64
	Rental  ID
	Admin   bool
}

// OwnedBy reports whether the viewer may see and act on the rental.
func (r Rental) OwnedBy(v Viewer) bool {
	return r.ID == v.Rental && v.Rental != 0 || slices.Contains(v.Persons, r.PersonID) ||
		v.Account != 0 && (r.PersonID == v.Account || r.AccountID != nil && *r.AccountID == v.Account)
}

// Unpaid reports whether the rental is a hold or a checkout.
func (r Rental) Unpaid() bool { return r.State == Held || r.State == Paying }

// Visible reports whether its approved picture shows at this instant.
func (r Rental) Visible(now time.Time) bool {
	return !r.Hidden && r.State != Closed && r.LiveFrom != nil && r.EndsAt != nil &&
		!now.Before(*r.LiveFrom) && now.Before(*r.EndsAt)
}
