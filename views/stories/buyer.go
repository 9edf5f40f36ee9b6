package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"tuval/internal/money"
	"tuval/internal/workflow"
	"tuval/internal/workflow/drawn"
	"tuval/views"
)

func buyerStories() []story {
	return slices.Concat(rentalStories(), moreStories(), closedStories(), accessStories(), areaStories(), faultStories(), mailStories())
}

// day0 is when the invented rentals were made.
func day0() time.Time { return time.Date(2026, 12, 7, 13, 52, 0, 0, time.UTC) }

func at(d time.Duration) views.Moment { return views.MomentOf(day0().Add(d)) }

const day = 24 * time.Hour

func usd(n int64) string { return money.Money{Amount: n, Currency: "usd"}.String() }

func place(col, row, w, h int) views.PlaceView {
	return views.PlaceView{Col: col, Row: row, W: w, H: h, Canvas: "/canvas/busy.png"}
}

func left(seconds int64) views.CountdownView {
	t := views.MomentOf(time.Now().Add(time.Duration(seconds) * time.Second))
	return views.CountdownView{Seconds: seconds, Text: views.Remaining(seconds), Deadline: t.ISO, Title: t.Text, Done: "event"}
}

const rentalID = "r_7Kq2mZtW0a9XcVb4"

// rentalIn is a rental in a phase, with what does not depend on it.
func rentalIn(base views.Page, phase views.Phase) views.RentalPage {
	base.Path = "/rentals/" + rentalID
	return views.RentalPage{
		Page: base, ID: rentalID, Phase: phase, Place: place(41, 13, 12, 8),
		Facts:    views.RentalFacts{PricePerWeek: usd(960000)},
		Timeline: timelineIn(phase),
		History:  []views.EventView{{At: at(0), Text: "12 × 8 blocks held"}},
	}
}

// timelineIn is the story of a rental that is about there.
func timelineIn(phase views.Phase) views.TimelineView {
	facts := flowLive()
	switch phase {
	case views.PhaseHeld, views.PhasePaying, views.PhaseConfirming, views.PhaseProcessing:
		facts = flowHeld()
	case views.PhaseAwaitingImage, views.PhaseInReview, views.PhaseScheduled:
		facts = flowInReview()
	case views.PhaseRejected:
		facts = flowRejected()
	case views.PhaseEnded:
		facts = flowRenewed()
	case views.PhaseClosed:
		facts = flowRemoved()
	default: // live, hidden
	}
	return drawn.Timeline(workflow.Of(facts))
}

func choices(perWeek int64, most int) []views.WeeksChoice {
	var all []views.WeeksChoice
	for w := 1; w <= most; w++ {
		all = append(all, views.WeeksChoice{Weeks: w, Total: usd(perWeek * int64(w)), Amount: perWeek * int64(w)})
	}
	return all
}

func checkoutForm() *views.CheckoutForm {
	return &views.CheckoutForm{Request: "story-checkout", Weeks: 4, Choices: choices(960000, 52), Earliest: "2026-12-07T15:00", Latest: "2026-12-21T13:00"}
}

func held(base views.Page) views.RentalPage {
	p := rentalIn(base, views.PhaseHeld)
	p.Left, p.Facts.LeasedUntil = left(461), at(10*time.Minute)
	p.Hold = &views.HoldPanel{CanKeep: true, KeepText: "Keep 10 minutes longer", KeepRequest: "story-keep", CancelRequest: "story-cancel", BeginBy: at(49 * time.Minute)}
	p.Checkout = checkoutForm()
	return p
}

func paying(base views.Page) views.RentalPage {
	p := held(base)
	p.Phase, p.Hold.CanKeep = views.PhasePaying, false
	p.Left, p.Facts.LeasedUntil = left(2339), at(45*time.Minute)
	p.Paying = &views.PayingPanel{CheckoutURL: "https://checkout.example/c/pay/cs_test_1", Weeks: 4, Amount: usd(3840000), OpenUntil: at(35 * time.Minute)}
	p.Checkout.Email = "ada@example.com"
	p.History = append([]views.EventView{{At: at(4 * time.Minute), Text: "Payment page opened for 4 weeks"}}, p.History...)
	return p
}

