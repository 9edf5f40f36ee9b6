package show

import (
	"fmt"
	"strings"

	"tuval/internal/board"
	"tuval/internal/grid"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/views"
)

// Live are the areas on the canvas whose title, description or host has the
// words of a search, and how many there are without it.
func Live(b *board.Snapshot, search string) (found []board.Area, all int) {
	search = strings.ToLower(strings.TrimSpace(search))
	for _, a := range b.Areas {
		if a.State != board.Live {
			continue
		}
		all++
		if strings.Contains(strings.ToLower(a.Title+"\n"+a.Alt+"\n"+a.LinkHost), search) {
			found = append(found, a)
		}
	}
	return found, all
}

// Card is one area of the list.
func Card(a board.Area) views.AreaCard {
	return views.AreaCard{
		PublicID: a.ID, Title: a.Title, Host: a.LinkHost, Alt: a.Alt,
		Image: PublicPicture(a.Picture), Image2x: PublicPicture(a.Picture2x),
		Width: a.Rect.W * grid.BlockPx, Height: a.Rect.H * grid.BlockPx, Until: Moment(a.Until),
	}
}

// Total says how many areas are shown: "128 areas", "3 of 128 areas".
func Total(found, all int) string {
	if found == all {
		return Counted(all, "area")
	}
	return Count(found) + " of " + Counted(all, "area")
}

// About says the rules and prices of this installation.
func About(base views.Page, rules market.Rules, free int, contact string) views.AboutPage {
	c := rules.Currency
	base.Description = "What a place on the canvas costs, how it is rented and which rules hold."
	p := views.AboutPage{
		Page: base, Currency: strings.ToUpper(c.Code), PerPixel: c.Of(rules.PricePerPixel).String(), PerBlock: PerBlock(rules).String(),
		Hold: Duration(rules.HoldTTL), HoldMost: Duration(rules.HoldMax), HoldLimits: holdLimits(rules), Approval: Duration(rules.ApprovalWindow),
		Renewal: Duration(rules.RenewalWindow), MaxBlocks: Count(rules.MaxBlocks), MaxWeeks: Count(market.MaxWeeks),
		MaxGoLive: Duration(market.MaxGoLive), Contact: contact, FreeBlocks: Count(free), MinimumAmount: c.Of(c.Min).String(),
	}
	for _, r := range []grid.Rect{{W: 1, H: 1}, {W: 3, H: 2}, {W: 6, H: 4}, {W: 12, H: 8}, {W: 25, H: 20}} {
		if e, ok := example(rules, r); ok {
			p.Examples = append(p.Examples, e)
		}
	}
	return p
}

// exampleWeeks is the longer of the two lengths in the price table.
const exampleWeeks = 4

// example is a line of the price table, if such a place can be bought.
func example(rules market.Rules, r grid.Rect) (views.PriceExample, bool) {
	c := rules.Currency
	week, fits := money.Weekly(r.Pixels(), rules.PricePerPixel)
	month, fitsToo := money.Total(week, exampleWeeks)
	place := Place(r, "")
	return views.PriceExample{Size: place.Size(), Pixels: place.Pixels(), Week: c.Of(week).String(), Month: c.Of(month).String()},
		fits && fitsToo && r.Area() <= rules.MaxBlocks && c.Chargeable(month)
}

// holdLimits says what may be held without paying.
func holdLimits(r market.Rules) string {
	return fmt.Sprintf("At once %d holds and %s blocks; from one network address %d holds and %s blocks. In a day, holds that end unpaid may add up to %d minutes "+
		"and to %s block-minutes (one block for one minute). What you pay for does not count.",
		r.Person.Holds, Count(r.Person.Blocks), r.Address.Holds, Count(r.Address.Blocks), r.Person.HoldMinutes, Count(r.Person.BlockMinutes))
}
