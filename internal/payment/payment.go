package payment

import (
	"time"

	"tuval/internal/money"
	"tuval/internal/rental"
)

// State is where a payment stands.
type State string

// The states of a payment.
const (
	Open       State = "open"
	Processing State = "processing"
	Paid       State = "paid"
	Expired    State = "expired"
	Failed     State = "failed"
)

// Purpose says what the weeks are for.
type Purpose string

// The purposes.
const (
	New    Purpose = "new"
	Extend Purpose = "extend"
	Renew  Purpose = "renew"
)

// Outcome says what was made of money that arrived.
type Outcome string

// The outcomes.
const (
	Applied  Outcome = "applied"
	Returned Outcome = "returned"
)

// ID is a payment's row.
type ID int64

// Payment is a payment as stored. ExpiresAt is our deadline for its session.
// EndedAt is when it stopped being wanted: it came to its end, or, of an open
// one, the buyer gave its page up.
type Payment struct {
	ID             ID
	Key            string
	Rental         rental.ID
	Purpose        Purpose
	Weeks          int
	Amount         money.Money
	State          State
	Outcome        *Outcome
	IdempotencyKey string
	Email          string
	GoLiveAt       *time.Time
	CreatedAt      time.Time
	ExpiresAt      time.Time
	SessionID      *string
	SessionURL     *string
	PaymentIntent  *string
	EndedAt        *time.Time
	PaidAt         *time.Time
	UnwoundAt      *time.Time // when it had gone back in full
}

// Counts reports whether the payment's weeks are the rental's: they were given
// and have not gone back.
func (p Payment) Counts() bool {
	return p.Outcome != nil && *p.Outcome == Applied && p.UnwoundAt == nil
}

// Unfinished reports whether money for it may still come without being late.
func (p Payment) Unfinished() bool { return p.State == Open || p.State == Processing }

// SamePurchase reports whether both offer the same: purpose, weeks, address,
// start and price.
func (p Payment) SamePurchase(q Payment) bool {
	sameStart := p.GoLiveAt == nil && q.GoLiveAt == nil || p.GoLiveAt != nil && q.GoLiveAt != nil && p.GoLiveAt.Equal(*q.GoLiveAt)
	return p.Purpose == q.Purpose && p.Weeks == q.Weeks && p.Email == q.Email && p.Amount == q.Amount && sameStart
}

// RepeatFor is how long a call that got no answer may be repeated with its
// key. Later its session is given up: nobody was ever shown its address.
const RepeatFor = 45 * time.Second

// RefundState is where a refund stands.
type RefundState string

// The states of a refund.
const (
	RefundPending   RefundState = "pending"
	RefundSucceeded RefundState = "succeeded"
	RefundFailed    RefundState = "failed"
)

// RefundID is a refund's row.
type RefundID int64

// Refund is money on its way back.
type Refund struct {
	ID             RefundID
	Key            string
	Payment        ID
	Amount         money.Money
	State          RefundState
	Reason         string
	IdempotencyKey string
	StripeID       *string
	CreatedAt      time.Time
	CalledAt       *time.Time
	SettledAt      *time.Time
}

// Reasons of refunds that the market makes by itself.
const (
	ReasonBlocksGone  = "blocks_gone"
	ReasonSecond      = "second_payment"
	ReasonClosed      = "rental_closed"
	ReasonUnapproved  = "unapproved"
	ReasonAtDashboard = "dashboard"
	ReasonTooLate     = "too_late"
	ReasonWithdrawn   = "withdrawn"
)