func paid(base views.Page, phase views.Phase) views.RentalPage {
	p := rentalIn(base, phase)
	f := &p.Facts
	f.Weeks, f.Total, f.PaidAt, f.ApproveBy = 4, usd(3840000), at(6*time.Minute), at(30*day)
	p.Receipt = &views.Receipt{Number: "pay_9fJx27", Email: "ada@example.com", Kept: usd(3840000), Lines: []views.ReceiptLine{
		{ID: "pay_9fJx27", What: "4 weeks", At: f.PaidAt, Amount: usd(3840000), State: "paid"},
	}}
	p.Access = &views.AccessPanel{Email: "ada@example.com"}
	p.History = append([]views.EventView{{At: at(6 * time.Minute), Text: "Paid " + usd(3840000)}}, p.History...)
	return p
}

func creative(p views.PlaceView, state string, revision int) *views.CreativeView {
	return &views.CreativeView{
		Revision: revision, State: state, Image: picture(p, 1, revision), Image2x: picture(p, 2, revision),
		Link: "https://north-pier.example/coffee?from=tuval", Host: "north-pier.example", Title: "North Pier Coffee",
		Alt: "A hill at the sea under a low sun, in three flat colours.", SentAt: at(20 * time.Hour),
	}
}

func creativeForm() *views.CreativeForm {
	return &views.CreativeForm{Request: "story-creative", Fit: "cover", MaxBytes: 10_000_000}
}

func withCreative(base views.Page, phase views.Phase, state string) views.RentalPage {
	p := paid(base, phase)
	p.Creative = &views.CreativePanel{Latest: creative(p.Place, state, 1), Form: creativeForm()}
	p.Creative.Form.Link, p.Creative.Form.Title, p.Creative.Form.Alt = p.Creative.Latest.Link, p.Creative.Latest.Title, p.Creative.Latest.Alt
	p.Creative.Form.KeepsImage = true
	p.History = append([]views.EventView{{At: at(20 * time.Hour), Text: "Picture sent (version 1)"}}, p.History...)
	return p
}

func live(base views.Page) views.RentalPage {
	p := withCreative(base, views.PhaseLive, "approved")
	p.Facts.LiveFrom, p.Facts.EndsAt, p.Facts.AreaURL = at(26*time.Hour), at(26*time.Hour+28*day), "/areas/a_5xk2"
	p.Creative.Form.Replaces = true
	p.Access.Confirmed = true
	p.History = append([]views.EventView{{At: at(26 * time.Hour), Text: "Approved and live"}}, p.History...)
	return p
}

func rentalStory(path, title string, make func(views.Page) views.RentalPage) story {
	return story{path: "rental/" + path, title: title, render: func(base views.Page) templ.Component { return views.Rental(make(base)) }}
}

