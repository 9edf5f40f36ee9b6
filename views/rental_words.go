package views

// The words for states that travel as codes.

func creativeWord(state string) string {
	switch state {
	case "pending":
		return "In review"
	case "approved":
		return "Approved"
	case "rejected":
		return "Not approved"
	case "superseded":
		return "Replaced by a later one"
	}
	return state
}

func refundWord(state string) string {
	switch state {
	case "pending":
		return "On its way"
	case "succeeded":
		return "Refunded"
	case "failed":
		return "Outstanding"
	}
	return state
}

func paymentWord(state string) string {
	switch state {
	case "open":
		return "Not paid"
	case "processing":
		return "Pending"
	case "paid":
		return "Paid"
	case "expired":
		return "Expired"
	case "failed":
		return "Failed"
	}
	return state
}

// title names the latest picture by what became of it.
func (c CreativePanel) title() string {
	switch c.Latest.State {
	case "pending":
		return "With the moderators"
	case "rejected":
		return "What you sent"
	}
	return "Your picture"
}

func (f CreativeForm) heading(c CreativePanel) string {
	switch {
	case c.Latest == nil:
		return "Send your picture"
	case c.Latest.State == "rejected":
		return "Change it and send it again"
	case f.Replaces:
		return "Replace the picture or the link"
	}
	return "Send another one instead"
}

func (f CreativeForm) imageHint(p PlaceView) string {
	hint := "PNG, JPEG, WebP or GIF, at most 10 MB. It is fitted to " + p.Pixels() + "; twice that size looks sharpest."
	if f.KeepsImage {
		hint += " Leave empty to keep the picture you sent."
	}
	return hint
}

func (r Receipt) facts(place PlaceView) []Fact {
	facts := []Fact{{"Seller", "Tuval"}, {"Receipt", r.Number}}
	if r.Email != "" {
		facts = append(facts, Fact{"Sent to", r.Email})
	}
	return append(facts, Fact{"Place", place.String() + " (" + place.Pixels() + ")"})
}

func (p RentalPage) placeFacts() []Fact {
	facts := []Fact{
		{"Size", p.Place.Size()},
		{"Picture", p.Place.Pixels()},
		{"At", p.Place.Where()},
	}
	if p.Facts.PricePerWeek != "" {
		facts = append(facts, Fact{"A week", p.Facts.PricePerWeek})
	}
	if p.Facts.Weeks > 0 {
		facts = append(facts, Fact{"Paid for", counted(p.Facts.Weeks, "week")})
	}
	for _, d := range []struct {
		name string
		at   Moment
	}{
		{"Paid", p.Facts.PaidAt}, {"Go-live wish", p.Facts.GoLiveAt}, {"Live from", p.Facts.LiveFrom}, {"Until", p.Facts.EndsAt},
	} {
		if d.at.Set() {
			facts = append(facts, Fact{d.name, d.at.Text})
		}
	}
	return facts
}
