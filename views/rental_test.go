package views_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tuval/views"
)

func at(days int) views.Moment {
	return views.MomentOf(time.Date(2027, 3, 1, 12, 0, 0, 0, time.FixedZone("CET", 3600)).AddDate(0, 0, days))
}

func place() views.PlaceView {
	return views.PlaceView{Col: 41, Row: 13, W: 6, H: 4, Canvas: "/canvas/1.webp"}
}

// rental is a rental in a phase with all facts that could be known; a page
// shows those that belong to its phase.
func rental(phase views.Phase) views.RentalPage {
	return views.RentalPage{
		ID: "abc", Phase: phase, Place: place(),
		Facts: views.RentalFacts{
			PricePerWeek: "2,400.00 USD", Weeks: 4, Total: "9,600.00 USD", LeasedUntil: at(0), PaidAt: at(1), ApproveBy: at(31),
			LiveFrom: at(2), EndsAt: at(30), Reserved: at(32), ClosedAt: at(33),
		},
		History: []views.EventView{{At: at(0), Text: "6 × 4 blocks held"}},
	}
}

func weeks(n int) []views.WeeksChoice {
	var all []views.WeeksChoice
	for w := 1; w <= n; w++ {
		all = append(all, views.WeeksChoice{Weeks: w, Total: "total of " + strings.Repeat("I", w), Amount: int64(w) * 240000})
	}
	return all
}

func held() views.RentalPage {
	p := rental(views.PhaseHeld)
	p.Hold = &views.HoldPanel{CanKeep: true, KeepText: "Keep 10 minutes longer", KeepRequest: "k-keep", CancelRequest: "k-cancel"}
	p.Checkout = &views.CheckoutForm{Request: "k-pay", Weeks: 4, Choices: weeks(52)}
	p.Left = views.CountdownView{Seconds: 581, Text: "9 min 41 s", Deadline: at(0).ISO}
	return p
}

func picture(state string) *views.CreativeView {
	return &views.CreativeView{
		Revision: 1, State: state, Reason: "Too small to read.", Image: "/i1", Image2x: "/i2", Link: "https://example.com/", Host: "example.com",
		Title: "Blue whale", Alt: "A whale", SentAt: at(2),
	}
}

func withPicture(phase views.Phase, state string) views.RentalPage {
	p := rental(phase)
	p.Creative = &views.CreativePanel{Latest: picture(state), Form: &views.CreativeForm{Request: "k-pic", Fit: "contain", Link: "https://typed.example/", Title: "typed title", Alt: "typed words", MaxBytes: 10}}
	return p
}

func closed(reason string) views.RentalPage {
	p := rental(views.PhaseClosed)
	p.ClosedReason = reason
	return p
}

func late() views.RentalPage {
	p := closed("expired")
	p.Facts.PaidAt = views.Moment{}
	p.Refunds = []views.RefundView{{Amount: "9,600.00 USD", State: "pending", At: at(1)}}
	return p
}

func paying() views.RentalPage {
	p := held()
	p.Phase, p.Hold.CanKeep = views.PhasePaying, false
	p.Paying = &views.PayingPanel{CheckoutURL: "https://pay.example/cs_1", Weeks: 4, Amount: "9,600.00 USD", OpenUntil: at(0)}
	return p
}

