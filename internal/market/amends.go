package market

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/fault"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// RefundOrder is an admin's word that money goes back.
type RefundOrder struct {
	Rental  string // its key
	Payment string // its key; empty: the latest one that was paid
	Amount  *int64 // minor units; nil: all that is left
	Reason  string // for the buyer
	By      string // the admin
	Request Request
}

// RefundNow gives back a payment, in part or in full, whatever state its rental
// is in. In full it takes back what the payment bought. It refuses with
// Invalid (amount) above what is left and with Conflict when nothing is.
func (m *Market) RefundNow(ctx context.Context, o RefundOrder) error {
	return m.amend(ctx, "refund", o.Rental, o.Request, word{o.By, o.Reason}, func(ctx context.Context, tx pgx.Tx, a *amendment) error {
		p, err := paidOne(a.payments, o.Payment)
		if err != nil {
			return err
		}
		rs, err := refundable(ctx, tx, p)
		if err != nil {
			return err
		}
		amount, err := howMuch(p, rs, o.Amount)
		if err != nil {
			return err
		}
		unwound, err := m.refund(ctx, tx, p, amount, o.Reason, o.By, a.fx)
		if err != nil {
			return err
		}
		if !unwound || a.rental.State == rental.Closed {
			m.mailRepaid(a.rental, p, amount, payment.LeftOf(p, rs)-amount, o.Reason, a.fx)
			return nil
		}
		return m.takeBack(ctx, tx, a.rental, p, a.payments, a.now, o.By, o.Reason, a.fx)
	})
}

// paidOne is the payment that is named, or the one paid last.
func paidOne(ps []payment.Payment, key string) (payment.Payment, error) {
	var last *payment.Payment
	for i, p := range ps {
		switch {
		case key != "" && p.Key != key:
			continue
		case p.State == payment.Paid && (last == nil || better(p, *last)):
			last = &ps[i]
		case key != "" && p.State != payment.Paid:
			return p, fault.New(fault.Conflict, fmt.Sprintf("This payment is %s: there is nothing to refund.", p.State))
		}
	}
	switch {
	case last != nil:
		return *last, nil
	case key != "":
		return payment.Payment{}, fault.New(fault.NotFound, "There is no such payment.")
	}
	return payment.Payment{}, fault.New(fault.Conflict, "Nothing was paid for this rental: there is nothing to refund.")
}

// refundable lists the refunds of a payment that more of can be refunded:
// what a payer's bank has taken back cannot be sent again.
func refundable(ctx context.Context, tx pgx.Tx, p payment.Payment) ([]payment.Refund, error) {
	ds, err := payment.DisputesOf(ctx, tx, p.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range ds {
		if d.State != payment.DisputeWon && d.Amount.Amount > 0 {
			words := "This payment is disputed: the payer's bank has taken the money back. Answer the dispute at Stripe; once it is won, the money can be refunded."
			if d.State == payment.DisputeLost {
				words = "This payment was disputed and the dispute is lost: the payer has the money already."
			}
			return nil, fault.New(fault.Conflict, words)
		}
	}
	return payment.RefundsOf(ctx, tx, p.ID)
}

// better prefers what bought something to what went back, and then what was
// paid last.
func better(p, than payment.Payment) bool {
	if bought := *p.Outcome == payment.Applied; bought != (*than.Outcome == payment.Applied) {
		return bought
	}
	return !p.PaidAt.Before(*than.PaidAt)
}

func howMuch(p payment.Payment, rs []payment.Refund, want *int64) (int64, error) {
	left := p.Amount
	left.Amount = payment.LeftOf(p, rs)
	switch {
	case left.Amount <= 0:
		return 0, fault.New(fault.Conflict, "This payment has gone back in full already.")
	case want == nil:
		return left.Amount, nil
	case *want < 1:
		return 0, fault.Field("amount", "amount must be at least 1, in minor units")
	case *want > left.Amount:
		return 0, fault.Field("amount", fmt.Sprintf("amount can be at most what is left of this payment: %s", left))
	}
	return *want, nil
}

// Removal is an admin's word that a rental comes off the canvas for good.
type Removal struct {
	Rental string // its key
	Reason string // for the buyer
	By     string // the admin
	Refund bool   // whether what is left of its payments goes back
}

// Remove closes a rental and frees its blocks at once. It refuses with Conflict
// when the rental is closed.
func (m *Market) Remove(ctx context.Context, o Removal) error {
	return m.amend(ctx, "remove", o.Rental, Request{}, word{o.By, o.Reason}, func(ctx context.Context, tx pgx.Tx, a *amendment) error {
		r := a.rental
		if r.State == rental.Closed {
			return fault.New(fault.Conflict, standing(r))
		}
		total := int64(0)
		var err error
		if o.Refund {
			if total, err = m.refundAll(ctx, tx, a.payments, o.Reason, o.By, a.fx); err != nil {
				return err
			}
		}
		move := rental.Move{To: rental.Closed, Reason: rental.Removed, At: a.now}
		closed, err := m.closing(ctx, tx, r, move, o.By, a.fx)
		if err != nil {
			return err
		}
		if r.PaidAt != nil {
			m.mailRemoved(closed, a.payments, total, o.Reason, a.now, a.fx)
		}
		return release(ctx, tx, closed)
	})
}

// Hide takes the picture of a rental off the canvas; its paid time runs on. It
// refuses with Conflict when it is hidden, not paid or closed.
func (m *Market) Hide(ctx context.Context, key, reason, by string) error {
	return m.veil(ctx, key, reason, by, true)
}

// Unhide shows the picture again. It refuses with Conflict when it is not hidden.
func (m *Market) Unhide(ctx context.Context, key, reason, by string) error {
	return m.veil(ctx, key, reason, by, false)
}

func (m *Market) veil(ctx context.Context, key, reason, by string, hidden bool) error {
	return m.amend(ctx, "hide", key, Request{}, word{by, reason}, func(ctx context.Context, tx pgx.Tx, a *amendment) error {
		was := a.rental
		switch {
		case was.State == rental.Closed || was.PaidAt == nil:
			return fault.New(fault.Conflict, "Only the picture of a paid rental can be hidden or shown. "+standing(was))
		case was.Hidden == hidden:
			return fault.New(fault.Conflict, map[bool]string{true: "This picture is hidden already.", false: "This picture is not hidden."}[hidden])
		}
		r := was
		r.Hidden = hidden
		if err := rental.Write(ctx, tx, was, r); err != nil {
			return err
		}
		kind := map[bool]ledger.Kind{true: ledger.RentalHidden, false: ledger.RentalUnhidden}[hidden]
		a.fx.event(about(r, kind, by))
		m.mailVeiled(r, reason, a.fx)
		return nil
	})
}
