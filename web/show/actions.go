package show

import (
	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/views"
)

// Actions are what an admin can do with a rental as it is now. key makes a
// request id.
func Actions(d market.Detail, key func() string) []views.ActionForm {
	var all []views.ActionForm
	if payments := refundable(d); len(payments) > 0 {
		all = append(all, views.ActionForm{
			Name: "refund", Title: "Refund", Button: "Refund", Danger: true, Request: key(), Payments: payments, Payment: payments[0].Value,
			About: "Sends money back to where it came from. Once all of the first payment has gone back the rental is closed; once all of an extension " +
				"or renewal has, its weeks come off the end.",
			Confirm: "Yes, send the money back",
		})
	}
	switch r := d.Rental; {
	case r.State == rental.Closed || r.Unpaid():
	case r.Hidden:
		all = append(all, views.ActionForm{
			Name: "unhide", Title: "Show again", Button: "Show again", Request: key(), Confirm: "Yes, show it again",
			About: "Puts the picture back onto the canvas until its time is over.",
		})
	default:
		all = append(all, views.ActionForm{
			Name: "hide", Title: "Hide", Button: "Hide", Request: key(), Confirm: "Yes, hide it",
			About: "Takes the picture off the canvas at once, or keeps it off. The blocks stay the buyer's and the paid time runs on.",
		})
	}
	if d.Rental.State != rental.Closed {
		all = append(all, views.ActionForm{
			Name: "close", Title: "Remove", Button: "Remove", Danger: true, Request: key(), Confirm: "Yes, remove it for good", Choice: "yes",
			About: "Closes the rental for good. Its picture is gone and its blocks are free at once.",
		})
	}
	return all
}

// refundable are the payments of which something is left, the latest first.
func refundable(d market.Detail) []views.Option {
	var all []views.Option
	for i := len(d.Payments) - 1; i >= 0; i-- {
		p := d.Payments[i]
		n := payment.LeftOf(p, d.Refunds)
		if p.State != payment.Paid || n <= 0 {
			continue
		}
		words := bought(p) + ", " + p.Amount.String()
		if n < p.Amount.Amount {
			words += ", of which " + amountOf(n, p.Amount.Currency) + " is left"
		}
		all = append(all, views.Option{Value: p.Key, Label: words})
	}
	return all
}

// disputes are what payers' banks asked back.
func disputes(d market.Detail) []views.DisputeRow {
	var all []views.DisputeRow
	for _, x := range d.Disputes {
		row := views.DisputeRow{ID: x.ID, Amount: x.Amount.String(), State: string(x.State), Reason: words(x.Reason), Opened: views.MomentOf(x.OpenedAt), Closed: Moment(x.ClosedAt)}
		for _, p := range d.Payments {
			if p.ID == x.Payment {
				row.Payment = p.Key
			}
		}
		all = append(all, row)
	}
	return all
}
