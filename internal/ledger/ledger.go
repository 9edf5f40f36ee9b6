package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/grid"
)

// Kind names what happened.
type Kind string

// What can happen. Blocks move where the comment says so, money likewise.
const (
	HoldPlaced        Kind = "hold.placed" // + blocks
	HoldKept          Kind = "hold.kept"
	HoldProlonged     Kind = "hold.prolonged" // while Stripe is asked
	CheckoutBegun     Kind = "checkout.begun"
	CheckoutEnded     Kind = "checkout.ended"
	PaymentProcessing Kind = "payment.processing"
	PaymentFailed     Kind = "payment.failed"
	PaymentBooked     Kind = "payment.booked" // + money
	BlocksRetaken     Kind = "blocks.retaken" // + blocks: a late payment found them free
	RefundMade        Kind = "refund.made"    // - money
	RefundSucceeded   Kind = "refund.succeeded"
	RefundFailed      Kind = "refund.failed" // + money: it did not leave after all
	RentalPaid        Kind = "rental.paid"
	RentalApproved    Kind = "rental.approved"
	RentalLive        Kind = "rental.live"
	RentalEnded       Kind = "rental.ended"
	RentalExtended    Kind = "rental.extended"
	RentalRenewed     Kind = "rental.renewed"
	RentalShortened   Kind = "rental.shortened" // weeks went back
	RentalHidden      Kind = "rental.hidden"
	RentalUnhidden    Kind = "rental.unhidden"
	ContactCorrected  Kind = "contact.corrected"
	RentalClosed      Kind = "rental.closed" // - blocks
	CreativeSubmitted Kind = "creative.submitted"
	CreativeApproved  Kind = "creative.approved"
	CreativeRejected  Kind = "creative.rejected"
	DisputeOpened     Kind = "dispute.opened" // - money
	DisputeWon        Kind = "dispute.won"    // + money
	DisputeLost       Kind = "dispute.lost"
	AreaBlocked       Kind = "area.blocked"   // + blocks
	AreaUnblocked     Kind = "area.unblocked" // - blocks
)

// Actors that are no particular person.
const (
	Buyer  = "buyer"
	System = "system"
	Stripe = "stripe"
)

// Event is one fact. Blocks and Amount are signed; Amount is in minor units
// and is the money that moved, 0 for all but payments and refunds.
type Event struct {
	Kind        Kind
	EffectiveAt time.Time // zero: the moment it is recorded
	Claim       int64     // the rental or blocked area
	Payment     int64
	Refund      int64
	Rect        grid.Rect
	Blocks      int
	Amount      int64
	Currency    string
	Actor       string
	Note        string // what an admin wrote to the buyer; empty: nothing
}

const insert = `
INSERT INTO ledger (kind, effective_at, claim_id, payment_id, refund_id, x, y, w, h, blocks, amount, currency, actor, note)
VALUES (@kind, COALESCE(@effective_at, now()), NULLIF(@claim, 0::bigint), NULLIF(@payment, 0::bigint), NULLIF(@refund, 0::bigint),
        @x, @y, @w, @h, @blocks, @amount, @currency, @actor, @note)`

// Queue adds the events to a batch that the caller sends in its transaction.
func Queue(b *pgx.Batch, events ...Event) {
	for _, e := range events {
		var effective *time.Time
		if !e.EffectiveAt.IsZero() {
			effective = &e.EffectiveAt
		}
		b.Queue(insert, pgx.NamedArgs{
			"kind": e.Kind, "effective_at": effective, "claim": e.Claim, "payment": e.Payment, "refund": e.Refund,
			"x": e.Rect.X, "y": e.Rect.Y, "w": e.Rect.W, "h": e.Rect.H,
			"blocks": e.Blocks, "amount": e.Amount, "currency": e.Currency, "actor": e.Actor, "note": e.Note,
		})
	}
}

// Append writes the events in the transaction of the transition they tell of.
func Append(ctx context.Context, tx pgx.Tx, events ...Event) error {
	b := &pgx.Batch{}
	Queue(b, events...)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("ledger: append: %w", err)
	}
	return nil
}