func TestEachPhaseSaysWhatIsAndWhatIsNext(t *testing.T) {
	awaiting := rental(views.PhaseAwaitingImage)
	awaiting.Creative = &views.CreativePanel{Form: &views.CreativeForm{Request: "k-pic", MaxBytes: 10}}
	replacing := withPicture(views.PhaseLive, "pending")
	replacing.Creative.Shown = picture("approved")
	hidden := rental(views.PhaseHidden)
	hidden.Facts.Reason = "The linked page is broken."
	removed := closed("removed")
	removed.Facts.Reason = "Not allowed here."
	for name, c := range map[string]struct {
		page    views.RentalPage
		h1      string
		says    []string
		actions []string
	}{
		"held": {
			held(), "These blocks are yours for now",
			[]string{"Hold ends in", "9 min 41 s", "2,400.00 USD a week", "Choose how long", "Nothing has been charged"},
			[]string{"/rentals/abc/keep", "/rentals/abc/cancel", "/rentals/abc/checkout"},
		},
		"paying": {
			paying(), "Finish your payment",
			[]string{"Continue to payment", "9,600.00 USD for 4 weeks", "Choose another number of weeks"},
			[]string{"/rentals/abc/cancel", "/rentals/abc/checkout"},
		},
		"confirming":     {rental(views.PhaseConfirming), "Confirming your payment", []string{"no need to pay again", "Check again"}, nil},
		"processing":     {rental(views.PhaseProcessing), "Your payment is pending", []string{"bank has not confirmed", "stay yours"}, nil},
		"awaiting image": {awaiting, "Paid. Now your picture", []string{"Approved picture needed by", "Thu 1 Apr 2027, 11:00 UTC", "4 weeks start when it goes live"}, []string{"/rentals/abc/creative"}},
		"in review":      {withPicture(views.PhaseInReview, "pending"), "Your picture is in review", []string{"Nothing to do", "paid time has not begun"}, []string{"/rentals/abc/creative"}},
		"rejected":       {withPicture(views.PhaseRejected, "rejected"), "Your picture needs a change", []string{"Too small to read.", "Change it and send it again"}, []string{"/rentals/abc/creative"}},
		"scheduled":      {withPicture(views.PhaseScheduled, "approved"), "Approved. It goes live by itself", []string{"Goes live", "Wed 3 Mar 2027, 11:00 UTC"}, []string{"/rentals/abc/creative"}},
		"live":           {withPicture(views.PhaseLive, "approved"), "Your picture is on the canvas", []string{"Leaves the canvas", "Wed 31 Mar 2027, 11:00 UTC"}, []string{"/rentals/abc/creative"}},
		"replacing":      {replacing, "Your picture is on the canvas", []string{"The new version is in review", "On the canvas until then"}, []string{"/rentals/abc/creative"}},
		"hidden":         {hidden, "Your picture is hidden for now", []string{"The linked page is broken.", "paid time runs on"}, nil},
		"ended":          {rental(views.PhaseEnded), "The paid time is over", []string{"Reserved for you until", "Fri 2 Apr 2027, 11:00 UTC"}, nil},
		"expired":        {closed("expired"), "Your hold is over", []string{"Choose them again"}, nil},
		"cancelled":      {closed("cancelled"), "This rental is cancelled", []string{"You withdrew"}, nil},
		"payment failed": {closed("payment_failed"), "The payment did not go through", []string{"Choose them again"}, nil},
		"unapproved":     {closed("unapproved"), "Cancelled: no picture was approved in time", []string{"full amount goes back"}, nil},
		"not renewed":    {closed("not_renewed"), "This rental has run its course", []string{"Choose a place"}, nil},
		"refunded":       {closed("refunded"), "This rental was refunded", []string{"went back in full"}, nil},
		"removed":        {removed, "This rental was removed", []string{"Not allowed here."}, nil},
		"late payment":   {late(), "Your hold is over", []string{"somebody else had taken", "Your refund is on its way", "9,600.00 USD"}, nil},
		"reason unknown": {closed("whatever"), "This rental is closed", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := render(t, views.Rental(c.page))
			d.sound(t)
			if got := text(d.all("h1")[0]); got != c.h1 {
				t.Errorf("h1 %q, want %q", got, c.h1)
			}
			for _, s := range append(c.says, "6 × 4 blocks", "column 41, row 13") {
				if !strings.Contains(d.text(), s) {
					t.Errorf("does not say %q", s)
				}
			}
			if got := d.actions(); !slices.Equal(got, c.actions) {
				t.Errorf("posts to %q, want %q", got, c.actions)
			}
		})
	}
}

func more(verb string) *views.MoreForm {
	f := &views.MoreForm{Verb: verb, Weeks: 4, PerWeek: "2,500.00 USD", Choices: weeks(52)}
	for i, c := range f.Choices {
		f.Choices[i].Until, f.Choices[i].Day = at(30+7*c.Weeks), "a day"
	}
	return f
}

