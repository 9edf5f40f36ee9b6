package market

import (
	"time"

	"tuval/internal/creative"
	"tuval/internal/mailtext"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

func (m *Market) mailReceipt(_, r rental.Rental, p payment.Payment, now time.Time, fx *effects) {
	if p.Purpose == payment.New {
		fx.mail(r, "paid", p.Key, mailtext.Paid(mailtext.Receipt{
			RentalURL: m.rentalURL(r), Receipt: p.Key, Rect: r.Rect, Weeks: p.Weeks, Amount: p.Amount,
			PaidAt: now, ApproveBy: *r.ApproveBy, GoLiveAt: p.GoLiveAt,
		}))
	}
}

func (m *Market) mailGivenBack(r rental.Rental, p payment.Payment, why string, fx *effects) {
	cause := mailtext.LatePayment
	if why == payment.ReasonSecond {
		cause = mailtext.SecondPayment
	}
	r.Email = &p.Email
	fx.mail(r, "refunded", p.Key, mailtext.Refunded(mailtext.Refund{
		RentalURL: m.rentalURL(r), CanvasURL: m.rules.BaseURL + "/", Receipt: p.Key, Rect: r.Rect, Amount: p.Amount, Cause: cause,
	}))
}

func (m *Market) mailUnapproved(r rental.Rental, ps []payment.Payment, total int64, fx *effects) {
	m.mailCancelled(r, ps, total, mailtext.Unapproved, "", fx)
}

func (m *Market) mailCancelled(r rental.Rental, ps []payment.Payment, total int64, why mailtext.CancelCause, words string, fx *effects) {
	c := mailtext.Cancellation{RentalURL: m.rentalURL(r), Rect: r.Rect, Cause: why, Reason: words, Receipt: lastPaid(ps)}
	if total > 0 {
		back := r.PricePerWeek
		back.Amount = total
		c.Refund = &back
	}
	fx.mail(r, "cancelled", r.Key, mailtext.Cancelled(c))
}

func (m *Market) mailLive(r rental.Rental, now time.Time, fx *effects)                         {}
func (m *Market) mailEnded(r rental.Rental, now time.Time, fx *effects)                        {}
func (m *Market) mailOver(r rental.Rental, fx *effects)                                        {}
func (m *Market) mailUpload(r rental.Rental, cs []creative.Creative, fact string, fx *effects) {}
func (m *Market) mailEndsSoon(r rental.Rental, fact string, fx *effects)                       {}
func (m *Market) mailClosesSoon(r rental.Rental, fact string, fx *effects)                     {}

func (m *Market) mailNotPaid(r rental.Rental, p payment.Payment, fx *effects) {
	fx.mail(r, "payment failed", p.Key, notPaid(r, m.rentalURL(r)))
}

func (m *Market) mailShortened(was, r rental.Rental, p payment.Payment, fx *effects) {}

func (m *Market) mailRefunded(r rental.Rental, p payment.Payment, amount int64, why string, fx *effects) {
}

func (m *Market) mailRemoved(r rental.Rental, ps []payment.Payment, total int64, why string, fx *effects) {
	m.mailCancelled(r, ps, total, mailtext.ClosedByUs, why, fx)
}
func (m *Market) mailVeiled(r rental.Rental, why string, now time.Time, fx *effects) {}