func rentalStories() []story {
	return []story{
		rentalStory("held", "held, the clock runs", held),
		rentalStory("held-kept", "held, the keep is used", func(b views.Page) views.RentalPage {
			p := held(b)
			p.Hold.CanKeep = false
			p.Notice = &views.NoticeText{Kind: "success", Title: "Kept: 10 minutes more", Text: "This was the one time."}
			return p
		}),
		rentalStory("held-refused", "checkout refused, values kept (422)", func(b views.Page) views.RentalPage {
			p := held(b)
			f := p.Checkout
			f.Weeks, f.Email, f.GoLiveAt = 6, "ada@", "2027-02-01T10:00"
			f.Problems = []views.Problem{
				{Field: "email", Text: "This is not a whole e-mail address."},
				{Field: "go_live_at", Text: "The go-live time can be at most 14 days ahead: until Mon 21 Dec 2026, 13:00 UTC."},
			}
			return p
		}),
		rentalStory("held-large", "a large area: few weeks fit one payment", func(b views.Page) views.RentalPage {
			p := held(b)
			p.Place = place(31, 41, 40, 25)
			p.Facts.PricePerWeek, p.Checkout.Choices, p.Checkout.Weeks = usd(10000000), choices(10000000, 9), 1
			return p
		}),
		rentalStory("paying", "the payment page is open", paying),
		rentalStory("conflict", "an action in the wrong state (409)", func(b views.Page) views.RentalPage {
			p := paid(b, views.PhaseAwaitingImage)
			p.Notice = &views.NoticeText{Kind: "warning", Title: "Already paid", Text: "The payment went through in the meantime, so there was nothing left to cancel."}
			p.Creative = &views.CreativePanel{Form: creativeForm()}
			return p
		}),
		rentalStory("confirming", "back from the payment page", func(b views.Page) views.RentalPage {
			p := paying(b)
			p.Phase, p.Hold, p.Checkout, p.Facts.Total = views.PhaseConfirming, nil, nil, p.Paying.Amount
			p.Left = views.CountdownView{}
			p.Facts.Total, p.Paying = p.Paying.Amount+" for 4 weeks", nil
			return p
		}),
		rentalStory("processing", "the payment is pending at the bank", func(b views.Page) views.RentalPage {
			p := rentalIn(b, views.PhaseProcessing)
			p.Facts.LeasedUntil, p.Facts.Total = at(7*day), usd(3840000)+" for 4 weeks"
			return p
		}),
		rentalStory("awaiting-image", "paid, no picture yet", func(b views.Page) views.RentalPage {
			p := paid(b, views.PhaseAwaitingImage)
			p.Creative = &views.CreativePanel{Form: creativeForm()}
			return p
		}),
		rentalStory("image-refused", "upload refused, values kept (422)", func(b views.Page) views.RentalPage {
			p := paid(b, views.PhaseAwaitingImage)
			f := creativeForm()
			f.Link, f.Title, f.Fit = "javascript:alert(1)", "North Pier Coffee", "contain"
			f.Problems = []views.Problem{
				{Field: "image", Text: "This file is cut off in the middle. Send the whole picture."},
				{Field: "link", Text: "Only http and https addresses can be linked."},
				{Field: "alt", Text: "A description is needed, at most 250 characters."},
			}
			p.Creative = &views.CreativePanel{Form: f}
			return p
		}),
		rentalStory("in-review", "the picture is with the moderators", func(b views.Page) views.RentalPage {
			return withCreative(b, views.PhaseInReview, "pending")
		}),
		rentalStory("rejected", "rejected with a reason, values kept", func(b views.Page) views.RentalPage {
			p := withCreative(b, views.PhaseRejected, "rejected")
			p.Creative.Latest.Reason = "The link leads to another shop than the picture shows.\nPlease link the page of the coffee bar itself."
			return p
		}),
		rentalStory("scheduled", "approved, the chosen time is to come", func(b views.Page) views.RentalPage {
			p := withCreative(b, views.PhaseScheduled, "approved")
			p.Facts.GoLiveAt, p.Facts.LiveFrom, p.Facts.EndsAt = at(5*day+8*time.Minute), at(5*day+8*time.Minute), at(33*day+8*time.Minute)
			p.Left = left(4*86400 + 7200)
			return p
		}),
		rentalStory("live", "on the canvas", live),
		rentalStory("live-replacing", "live, a replacement is in review", func(b views.Page) views.RentalPage {
			p := live(b)
			p.Creative.Shown, p.Creative.Latest = p.Creative.Latest, creative(p.Place, "pending", 2)
			return p
		}),
		rentalStory("live-replacement-rejected", "live, the replacement was rejected", func(b views.Page) views.RentalPage {
			p := live(b)
			p.Creative.Shown, p.Creative.Latest = p.Creative.Latest, creative(p.Place, "rejected", 2)
			p.Creative.Latest.Reason = "The text is not readable at this size."
			return p
		}),
		rentalStory("hidden", "hidden by an admin", func(b views.Page) views.RentalPage {
			p := live(b)
			p.Phase, p.Facts.Reason = views.PhaseHidden, "The linked page asks visitors to install software."
			return p
		}),
		rentalStory("ended", "the paid time is over, blocks reserved", func(b views.Page) views.RentalPage {
			p := live(b)
			p.Phase, p.Facts.Reserved, p.Left, p.Creative = views.PhaseEnded, at(31*day), left(151_200), nil
			return p
		}),
		rentalStory("large-live", "live, 100 × 100 blocks", func(b views.Page) views.RentalPage {
			p := live(b)
			p.Place = place(1, 1, 100, 100)
			p.Creative.Latest = creative(p.Place, "approved", 2)
			return p
		}),
		rentalStory("hostile", "texts that want to be markup", func(b views.Page) views.RentalPage {
			p := withCreative(b, views.PhaseRejected, "rejected")
			words := "<b>x</b><script>document.title='PWNED-MARK'</script>\" hx-get=\"/\" hx-trigger=\"load\" " + strings.Repeat("你好世界", 12)
			c, f := p.Creative.Latest, p.Creative.Form
			c.Title, c.Alt, c.Reason, c.Link, c.Host = words, words, words, "javascript:alert(1)", "xn--tst-6la.example"
			f.Title, f.Alt, f.Link = words, words, words
			return p
		}),
	}
}

