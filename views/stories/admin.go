package main

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"tuval/internal/workflow"
	"tuval/internal/workflow/drawn"
	"tuval/views"
)

func adminBase(b views.Page, path string) views.AdminPage {
	b.Path, b.Admin, b.SignedIn = path, true, true
	return views.AdminPage{Page: b, Email: "mod@tuval.example", Reviews: 3, Anomalies: 1}
}

func adminStories() []story {
	return []story{
		{path: "admin/login", title: "sign in", render: func(b views.Page) templ.Component {
			return views.AdminLogin(views.AdminLoginPage{Page: b})
		}},
		{path: "admin/login-refused", title: "sign in refused", status: 422, render: func(b views.Page) templ.Component {
			return views.AdminLogin(views.AdminLoginPage{Page: b, Email: "mod@tuval.example", Problems: []views.Problem{{Text: "E-mail address and password do not belong together."}}})
		}},
		{path: "admin/reviews", title: "the queue", render: func(b views.Page) templ.Component { return views.Reviews(reviews(b)) }},
		{path: "admin/reviews-empty", title: "nothing waits", render: func(b views.Page) templ.Component {
			a := adminBase(b, "/admin/reviews")
			a.Reviews = 0
			return views.Reviews(views.ReviewsPage{AdminPage: a})
		}},
		{path: "admin/review-conflict", title: "changed since you looked (409)", status: 409, render: func(b views.Page) templ.Component {
			return views.OutcomePage(adminBase(b, "/admin/reviews"), views.ReviewOutcome{CreativeID: "c_2", Revision: 3, State: "conflict"})
		}},
		{path: "admin/rentals", title: "all rentals", render: func(b views.Page) templ.Component { return views.Rentals(rentals(b)) }},
		{path: "admin/rental", title: "one rental", render: func(b views.Page) templ.Component { return views.AdminRental(adminRental(b)) }},
		{path: "admin/payments", title: "payments", render: func(b views.Page) templ.Component {
			return views.Payments(views.PaymentsPage{AdminPage: adminBase(b, "/admin/payments"), State: "paid", Rows: payments(), Next: "/admin/payments?after=x"})
		}},
		{path: "admin/anomalies", title: "findings", render: func(b views.Page) templ.Component {
			return views.Anomalies(views.AnomaliesPage{AdminPage: adminBase(b, "/admin/anomalies"), All: true, Rows: anomalies(), Pass: lastPass()})
		}},
		{path: "admin/anomalies-none", title: "no findings", render: func(b views.Page) templ.Component {
			return views.Anomalies(views.AnomaliesPage{AdminPage: adminBase(b, "/admin/anomalies")})
		}},
		{path: "admin/blocked", title: "blocked areas", render: func(b views.Page) templ.Component { return views.Blocked(blocked(b)) }},
		{path: "admin/admins", title: "admins", render: func(b views.Page) templ.Component {
			return views.Admins(views.AdminsPage{AdminPage: adminBase(b, "/admin/admins"), Rows: []views.AdminRow{
				{Email: "mod@tuval.example", Enabled: true, Made: at(0), LastSeen: at(day), Tokens: 1}, {Email: "former@tuval.example", Made: at(-40 * day)},
			}})
		}},
	}
}

func reviews(b views.Page) views.ReviewsPage {
	first, second, third := place(41, 13, 12, 8), place(3, 60, 6, 4), place(60, 30, 40, 25)
	return views.ReviewsPage{
		AdminPage: adminBase(b, "/admin/reviews"), More: 2,
		Reasons: []string{"Not readable at this size", "Link and picture do not belong together", "The linked page does not answer", "Not allowed on the canvas", "Rights are not clear"},
		Items: []views.ReviewItem{
			{
				CreativeID: "c_1", RentalID: rentalID, Revision: 1, Place: first, Image: picture(first, 1, 1), Image2x: picture(first, 2, 1), Title: "North Pier Coffee",
				Alt: "A hill at the sea under a low sun, in three flat colours.", Link: "https://north-pier.example/coffee?from=tuval", Host: "north-pier.example",
				SentAt: at(20 * time.Hour), DecideBy: at(30 * day), Urgent: true, Weeks: "4 weeks, as soon as approved",
			},
			{
				CreativeID: "c_2", RentalID: "r_2", Revision: 3, Place: second, Image: picture(second, 1, 2), Image2x: picture(second, 2, 2), Replaces: picture(second, 1, 4), Title: "Täst & Söhne",
				Alt: "Two lines on a dark ground.", Link: "https://xn--tst-qla.example/%C3%A4", Host: "xn--tst-qla.example", HostShown: "täst.example", SentAt: at(22 * time.Hour), DecideBy: at(31 * day),
				History: []views.EventView{{At: at(9 * time.Hour), Text: "Version 2 rejected: not readable at this size"}, {At: at(2 * time.Hour), Text: "Version 1 approved"}},
			},
			{
				CreativeID: "c_3", RentalID: "r_3", Revision: 1, Place: third, Image: picture(third, 1, 3), Image2x: picture(third, 2, 3), Title: "<b>x</b><script>document.title='PWNED-MARK'</script>",
				Alt: strings.Repeat("A very long description. ", 9), Link: "https://" + strings.Repeat("long-", 30) + ".example/", Host: strings.Repeat("long-", 30) + ".example",
				SentAt: at(23 * time.Hour), DecideBy: at(32 * day), GoLiveAt: at(5*day + 8*time.Minute), Error: "The buyer sent another version while you looked. This is the present one.", Reason: "The text is not readable.",
			},
		},
	}
}

