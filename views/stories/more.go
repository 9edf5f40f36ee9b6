package main

import (
	"slices"
	"time"

	"github.com/a-h/templ"

	"tuval/views"
)

// moreWeeks are choices with the end that each leads to.
func moreWeeks(perWeek int64, from time.Time) []views.WeeksChoice {
	all := choices(perWeek, 52)
	for i, c := range all {
		end := from.Add(time.Duration(c.Weeks) * 7 * day)
		all[i].Until, all[i].Day = views.MomentOf(end), end.Format("2 Jan 2006")
	}
	return all
}

func extendable(b views.Page) views.RentalPage {
	p := live(b)
	p.More = &views.MoreForm{Verb: "extend", Weeks: 4, PerWeek: usd(960000), Choices: moreWeeks(960000, day0().Add(29*day))}
	return p
}

func renewable(b views.Page) views.RentalPage {
	p := live(b)
	p.Phase, p.Facts.Reserved, p.Left, p.Creative = views.PhaseEnded, at(31*day), left(151_200), nil
	p.More = &views.MoreForm{Verb: "renew", Weeks: 4, PerWeek: usd(960000), Choices: moreWeeks(960000, day0().Add(30*day))}
	return p
}

func withdrawable(b views.Page) views.RentalPage {
	p := withCreative(b, views.PhaseInReview, "pending")
	p.Withdraw = &views.WithdrawPanel{Amount: usd(3840000)}
	p.Access.Correct = &views.ContactForm{Email: p.Access.Email}
	return p
}

// moreStories are a rental's later life: extended, renewed, withdrawn from.
func moreStories() []story {
	open := &views.PayingPanel{CheckoutURL: "https://checkout.example/c/pay/cs_test_2", Weeks: 2, Amount: usd(1920000), OpenUntil: at(20*day + 31*time.Minute)}
	return []story{
		rentalStory("extend", "live, may be extended", extendable),
		rentalStory("extend-open", "an extension's payment page is open", func(b views.Page) views.RentalPage {
			p := extendable(b)
			p.More.Open = open
			return p
		}),
		rentalStory("extend-pending", "an extension's payment is under way", func(b views.Page) views.RentalPage {
			p := extendable(b)
			p.More.Pending = usd(1920000) + " for 2 weeks"
			return p
		}),
		rentalStory("extend-refused", "an extension refused (422)", func(b views.Page) views.RentalPage {
			p := extendable(b)
			p.More.Problems = []views.Problem{{Field: "weeks", Text: "The number of weeks (weeks) must be a whole number from 1 to 52."}}
			return p
		}),
		rentalStory("extend-confirming", "back from the payment page of an extension", func(b views.Page) views.RentalPage {
			p := extendable(b)
			p.More.Open, p.Confirming = open, usd(1920000)+" for 2 weeks"
			return p
		}),
		rentalStory("renew", "ended, may be renewed for 48 h", renewable),
		rentalStory("withdraw", "paid, may be withdrawn, the address be corrected", withdrawable),
		rentalStory("withdraw-refused", "withdrawn without a tick (422)", func(b views.Page) views.RentalPage {
			p := withdrawable(b)
			p.Withdraw.Problems = []views.Problem{{Field: "confirm", Text: "Please tick the box to withdraw."}}
			return p
		}),
		{path: "dev/clock", title: "the clock of development", render: func(b views.Page) templ.Component { return views.DevClock(devClock(b)) }},
	}
}

func devClock(b views.Page) views.DevClockPage {
	b.Path = "/dev/clock"
	return views.DevClockPage{
		Page: b, Now: at(0),
		Steps: []views.ClockStep{{By: "10m", Text: "10 minutes"}, {By: "1h", Text: "1 hour"}, {By: "24h", Text: "1 day"}, {By: "168h", Text: "1 week"}},
		Rentals: []views.ClockRental{
			{ID: "r_1", Place: "6 × 4 at 10, 20", State: "live", Label: "Ends", At: at(14 * day), Left: "14 days 0 h"},
			{ID: "r_2", Place: "1 × 1 at 100, 100", State: "held", Label: "Hold ends", At: at(9 * time.Minute), Left: "9 min 0 s"},
		},
	}
}

// lastPass is a comparison that found things.
func lastPass() views.PassView {
	return views.PassView{
		At: at(3 * day), By: "by itself", Took: "0.4 s", Found: "2 things", Trouble: "Stripe's events (no answer)",
		Findings: []views.FindingRow{
			{Kind: "Events not received", PaymentID: "pay_3kLm81", Done: "booked", Times: "1", FirstSeen: at(3 * day), LastSeen: at(3 * day)},
			{Kind: "End missed", RentalID: rentalID, Done: "settled", Times: "2", FirstSeen: at(2 * day), LastSeen: at(2 * day), Over: at(3 * day)},
		},
	}
}

// actions are what an admin can do with a rental, one of them refused.
func actions() []views.ActionForm {
	payments := []views.Option{{Value: "pay_3kLm81", Label: "4 weeks, " + usd(3840000) + ", of which " + usd(1920000) + " is left"}}
	refused := views.ActionForm{
		Name: "refund", Title: "Refund", About: "Sends money back to the card it came from.", Confirm: "Yes, send the money back", Button: "Refund", Request: "story-refund", Danger: true,
		Payments: payments, Amount: "20,000", Reason: "Agreed by phone", Problems: []views.Problem{{Field: "refund-amount", Text: "At most " + usd(1920000) + " is left to refund."}},
	}
	return slices.Concat([]views.ActionForm{refused}, []views.ActionForm{
		{Name: "hide", Title: "Hide", About: "Takes the picture off the canvas. The paid time runs on.", Confirm: "Yes, hide it", Button: "Hide", Request: "story-hide"},
		{Name: "close", Title: "Remove", About: "Closes the rental for good. Its blocks are free at once.", Confirm: "Yes, remove it", Button: "Remove", Request: "story-close", Danger: true, Choice: "yes"},
	})
}
