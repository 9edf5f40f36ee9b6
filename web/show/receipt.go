package show

import (
	"slices"

	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/views"
)

// refundWhy says why money goes back.
func refundWhy(reason string) string {
	switch reason {
	case payment.ReasonBlocksGone:
		return "the blocks were gone when the payment arrived"
	case payment.ReasonSecond:
		return "paid a second time"
	case payment.ReasonClosed:
		return "the rental was closed"
	case payment.ReasonUnapproved:
		return "no picture was approved in time"
	case payment.ReasonAtDashboard:
		return "by us"
	case payment.ReasonTooLate:
		return "the new end would have been over already"
	case payment.ReasonWithdrawn:
		return "withdrawn before a picture was approved"
	}
	return reason // the words of an admin
}

func refundView(r payment.Refund) views.RefundView {
	at := r.CreatedAt
	if r.SettledAt != nil {
		at = *r.SettledAt
	}
	return views.RefundView{Amount: r.Amount.String(), State: string(r.State), Why: refundWhy(r.Reason), At: views.MomentOf(at)}
}

// refunds are all refunds of a rental, the latest first.
func refunds(d market.Detail) []views.RefundView {
	var all []views.RefundView
	for _, r := range slices.Backward(d.Refunds) {
		if !overtaken(d, r) {
			all = append(all, refundView(r))
		}
	}
	return all
}

// overtaken reports whether a refund failed because the money went back in
// another way before: nothing is outstanding of it.
func overtaken(d market.Detail, r payment.Refund) bool {
	for _, p := range d.Payments {
		if p.ID == r.Payment {
			return r.State == payment.RefundFailed && payment.LeftOf(p, d.Refunds) == 0
		}
	}
	return false
}

// receipt lists the money that arrived, nil if none did.
func receipt(d market.Detail) *views.Receipt {
	kept, any := paidTotal(d)
	if !any {
		return nil
	}
	r := &views.Receipt{}
	for _, p := range d.Payments {
		if p.State != payment.Paid {
			continue
		}
		line := views.ReceiptLine{ID: p.Key, What: bought(p), At: Moment(p.PaidAt), Amount: p.Amount.String(), State: string(p.State)}
		for _, back := range d.Refunds {
			if back.Payment != p.ID {
				continue
			}
			line.Refunds = append(line.Refunds, refundView(back))
			if back.State != payment.RefundFailed {
				kept.Amount -= back.Amount.Amount
			}
		}
		if r.Number == "" {
			r.Number, r.Email = p.Key, p.Email
		}
		r.Lines = append(r.Lines, line)
	}
	r.Kept = kept.String()
	return r
}

// bought says what a payment is for.
func bought(p payment.Payment) string {
	weeks := Counted(p.Weeks, "week")
	switch p.Purpose {
	case payment.Extend:
		return "Extension, " + weeks
	case payment.Renew:
		return "Renewal, " + weeks
	case payment.New:
	}
	return weeks
}

func amountOf(n int64, currency string) string {
	return money.Money{Amount: n, Currency: currency}.String()
}
