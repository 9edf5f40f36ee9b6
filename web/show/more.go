package show

import (
	"time"

	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/views"
)

// week is what one week of paid time lasts.
const week = 7 * 24 * time.Hour

// afterPayment adds what its owner can do with a rental that is paid.
func afterPayment(p *views.RentalPage, d market.Detail, c Context) {
	switch {
	case d.MayExtend():
		p.More = moreForm("extend", payment.Extend, d, c)
	case d.MayRenew():
		p.More = moreForm("renew", payment.Renew, d, c)
	}
	if d.MayWithdraw() {
		p.Withdraw = &views.WithdrawPanel{Amount: leftToRefund(d).String()}
	}
	if p.Access != nil && d.MayCorrectContact() {
		p.Access.Correct = &views.ContactForm{Email: p.Access.Email}
	}
	if open := d.OpenPayment(); c.Confirming && open != nil {
		p.Confirming = forWeeks(*open)
	}
}

// moreForm offers weeks at today's price, each with the end that it leads to.
func moreForm(verb string, purpose payment.Purpose, d market.Detail, c Context) *views.MoreForm {
	f := &views.MoreForm{Verb: verb, Weeks: usualWeeks, PerWeek: d.ExtraPrice.String()}
	from := d.Now
	if purpose == payment.Extend {
		from = *d.Rental.EndsAt
	}
	for _, choice := range weeksAt(d.ExtraPrice, c.Rules) {
		end := from.Add(time.Duration(choice.Weeks) * week)
		choice.Until, choice.Day = views.MomentOf(end), end.UTC().Format("2 Jan 2006")
		f.Choices = append(f.Choices, choice)
	}
	for _, p := range d.Payments {
		if p.State == payment.Processing && p.Purpose == purpose {
			f.Pending = forWeeks(p)
		}
	}
	if open := d.OpenPayment(); open != nil && open.Purpose == purpose {
		f.Weeks = open.Weeks
		f.Open = &views.PayingPanel{
			CheckoutURL: *open.SessionURL, Weeks: open.Weeks, Amount: open.Amount.String(), OpenUntil: views.MomentOf(open.ExpiresAt),
		}
	}
	return f
}

// weeksAt are the numbers of weeks that can be paid at once at that price.
func weeksAt(perWeek money.Money, rules market.Rules) []views.WeeksChoice {
	var all []views.WeeksChoice
	for weeks := 1; weeks <= market.MaxWeeks; weeks++ {
		amount, ok := money.Total(perWeek.Amount, weeks)
		if ok && rules.Currency.Chargeable(amount) {
			all = append(all, views.WeeksChoice{Weeks: weeks, Total: rules.Currency.Of(amount).String(), Amount: amount})
		}
	}
	return all
}

func forWeeks(p payment.Payment) string {
	return p.Amount.String() + " for " + Counted(p.Weeks, "week")
}

// leftToRefund is what is left of all payments.
func leftToRefund(d market.Detail) money.Money {
	sum := money.Money{Currency: d.Rental.PricePerWeek.Currency}
	for _, p := range d.Payments {
		if p.State == payment.Paid {
			sum.Amount += max(payment.LeftOf(p, d.Refunds), 0)
		}
	}
	return sum
}
