package gateway

import (
	"context"

	"github.com/stripe/stripe-go/v76"
)

// States of a refund at Stripe that are final; others are on their way.
const (
	RefundSucceeded = "succeeded"
	RefundFailed    = "failed"
	RefundCanceled  = "canceled"
)

// Refund is what Stripe says of money sent back.
type Refund struct {
	ID            string
	RefundKey     string // ours, from the metadata; empty for the dashboard's
	PaymentIntent string
	Amount        int64
	Currency      string
	Status        string // also pending, requires_action
	Failure       string
}

// Refund sends money back.
func (c *Client) Refund(ctx context.Context, idempotencyKey, refundKey, intent string, amount int64) (Refund, error) {
	params := &stripe.RefundParams{PaymentIntent: stripe.String(intent), Amount: stripe.Int64(amount)}
	params.Metadata = map[string]string{"refund_id": refundKey}
	params.Context = ctx
	params.SetIdempotencyKey(idempotencyKey)
	r, err := c.refunds.New(params)
	if err != nil {
		return Refund{}, explain("refund", err)
	}
	return refundOf(r), nil
}

// Refunds lists all refunds of a payment intent.
func (c *Client) Refunds(ctx context.Context, intent string) ([]Refund, error) {
	params := &stripe.RefundListParams{PaymentIntent: stripe.String(intent)}
	params.Context = ctx
	params.Limit = stripe.Int64(100)
	var all []Refund
	list := c.refunds.List(params)
	for list.Next() {
		all = append(all, refundOf(list.Refund()))
	}
	if err := list.Err(); err != nil {
		return nil, explain("list refunds", err)
	}
	return all, nil
}

func refundOf(r *stripe.Refund) Refund {
	out := Refund{
		ID: r.ID, RefundKey: r.Metadata["refund_id"], Amount: r.Amount, Currency: string(r.Currency),
		Status: string(r.Status), Failure: string(r.FailureReason),
	}
	if r.PaymentIntent != nil {
		out.PaymentIntent = r.PaymentIntent.ID
	}
	return out
}