func closedStories() []story {
	var all []story
	for _, reason := range []string{"expired", "cancelled", "payment_failed", "unapproved", "not_renewed", "refunded", "removed"} {
		all = append(all, rentalStory("closed-"+strings.ReplaceAll(reason, "_", "-"), "closed: "+reason, func(b views.Page) views.RentalPage {
			return closedFor(b, reason)
		}))
	}
	for state, title := range map[string]string{"pending": "on its way", "succeeded": "came through", "failed": "outstanding"} {
		all = append(all, rentalStory("refund-"+state, "late payment refunded: "+title, func(b views.Page) views.RentalPage {
			p := closedFor(b, "expired")
			p.Facts.Total = usd(3840000)
			p.Refunds = []views.RefundView{{Amount: usd(3840000), State: state, Why: "the blocks were gone when the payment came", At: at(2 * time.Hour)}}
			p.Receipt = &views.Receipt{Number: "pay_9fJx27", Email: "ada@example.com", Kept: usd(0), Lines: []views.ReceiptLine{
				{ID: "pay_9fJx27", What: "4 weeks", At: at(2 * time.Hour), Amount: usd(3840000), State: "paid", Refunds: p.Refunds},
			}}
			return p
		}))
	}
	return all
}

func closedFor(b views.Page, reason string) views.RentalPage {
	p := rentalIn(b, views.PhaseClosed)
	p.ClosedReason, p.Facts.ClosedAt = reason, at(45*time.Minute)
	p.History = append([]views.EventView{{At: p.Facts.ClosedAt, Text: "Closed"}}, p.History...)
	switch reason {
	case "unapproved", "refunded", "removed":
		history := p.History
		p = paid(b, views.PhaseClosed)
		p.ClosedReason, p.Facts.ClosedAt, p.History = reason, at(30*day), append(history, p.History...)
		p.Refunds = []views.RefundView{{Amount: usd(3840000), State: "succeeded", Why: reason, At: at(30 * day)}}
	case "not_renewed":
		p = live(b)
		p.Phase, p.ClosedReason, p.Facts.ClosedAt, p.Creative = views.PhaseClosed, reason, at(31*day), nil
	}
	if reason == "removed" {
		p.Facts.Reason, p.Facts.LiveFrom = "The picture was changed behind its link to something that is not allowed here.", at(2*day)
	}
	return p
}

