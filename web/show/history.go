package show

import (
	"slices"

	"tuval/internal/ledger"
	"tuval/internal/market"
	"tuval/views"
)

// History is what happened to a rental, the latest first, in its buyer's
// words. Events that say nothing new to a buyer are left out.
func History(d market.Detail) []views.EventView {
	var all []views.EventView
	for _, e := range slices.Backward(d.Events) {
		if text := happened(e, d); text != "" {
			all = append(all, views.EventView{At: views.MomentOf(e.At), Text: text})
		}
	}
	return all
}

func happened(e market.Event, d market.Detail) string {
	currency := d.Rental.PricePerWeek.Currency
	switch e.Kind {
	case ledger.HoldPlaced:
		return Place(d.Rental.Rect, "").Size() + " held"
	case ledger.HoldKept:
		return "Hold kept longer"
	case ledger.CheckoutBegun:
		return "Payment page opened"
	case ledger.CheckoutEnded:
		return "Payment page closed, unpaid"
	case ledger.PaymentProcessing:
		return "Payment under way"
	case ledger.PaymentFailed:
		return "Payment failed"
	case ledger.PaymentBooked:
		return "Paid " + amountOf(e.Amount, currency)
	case ledger.BlocksRetaken:
		return "Blocks taken again: the payment came late, but they were still free"
	case ledger.RefundMade:
		return "Refund of " + amountOf(-e.Amount, currency) + " begun"
	case ledger.RefundSucceeded:
		return "Refund sent"
	case ledger.RefundFailed:
		return "Refund came back from the bank"
	case ledger.RentalApproved:
		return "Start of the paid time fixed"
	case ledger.RentalLive:
		return "On the canvas"
	case ledger.RentalExtended:
		return "Extended"
	case ledger.RentalRenewed:
		return "Renewed"
	case ledger.RentalShortened:
		return "Shortened: the weeks that were refunded came off the end"
	case ledger.RentalHidden:
		return "Hidden by us"
	case ledger.RentalUnhidden:
		return "Shown again"
	case ledger.ContactCorrected:
		return "E-mail address corrected"
	case ledger.RentalEnded:
		return "Paid time over"
	case ledger.RentalClosed:
		return "Closed"
	case ledger.CreativeSubmitted:
		return "Picture sent"
	case ledger.CreativeApproved:
		return "Picture approved"
	case ledger.CreativeRejected:
		return "Picture not approved"
	case ledger.RentalPaid, ledger.HoldProlonged, ledger.DisputeOpened, ledger.DisputeWon, ledger.DisputeLost, ledger.AreaBlocked, ledger.AreaUnblocked:
	}
	return ""
}
