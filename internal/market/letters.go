package market

import (
	"time"

	"tuval/internal/creative"
	"tuval/internal/ident"
	"tuval/internal/mailtext"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// What the buyer is told, a fact once. The words are in package mailtext.

// The kinds of mails that later events can take the sense from.
const (
	uploadReminder = "upload reminder"
	live           = "live"
	endsSoon       = "ends soon"
	ended          = "ended"
	renewalCloses  = "renewal closes"
)

// mailReceipt tells what a payment bought.
func (m *Market) mailReceipt(was, r rental.Rental, p payment.Payment, now time.Time, fx *effects) {
	url := m.rentalURL(r)
	switch p.Purpose {
	case payment.New:
		fx.mail(r, "paid", p.Key, mailtext.Paid(mailtext.Receipt{
			RentalURL: url, Receipt: p.Key, Rect: r.Rect, Weeks: p.Weeks, Amount: p.Amount, PaidAt: now, ApproveBy: *r.ApproveBy, GoLiveAt: p.GoLiveAt,
		}))
	case payment.Extend:
		fx.mail(r, "extended", p.Key, mailtext.Extended(mailtext.Extension{
			RentalURL: url, Receipt: p.Key, Rect: r.Rect, Weeks: p.Weeks, Amount: p.Amount, PaidAt: now, OldEnd: *was.EndsAt, NewEnd: *r.EndsAt,
			Returned: was.State != rental.Live, Hidden: r.Hidden,
		}))
	case payment.Renew:
		fx.mail(r, "renewed", p.Key, mailtext.Renewed(mailtext.Renewal{
			RentalURL: url, Receipt: p.Key, Rect: r.Rect, Weeks: p.Weeks, Amount: p.Amount, PaidAt: now, LiveFrom: now, EndsAt: *r.EndsAt, Hidden: r.Hidden,
		}))
	}
}

// mailGivenBack tells of a payment that buys nothing and goes back whole.
func (m *Market) mailGivenBack(r rental.Rental, p payment.Payment, why string, fx *effects) {
	r.Email = &p.Email
	fx.mail(r, "refunded", p.Key, mailtext.Refunded(mailtext.Refund{
		RentalURL: m.rentalURL(r), CanvasURL: m.canvasURL(), Receipt: p.Key, Rect: r.Rect, Amount: p.Amount, Cause: refundCause(p.Purpose, why),
	}))
}

func refundCause(purpose payment.Purpose, why string) mailtext.RefundCause {
	switch {
	case why == payment.ReasonSecond:
		return mailtext.SecondPayment
	case why == payment.ReasonClosed:
		return mailtext.RentalClosed
	case purpose == payment.Extend:
		return mailtext.LateExtension
	case purpose == payment.Renew:
		return mailtext.LateRenewal
	}
	return mailtext.LatePayment
}

// mailNotPaid tells that the bank did not make a payment.
func (m *Market) mailNotPaid(r rental.Rental, p payment.Payment, now time.Time, fx *effects) {
	f := mailtext.Failure{
		RentalURL: m.rentalURL(r), CanvasURL: m.canvasURL(), Receipt: p.Key, Rect: r.Rect, Amount: p.Amount, Purpose: mailtext.Purpose(p.Purpose),
	}
	if r.EndsAt != nil {
		f.EndsAt, f.Ended = *r.EndsAt, !now.Before(*r.EndsAt)
	}
	if r.ReservedUntil != nil && now.Before(*r.ReservedUntil) {
		f.RenewBy = *r.ReservedUntil
	}
	fx.mail(r, "payment failed", p.Key, mailtext.NotPaid(f))
}

// mailUpload reminds of the picture that is not approved yet.
func (m *Market) mailUpload(r rental.Rental, cs []creative.Creative, ps []payment.Payment, w reminder, fact string, fx *effects) {
	u := mailtext.Upload{RentalURL: m.rentalURL(r), Rect: r.Rect, ApproveBy: *r.ApproveBy, Refund: paidFor(ps), Last: w.stale == 0}
	if len(cs) > 0 {
		u.Missing, u.Title = mailtext.InReview, cs[0].Title
		if cs[0].State == creative.Rejected {
			u.Missing, u.Reason = mailtext.WasRejected, *cs[0].Reason
		}
	}
	fx.mailUntil(r, r.ApproveBy.Add(-w.stale), uploadReminder, fact, mailtext.UploadReminder(u))
}

// paidFor is what the payments that count have cost.
func paidFor(ps []payment.Payment) money.Money {
	var sum money.Money
	for _, p := range ps {
		if p.Counts() {
			sum = money.Money{Amount: sum.Amount + p.Amount.Amount, Currency: p.Amount.Currency}
		}
	}
	return sum
}

// mailLive tells that a chosen go-live time has come. What has ended already
// is not told of.
func (m *Market) mailLive(r rental.Rental, now time.Time, fx *effects) {
	if now.Before(*r.EndsAt) {
		fx.mailTitled(r, *r.EndsAt, live, r.Key, func(title string) mailtext.Mail {
			return mailtext.Live(mailtext.Showing{RentalURL: m.rentalURL(r), Title: title, Rect: r.Rect, LiveFrom: *r.LiveFrom, EndsAt: *r.EndsAt})
		})
	}
}

func (m *Market) mailEndsSoon(r rental.Rental, w reminder, fact string, fx *effects) {
	fx.mailTitled(r, r.EndsAt.Add(-w.stale), endsSoon, fact, func(title string) mailtext.Mail {
		return mailtext.EndsSoon(mailtext.Ending{
			RentalURL: m.rentalURL(r), Title: title, Rect: r.Rect, EndsAt: *r.EndsAt, RenewBy: r.EndsAt.Add(m.rules.RenewalWindow),
			PerWeek: m.today(r), Last: w.stale == 0,
		})
	})
}

// mailEnded tells that the time is over and can be renewed, as long as it can.
func (m *Market) mailEnded(r rental.Rental, now time.Time, fx *effects) {
	if now.Before(*r.ReservedUntil) {
		fx.mailTitled(r, *r.ReservedUntil, ended, anew(r), func(title string) mailtext.Mail { return mailtext.Ended(m.end(r, title)) })
	}
}

func (m *Market) mailClosesSoon(r rental.Rental, fact string, fx *effects) {
	fx.mailTitled(r, *r.ReservedUntil, renewalCloses, fact, func(title string) mailtext.Mail { return mailtext.RenewalCloses(m.end(r, title)) })
}

func (m *Market) end(r rental.Rental, title string) mailtext.End {
	return mailtext.End{RentalURL: m.rentalURL(r), Title: title, Rect: r.Rect, EndedAt: *r.EndsAt, RenewBy: *r.ReservedUntil, PerWeek: m.today(r)}
}

// today is what a week costs now, or nothing when it cannot be sold.
func (m *Market) today(r rental.Rental) money.Money {
	p, err := m.price(r.Rect)
	if err != nil {
		return money.Money{}
	}
	return p
}

// mailOver tells of an end that nobody was told of in time to renew.
func (m *Market) mailOver(r rental.Rental, fx *effects) {
	fx.mailTitled(r, time.Time{}, "over", anew(r), func(title string) mailtext.Mail {
		return mailtext.Over(mailtext.Finish{
			RentalURL: m.rentalURL(r), CanvasURL: m.canvasURL(), Title: title, Rect: r.Rect, EndedAt: *r.EndsAt, FreeSince: *r.LeasedUntil, Untold: true,
		})
	})
}

// mailCancelled tells that a rental is closed and what goes back.
func (m *Market) mailCancelled(r rental.Rental, ps []payment.Payment, total int64, why mailtext.CancelCause, words string, fx *effects) {
	fx.mail(r, "cancelled", r.Key, mailtext.Cancelled(mailtext.Cancellation{
		RentalURL: m.rentalURL(r), Rect: r.Rect, Cause: why, Reason: words, Receipt: lastPaid(ps), Refund: some(r, total),
	}))
}

func (m *Market) mailRemoved(r rental.Rental, ps []payment.Payment, total int64, why string, now time.Time, fx *effects) {
	fx.mail(r, "removed", r.Key, mailtext.Removed(mailtext.Removal{
		RentalURL: m.rentalURL(r), Rect: r.Rect, Reason: why, RemovedAt: now, Refund: some(r, total), Receipt: lastPaid(ps),
	}))
}

// some is an amount in the rental's currency, or nil for nothing.
func some(r rental.Rental, amount int64) *money.Money {
	if amount == 0 {
		return nil
	}
	return &money.Money{Amount: amount, Currency: r.PricePerWeek.Currency}
}

func (m *Market) mailShortened(was, r rental.Rental, p payment.Payment, words string, now time.Time, fx *effects) {
	purpose := mailtext.ForExtension
	if p.Purpose == payment.Renew {
		purpose = mailtext.ForRenewal
	}
	fx.mail(r, "shortened", p.Key, mailtext.Shortened(mailtext.Shortening{
		RentalURL: m.rentalURL(r), Receipt: p.Key, Rect: r.Rect, Purpose: purpose, Weeks: p.Weeks, Refund: p.Amount, Reason: words,
		OldEnd: *was.EndsAt, NewEnd: *r.EndsAt, Ended: !now.Before(*r.EndsAt), RenewBy: r.EndsAt.Add(m.rules.RenewalWindow),
	}))
}

// mailRepaid tells of money that goes back while the rental stays as it is.
func (m *Market) mailRepaid(r rental.Rental, p payment.Payment, amount, left int64, words string, fx *effects) {
	back, rest := p.Amount, p.Amount
	back.Amount, rest.Amount = amount, left
	fx.mail(r, "repaid", anew(r), mailtext.Repaid(mailtext.Repayment{
		RentalURL: m.rentalURL(r), Receipt: p.Key, Rect: r.Rect, Amount: back, Left: rest, Reason: words,
		Closed: r.State == rental.Closed || r.State == rental.Ended,
	}))
}

func (m *Market) mailVeiled(r rental.Rental, why string, fx *effects) {
	h := mailtext.Hiding{RentalURL: m.rentalURL(r), Rect: r.Rect, Reason: why}
	if r.EndsAt != nil {
		h.EndsAt = *r.EndsAt
	}
	text := mailtext.Unhidden
	if r.Hidden {
		text = mailtext.Hidden
	}
	fx.mailTitled(r, time.Time{}, "hidden", anew(r), func(title string) mailtext.Mail {
		h.Title = title
		return text(h)
	})
}

// anew names a fact that can come again, and each time is told by the one
// transaction that makes it so.
func anew(r rental.Rental) string { return r.Key + ":" + ident.New() }

func (m *Market) canvasURL() string { return m.rules.BaseURL + "/" }
