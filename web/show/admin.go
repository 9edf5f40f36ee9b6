package show

import (
	"slices"
	"strconv"
	"time"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/views"
	"tuval/web/lists"
)

// RentalRow is one rental of the admin's list.
func RentalRow(r rental.Rental, paid lists.Paid) views.RentalRow {
	row := views.RentalRow{ID: r.Key, State: string(r.State), Place: size(r.Rect), Made: views.MomentOf(r.CreatedAt), Deadline: Moment(next(r))}
	if r.ClosedReason != nil {
		row.Reason = string(*r.ClosedReason)
	}
	if r.Email != nil {
		row.Email = *r.Email
	}
	if paid.Weeks > 0 {
		row.Weeks, row.Amount = strconv.Itoa(paid.Weeks), amountOf(paid.Amount, r.PricePerWeek.Currency)
	}
	return row
}

// AdminRental is everything stored about a rental.
func AdminRental(frame views.AdminPage, d market.Detail, canvas string, anomalies []market.Anomaly) views.AdminRentalPage {
	r := d.Rental
	p := views.AdminRentalPage{
		AdminPage: frame, ID: r.Key, State: string(r.State), Place: Place(r.Rect, canvas),
		Facts: adminFacts(d), Payments: paymentRows(d), Creatives: AdminCreatives(d), Ledger: ledgerRows(d), Disputes: disputes(d),
	}
	if r.ClosedReason != nil {
		p.Reason = string(*r.ClosedReason)
	}
	for _, a := range anomalies {
		if a.Rental == r.ID {
			p.Anomalies = append(p.Anomalies, Anomaly(a))
		}
	}
	return p
}

// next is when time moves a rental on.
func next(r rental.Rental) *time.Time {
	switch {
	case r.State == rental.Paid && r.LiveFrom != nil:
		return r.LiveFrom
	case r.State == rental.Paid:
		return r.ApproveBy
	case r.State == rental.Live:
		return r.EndsAt
	}
	return r.LeasedUntil
}

func adminFacts(d market.Detail) []views.Fact {
	r := d.Rental
	facts := []views.Fact{
		{Name: "Made", Value: views.MomentOf(r.CreatedAt).Text},
		{Name: "Price a week", Value: r.PricePerWeek.String()},
		{Name: "Weeks", Value: strconv.Itoa(d.Weeks)},
		{Name: "Public id", Value: r.PublicID},
	}
	if r.Email != nil {
		facts = append(facts, views.Fact{Name: "E-mail", Value: *r.Email + confirmed(r)})
	}
	for _, at := range []struct {
		name string
		at   views.Moment
	}{
		{"Leased until", Moment(r.LeasedUntil)},
		{"Paid", Moment(r.PaidAt)},
		{"Approve by", Moment(r.ApproveBy)},
		{"Go-live wish", Moment(r.GoLiveAt)},
		{"Live from", Moment(r.LiveFrom)},
		{"Ends", Moment(r.EndsAt)},
		{"Reserved until", Moment(r.ReservedUntil)},
		{"Closed", Moment(r.ClosedAt)},
	} {
		if at.at.Set() {
			facts = append(facts, views.Fact{Name: at.name, Value: at.at.Text})
		}
	}
	if r.Hidden {
		facts = append(facts, views.Fact{Name: "Hidden", Value: "yes"})
	}
	return facts
}

func confirmed(r rental.Rental) string {
	if r.AccountID != nil {
		return " (confirmed)"
	}
	return " (not confirmed)"
}

func paymentRows(d market.Detail) []views.PaymentRow {
	var rows []views.PaymentRow
	for _, p := range d.Payments {
		row := views.PaymentRow{
			ID: p.Key, RentalID: d.Rental.Key, Purpose: string(p.Purpose), Weeks: strconv.Itoa(p.Weeks), Amount: p.Amount.String(),
			State: string(p.State), Made: views.MomentOf(p.CreatedAt), PaidAt: Moment(p.PaidAt), Refunds: RefundRows(p.ID, d.Refunds),
		}
		if p.SessionID != nil {
			row.Session = *p.SessionID
		}
		rows = append(rows, row)
	}
	return rows
}

// RefundRows are the refunds of one payment.
func RefundRows(id payment.ID, all []payment.Refund) []views.RefundRow {
	var rows []views.RefundRow
	for _, r := range all {
		if r.Payment == id {
			rows = append(rows, views.RefundRow{
				ID: r.Key, Amount: r.Amount.String(), State: string(r.State), Reason: refundWhy(r.Reason), Made: views.MomentOf(r.CreatedAt),
			})
		}
	}
	return rows
}

// PaymentRow is one payment of the admin's list.
func PaymentRow(p lists.Payment, refunds []payment.Refund) views.PaymentRow {
	return views.PaymentRow{
		ID: p.Key, RentalID: p.RentalKey, Purpose: p.Purpose, Weeks: strconv.Itoa(p.Weeks), Amount: amountOf(p.Amount, p.Currency),
		State: p.State, Made: views.MomentOf(p.CreatedAt), PaidAt: Moment(p.PaidAt), Session: p.Session, Refunds: RefundRows(payment.ID(p.ID), refunds),
	}
}

func ledgerRows(d market.Detail) []views.LedgerRow {
	var rows []views.LedgerRow
	for i, e := range slices.Backward(d.Events) {
		row := views.LedgerRow{Position: strconv.Itoa(i + 1), Kind: string(e.Kind), At: views.MomentOf(e.At), Actor: e.Actor}
		if e.Blocks != 0 {
			row.Blocks = signed(e.Blocks)
		}
		if e.Amount != 0 {
			row.Amount = amountOf(e.Amount, d.Rental.PricePerWeek.Currency)
		}
		rows = append(rows, row)
	}
	return rows
}

func signed(n int) string {
	if n > 0 {
		return "+" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// remedyWords are those of the button that does something about an anomaly.
func remedyWords(r market.Remedy) string {
	switch r {
	case market.RetryJob:
		return "Try again"
	case market.RefundAgain:
		return "Refund again"
	case market.NoRemedy:
	}
	return ""
}

// Anomaly is one finding.
func Anomaly(a market.Anomaly) views.AnomalyRow {
	return views.AnomalyRow{
		ID: a.Key, Kind: a.Kind, Message: a.Message, RentalID: a.RentalKey, PaymentID: a.PaymentKey, RefundID: a.RefundKey,
		Remedy: remedyWords(a.Remedy), FirstSeen: views.MomentOf(a.FirstSeen),
		LastSeen: views.MomentOf(a.LastSeen), Action: a.Action, Done: a.Done, Resolved: Moment(a.Resolved),
	}
}

// BlockedArea is one area that is kept out of the market.
func BlockedArea(b market.Blocked) views.BlockedArea {
	return views.BlockedArea{ID: b.Key, Place: Place(b.Rect, ""), Note: b.Note, Until: views.MomentOf(b.Until)}
}