// The later life: more weeks, with today's price and the new end known before
// anything is sent; the way back; the address that nobody confirmed.
func TestWhatCanBeDoneLater(t *testing.T) {
	extend, renew, pending, open, withdraw := rental(views.PhaseLive), rental(views.PhaseEnded), rental(views.PhaseLive), rental(views.PhaseLive), rental(views.PhaseInReview)
	extend.More, renew.More, pending.More, open.More = more("extend"), more("renew"), more("extend"), more("extend")
	renew.Left = views.CountdownView{Seconds: 3600, Deadline: at(32).ISO}
	pending.More.Pending = "5,000.00 USD for 2 weeks"
	open.More.Open, open.Confirming = &views.PayingPanel{CheckoutURL: "https://pay.example/cs_2", Weeks: 2, Amount: "5,000.00 USD", OpenUntil: at(3)}, "5,000.00 USD for 2 weeks"
	withdraw.Withdraw = &views.WithdrawPanel{Amount: "9,600.00 USD", Problems: []views.Problem{{Field: "confirm", Text: "Please tick the box."}}}
	withdraw.Access = &views.AccessPanel{Email: "a@example.com", Correct: &views.ContactForm{Email: "a@example.com"}}
	for name, c := range map[string]struct {
		page    views.RentalPage
		says    []string
		actions []string
	}{
		"extend":   {extend, []string{"Extend", "2,500.00 USD a week", "New end", "until a day"}, []string{"/rentals/abc/extend"}},
		"renew":    {renew, []string{"Renew", "Reserved for you for", "without another review", "Renew, or let the blocks go"}, []string{"/rentals/abc/renew"}},
		"pending":  {pending, []string{"Payment pending", "5,000.00 USD for 2 weeks"}, nil},
		"open":     {open, []string{"Continue to payment", "Confirming your payment", "not paid yet"}, []string{"/rentals/abc/extend"}},
		"withdraw": {withdraw, []string{"9,600.00 USD goes back", "Please tick the box.", "The address is wrong?"}, []string{"/rentals/abc/withdraw", "/login", "/rentals/abc/contact"}},
	} {
		d := render(t, views.Rental(c.page))
		d.sound(t)
		for _, s := range c.says {
			if !strings.Contains(d.text(), s) {
				t.Errorf("%s does not say %q", name, s)
			}
		}
		if got := d.actions(); !slices.Equal(got, c.actions) {
			t.Errorf("%s posts to %q, want %q", name, got, c.actions)
		}
		if polls := strings.Contains(d.source, "data-poll"); polls != (name == "open") {
			t.Errorf("%s polls: %t", name, polls)
		}
	}
	if got := render(t, views.Rental(extend)).fields("/rentals/abc/extend"); !slices.Equal(got, []string{"expected_amount", "weeks"}) {
		t.Errorf("an extension sends %q", got)
	}
}

func TestFieldsOfTheContract(t *testing.T) {
	d := render(t, views.Rental(held()))
	for action, want := range map[string][]string{
		"/rentals/abc/keep":     {"request_id"},
		"/rentals/abc/cancel":   {"request_id"},
		"/rentals/abc/checkout": {"email", "expected_amount", "go_live_at", "request_id", "weeks"},
	} {
		if got := d.fields(action); !slices.Equal(got, want) {
			t.Errorf("%s sends %q, want %q", action, got, want)
		}
	}
	d = render(t, views.Rental(withPicture(views.PhaseRejected, "rejected")))
	want := []string{"alt", "fit", "image", "link", "request_id", "title"}
	if got := d.fields("/rentals/abc/creative"); !slices.Equal(got, want) {
		t.Errorf("creative sends %q, want %q", got, want)
	}
}

// A page without scripts must not send an amount that nobody recomputed.
func TestExpectedAmountIsSentByScriptsOnly(t *testing.T) {
	for _, n := range render(t, views.Rental(held())).all("input") {
		if attr(n, "name") == "expected_amount" && !has(n, "disabled") {
			t.Error("expected_amount would be sent without scripts")
		}
	}
}