func accessStories() []story {
	login := func(p views.LoginPage) func(views.Page) templ.Component {
		return func(b views.Page) templ.Component {
			b.Path, p.Page = "/login", b
			p.Page = b
			return views.Login(p)
		}
	}
	link := func(state views.LinkState) func(views.Page) templ.Component {
		return func(b views.Page) templ.Component {
			return views.LoginLink(views.LoginLinkPage{Page: b, State: state, Action: "/login/t0k3n", Email: "ada@example.com"})
		}
	}
	return []story{
		{path: "login/form", title: "sign in", render: login(views.LoginPage{})},
		{path: "login/refused", title: "sign in, address refused (422)", render: login(views.LoginPage{
			Email: "ada@", Problems: []views.Problem{{Field: "email", Text: "This is not a whole e-mail address."}},
		})},
		{path: "login/sent", title: "look into your mail", render: login(views.LoginPage{Sent: true, Email: "ada@example.com", DevMail: true})},
		{path: "login/link", title: "a mailed link", render: link(views.LinkReady)},
		{path: "login/used", title: "a link used before", render: link(views.LinkUsed)},
		{path: "login/expired", title: "a link too old", render: link(views.LinkExpired)},
		{path: "private/plain", title: "a private rental, or none", status: 404, render: func(b views.Page) templ.Component {
			return views.Private(views.PrivatePage{Page: b, ID: rentalID})
		}},
		{path: "private/kept", title: "the session ended while a form was open", status: 404, render: func(b views.Page) templ.Component {
			return views.Private(views.PrivatePage{Page: b, ID: rentalID, Kept: kept()})
		}},
		{path: "account/rentals", title: "a person's rentals", render: func(b views.Page) templ.Component { return views.Account(account(b)) }},
		{path: "account/empty", title: "no rentals yet", render: func(b views.Page) templ.Component {
			b.Path = "/account"
			return views.Account(views.AccountPage{Page: b})
		}},
	}
}

func kept() *views.Kept {
	return &views.Kept{Action: "/rentals/" + rentalID + "/creative", Fields: []views.KeptField{
		{Name: "request_id", Value: "story-creative"},
		{Name: "link", Label: "Link", Value: "https://north-pier.example/coffee"},
		{Name: "title", Label: "Title", Value: "North Pier Coffee"},
		{Name: "alt", Label: "Description", Value: "A hill at the sea under a low sun, in three flat colours."},
	}}
}

func account(b views.Page) views.AccountPage {
	b.Path, b.SignedIn = "/account", true
	first, second := place(41, 13, 12, 8), place(3, 60, 6, 4)
	return views.AccountPage{Page: b, Email: "ada@example.com", Rentals: []views.AccountRental{
		{ID: rentalID, Place: first, Title: "North Pier Coffee", Image: picture(first, 1, 1), State: "live", Label: "On the canvas", Deadline: "until", At: at(29 * day)},
		{ID: "r_2", Place: second, State: "held", Label: "Held for you", Deadline: "until", At: at(10 * time.Minute)},
		{ID: "r_3", Place: place(80, 80, 20, 20), Title: strings.Repeat("Endless", 11), State: "rejected", Label: "Needs a change", Deadline: "approved picture needed by", At: at(30 * day)},
		{ID: "r_4", Place: place(1, 1, 1, 1), State: "closed", Label: "Closed"},
	}}
}

func card(n int, p views.PlaceView, title string) views.AreaCard {
	return views.AreaCard{
		PublicID: fmt.Sprintf("a_%d", n), Title: title, Host: "north-pier.example", Alt: "A hill at the sea under a low sun, in three flat colours.",
		Image: picture(p, 1, n), Image2x: picture(p, 2, n), Width: p.W * 10, Height: p.H * 10, Until: at(time.Duration(n) * 5 * day),
	}
}

func cards() []views.AreaCard {
	titles := []string{"North Pier Coffee", "Olive & Thread", "", "Kestrel Maps", "Second Shelf Books and Other Things That Need Many Words", "Granite Climbing", "Field Notes Radio", "Blue Door Ceramics"}
	sizes := []views.PlaceView{place(41, 13, 12, 8), place(3, 3, 6, 4), place(60, 3, 1, 1), place(5, 50, 20, 6), place(70, 60, 8, 14), place(30, 70, 30, 20), place(90, 5, 4, 4), place(20, 30, 10, 10)}
	all := make([]views.AreaCard, len(titles))
	for i := range titles {
		all[i] = card(i+1, sizes[i], titles[i])
	}
	return all
}

func areas(p views.AreasPage) func(views.Page) templ.Component {
	return func(b views.Page) templ.Component {
		b.Path = "/areas"
		p.Page = b
		return views.Areas(p)
	}
}