func rentals(b views.Page) views.RentalsPage {
	return views.RentalsPage{
		AdminPage: adminBase(b, "/admin/rentals"), State: "", Query: "", Next: "/admin/rentals?after=r_4",
		Rows: []views.RentalRow{
			{ID: rentalID, State: "live", Place: "12 × 8 at 41, 13", Email: "ada@example.com", Weeks: "4", Amount: usd(3840000), Made: at(0), Deadline: at(31 * day)},
			{ID: "r_2", State: "held", Place: "6 × 4 at 3, 60", Made: at(day), Deadline: at(day + 10*time.Minute)},
			{ID: "r_3", State: "paid", Place: "40 × 25 at 60, 30", Email: strings.Repeat("long", 20) + "@example.com", Weeks: "9", Amount: usd(90000000), Made: at(day), Deadline: at(31 * day)},
			{ID: "r_4", State: "closed", Reason: "payment_failed", Place: "1 × 1 at 100, 100", Email: "bob@example.com", Made: at(2 * day)},
		},
	}
}

func payments() []views.PaymentRow {
	return []views.PaymentRow{
		{ID: "pay_9fJx27", RentalID: rentalID, Purpose: "new", Weeks: "4", Amount: usd(3840000), State: "paid", Made: at(4 * time.Minute), PaidAt: at(6 * time.Minute)},
		{ID: "pay_3kLm81", RentalID: rentalID, Purpose: "new", Weeks: "2", Amount: usd(1920000), State: "paid", Made: at(2 * time.Minute), PaidAt: at(7 * time.Minute), Refunds: []views.RefundRow{
			{ID: "ref_1", Amount: usd(1920000), State: "failed", Reason: "second payment", Made: at(7 * time.Minute)},
			{ID: "ref_2", Amount: usd(1920000), State: "pending", Reason: "second payment", Made: at(day)},
		}},
		{ID: "pay_0aB", RentalID: "r_4", Purpose: "new", Weeks: "1", Amount: usd(10000), State: "expired", Made: at(time.Minute)},
	}
}

func anomalies() []views.AnomalyRow {
	return []views.AnomalyRow{
		{ID: "1", Kind: "refund failed", Message: "The bank returned the refund of " + usd(1920000) + ".", RentalID: rentalID, PaymentID: "pay_3kLm81", RefundID: "ref_1", FirstSeen: at(8 * time.Minute), LastSeen: at(day), Remedy: "Refund again"},
		{ID: "2", Kind: "amount differs", Message: "A payment of 3,839.99 USD claimed to be for 38,400.00 USD. Nothing was booked.", FirstSeen: at(0), LastSeen: at(0), Action: "Look at the payment in Stripe.", Done: "dealt with by hand", Resolved: at(day)},
	}
}

func adminRental(b views.Page) views.AdminRentalPage {
	p := place(41, 13, 12, 8)
	latest := *creative(p, "rejected", 2)
	latest.Reason = "Not readable at this size"
	return views.AdminRentalPage{
		AdminPage: adminBase(b, "/admin/rentals/"+rentalID), ID: rentalID, State: "live", Place: p,
		Facts: []views.Fact{
			{Name: "Buyer", Value: "ada@example.com, confirmed"},
			{Name: "Price", Value: usd(960000) + " a week"},
			{Name: "Made", Value: at(0).Text},
			{Name: "Paid", Value: at(6 * time.Minute).Text},
			{Name: "Live from", Value: at(26 * time.Hour).Text},
			{Name: "Ends", Value: at(29 * day).Text},
			{Name: "Lease until", Value: at(31 * day).Text},
		},
		Payments: payments()[:2], Anomalies: anomalies()[:1], Actions: actions(), Workflow: drawn.Picture(workflow.Of(flowLive())),
		Disputes: []views.DisputeRow{{ID: "dp_1", Payment: "pay_3kLm81", Amount: usd(1920000), State: "open", Reason: "product_not_received", Opened: at(9 * day)}},
		Creatives: []views.AdminCreative{
			{CreativeView: latest, ID: "c_9", DecidedAt: at(3 * day), DecidedBy: "mod@tuval.example"},
			{CreativeView: *creative(p, "approved", 1), ID: "c_1", DecidedAt: at(26 * time.Hour), DecidedBy: "mod@tuval.example"},
		},
		Ledger: []views.LedgerRow{
			{Position: "1-840-12", Kind: "refund_created", At: at(7 * time.Minute), Amount: "-" + usd(1920000), Actor: "system"},
			{Position: "1-839-11", Kind: "payment_booked", At: at(7 * time.Minute), Amount: "+" + usd(1920000), Actor: "stripe"},
			{Position: "1-812-10", Kind: "payment_booked", At: at(6 * time.Minute), Amount: "+" + usd(3840000), Actor: "stripe"},
			{Position: "1-800-9", Kind: "hold_made", At: at(0), Blocks: "+96", Actor: "buyer"},
		},
	}
}

func blocked(b views.Page) views.BlockedPage {
	return views.BlockedPage{
		AdminPage: adminBase(b, "/admin/blocked"), Canvas: "/canvas/busy.png",
		Areas: []views.BlockedArea{
			{ID: "b_1", Place: place(95, 1, 6, 3), Note: "Our own sign", Until: at(365 * day), By: "mod@tuval.example"},
			{ID: "b_2", Place: place(1, 90, 20, 11), Until: at(20 * day)},
		},
		Form: views.BlockedForm{Col: "95", Row: "1", W: "12", H: "3", Note: "A second sign", Problems: []views.Problem{{Field: "w", Text: "From column 95 at most 6 blocks fit."}}},
	}
}