func TestEveryNumberOfWeeksShowsItsTotal(t *testing.T) {
	d := render(t, views.Rental(held()))
	seen := map[string]bool{}
	for _, n := range d.all("input") {
		if attr(n, "name") == "weeks" {
			seen[attr(n, "value")] = true
			if label := text(ancestor(n, "label")); !strings.Contains(label, attr(n, "data-text")) {
				t.Errorf("%q does not show %q", label, attr(n, "data-text"))
			}
			if has(n, "checked") != (attr(n, "value") == "4") {
				t.Errorf("%s weeks: checked %v", attr(n, "value"), has(n, "checked"))
			}
		}
	}
	if len(seen) != 52 {
		t.Errorf("%d numbers of weeks", len(seen))
	}
}

func TestWhatWasTypedIsKeptAndMarked(t *testing.T) {
	p := held()
	p.Checkout.Weeks, p.Checkout.Email, p.Checkout.GoLiveAt = 7, "ada@", "2027-03-01T10:00"
	p.Checkout.Problems = []views.Problem{{Field: "email", Text: "not whole"}, {Field: "go_live_at", Text: "too far"}, {Field: "weeks", Text: "too many"}}
	d := render(t, views.Rental(p))
	d.sound(t)
	kept := map[string]string{}
	for _, n := range d.all("input") {
		if attr(n, "type") != "radio" || has(n, "checked") {
			kept[attr(n, "name")] = attr(n, "value")
		}
		if name := attr(n, "name"); name == "email" || name == "go_live_at" {
			if attr(n, "aria-invalid") != "true" || attr(n, "aria-describedby") == "" {
				t.Errorf("%s is not marked", name)
			}
			if fold := ancestor(n, "details"); fold != nil && !has(fold, "open") {
				t.Errorf("%s hides in a closed fold", name)
			}
		}
	}
	for name, want := range map[string]string{"weeks": "7", "email": "ada@", "go_live_at": "2027-03-01T10:00"} {
		if kept[name] != want {
			t.Errorf("%s is %q, want %q", name, kept[name], want)
		}
	}
	d = render(t, views.Rental(withPicture(views.PhaseRejected, "rejected")))
	for _, want := range []string{`value="https://typed.example/"`, `value="typed title"`, "typed words</textarea>", `value="contain" checked`} {
		if !strings.Contains(d.source, want) {
			t.Errorf("lost %s", want)
		}
	}
}

func TestConfirmingTurnsByItselfAndNothingElseDoes(t *testing.T) {
	for _, phase := range []views.Phase{views.PhaseHeld, views.PhasePaying, views.PhaseConfirming, views.PhaseProcessing, views.PhaseLive, views.PhaseClosed} {
		polls := strings.Contains(render(t, views.Rental(rental(phase))).source, "data-poll")
		if polls != (phase == views.PhaseConfirming) {
			t.Errorf("%s polls: %v", phase, polls)
		}
	}
}

func TestTheFragmentIsThePagesBody(t *testing.T) {
	page, fragment := render(t, views.Rental(held())), render(t, views.RentalBody(held()))
	if len(fragment.all("h1")) != 1 || !strings.Contains(page.text(), text(fragment.all("body")[0])) {
		t.Error("fragment and page differ")
	}
}

func TestRefundsSayTheWorstFirst(t *testing.T) {
	for _, c := range []struct {
		states []string
		want   string
	}{
		{[]string{"succeeded"}, "Refunded"},
		{[]string{"succeeded", "pending"}, "Your refund is on its way"},
		{[]string{"pending", "failed", "succeeded"}, "Refund outstanding"},
	} {
		p := closed("refunded")
		for _, s := range c.states {
			p.Refunds = append(p.Refunds, views.RefundView{Amount: "1.00 USD", State: s})
		}
		d := render(t, views.Rental(p))
		if !strings.Contains(d.text(), c.want) {
			t.Errorf("%v does not say %q", c.states, c.want)
		}
		if c.want != "Refunded" && strings.Contains(d.text(), "Refunded 1.00") {
			t.Errorf("%v claims to be refunded", c.states)
		}
	}
}