func areaStories() []story {
	return []story{
		{path: "areas/list", title: "what is on the canvas", render: areas(views.AreasPage{Total: "128 areas", Cards: cards(), Next: "/areas?after=a_8"})},
		{path: "areas/found", title: "searched", render: areas(views.AreasPage{Query: "coffee", Total: "1 of 128 areas", Cards: cards()[:1]})},
		{path: "areas/nothing", title: "nothing found", render: areas(views.AreasPage{Query: "zzz", Total: "0 of 128 areas"})},
		{path: "areas/empty", title: "an empty canvas", render: areas(views.AreasPage{Total: "0 areas"})},
		{path: "area/one", title: "one area", render: func(b views.Page) templ.Component {
			b.Path, b.Canonical = "/areas/a_1", "https://tuval.example/areas/a_1"
			return views.Area(views.AreaPage{Page: b, Card: cards()[0], Place: place(41, 13, 12, 8)})
		}},
		{path: "area/block", title: "an area of one block", render: func(b views.Page) templ.Component {
			return views.Area(views.AreaPage{Page: b, Card: cards()[2], Place: place(60, 3, 1, 1)})
		}},
		{path: "about", title: "rules and prices", render: about},
	}
}

func about(b views.Page) templ.Component {
	b.Path = "/about"
	return views.About(views.AboutPage{
		Page: b, Currency: "USD", PerPixel: usd(100), PerBlock: usd(10000), Hold: "10 minutes", HoldMost: "90 minutes", HoldLimits: "At once 3 holds and 1,000 blocks; from one network address 10 holds and 1,500 blocks.", Approval: "30 days", Renewal: "48 hours",
		MaxBlocks: "1,000", MaxWeeks: "52", MaxGoLive: "14 days", Contact: "gallery@tuval.example", FreeBlocks: "7,412", MinimumAmount: usd(50),
		Examples: []views.PriceExample{
			{Size: "1 × 1 block", Pixels: "10 × 10 px", Week: usd(10000), Month: usd(40000)},
			{Size: "6 × 4 blocks", Pixels: "60 × 40 px", Week: usd(240000), Month: usd(960000)},
			{Size: "12 × 8 blocks", Pixels: "120 × 80 px", Week: usd(960000), Month: usd(3840000)},
			{Size: "25 × 10 blocks", Pixels: "250 × 100 px", Week: usd(2500000), Month: usd(10000000)},
		},
	})
}

func faultStories() []story {
	var all []story
	for _, status := range []int{400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500, 503} {
		all = append(all, story{path: fmt.Sprintf("fault/%d", status), title: "error page", status: status, render: func(b views.Page) templ.Component {
			f := views.FaultView{Status: status, RequestID: "01JEX8N5T4G2Q7"}
			switch status {
			case 429, 503:
				f.Retry = "in 30 seconds"
			case 409, 410:
				f.Next = []views.FaultLink{{Href: "/rentals/" + rentalID, Text: "To your rental"}, {Href: "/", Text: "To the canvas"}}
			case 403:
				f.Kept = kept()
			}
			return views.Fault(views.FaultPage{Page: b, Fault: f})
		}})
	}
	return all
}

func mailStories() []story {
	mail := views.DevMail{ID: "1", To: "ada@example.com", Subject: "Sign in to Tuval", At: at(0)}
	return []story{
		{path: "devmail/list", title: "the development mailbox", render: func(b views.Page) templ.Component {
			return views.DevMailList(views.DevMailPage{Page: b, Mails: []views.DevMail{mail, {ID: "2", To: "ada@example.com", Subject: "Paid: your place on the canvas", At: at(-day)}}})
		}},
		{path: "devmail/empty", title: "no mail", render: func(b views.Page) templ.Component { return views.DevMailList(views.DevMailPage{Page: b}) }},
		{path: "devmail/one", title: "one mail", render: func(b views.Page) templ.Component {
			return views.DevMailMessage(views.DevMailMessagePage{
				Page: b, Mail: mail, From: "tuval@tuval.example", HTMLURL: "/dev/mail/1/html", Links: []string{"http://127.0.0.1:8080/login/t0k3n"},
				Text: "Your sign-in link\n\nIt works once, for 15 minutes.\n\nOpen the sign-in page:\nhttp://127.0.0.1:8080/login/t0k3n\n", HTML: "<!doctype html>\n<h1>Your sign-in link</h1>",
			})
		}},
	}
}
