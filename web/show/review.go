package show

import (
	"slices"
	"time"

	"golang.org/x/net/idna"

	"tuval/internal/creative"
	"tuval/internal/market"
	"tuval/views"
)

// Reasons are the ready-made reasons of a rejection, for the buyer to read.
func Reasons() []string {
	return []string{
		"The picture shows something that is not allowed here.",
		"The link does not lead where the picture says.",
		"The link does not work.",
		"The picture is not readable at this size.",
		"The description does not say what is to be seen.",
		"The picture or a mark in it seems to belong to somebody else.",
	}
}

// urgent is how near a deadline is when it is pointed out.
const urgent = 48 * time.Hour

// Review is a picture to decide on, with its rental.
func Review(r creative.Review, d market.Detail, canvas string) views.ReviewItem {
	v := Creative(r.RentalKey, r.Creative)
	item := views.ReviewItem{
		CreativeID: r.Key, RentalID: r.RentalKey, Revision: r.Revision, Place: Place(r.Rect, canvas),
		Image: v.Image, Image2x: v.Image2x, Title: r.Title, Alt: r.Alt, Link: r.Link, Host: r.LinkHost, HostShown: inLetters(r.LinkHost),
		SentAt: v.SentAt, GoLiveAt: Moment(d.Rental.GoLiveAt),
	}
	if d.Weeks > 0 {
		item.Weeks = Counted(d.Weeks, "week")
	}
	if approved := d.Approved(); approved != nil {
		item.Replaces = PrivatePicture(r.RentalKey, approved.Picture)
	}
	by := decideBy(r, d)
	item.DecideBy, item.Urgent = Moment(by), by != nil && by.Sub(d.Now) < urgent
	for _, c := range d.Creatives {
		if c.ID != r.ID {
			item.History = append(item.History, views.EventView{At: views.MomentOf(decidedAt(c)), Text: Said(c)})
		}
	}
	return item
}

// decideBy is when the picture can no longer be of use: the window for the
// first approval closes, or the paid time ends.
func decideBy(r creative.Review, d market.Detail) *time.Time {
	if r.Live {
		return d.Rental.EndsAt
	}
	return r.DecideBy
}

func decidedAt(c creative.Creative) time.Time {
	if c.DecidedAt != nil {
		return *c.DecidedAt
	}
	return c.SubmittedAt
}

// inLetters is a host in its own letters; empty when that is the same.
func inLetters(host string) string {
	shown, err := idna.ToUnicode(host)
	if err != nil || shown == host {
		return ""
	}
	return shown
}

// Decided is the outcome of a decision.
func Decided(c creative.Creative) views.ReviewOutcome {
	return views.ReviewOutcome{CreativeID: c.Key, Revision: c.Revision, Title: c.Title, State: string(c.State)}
}

// Said says in a sentence what became of a revision.
func Said(c creative.Creative) string {
	name := "“" + c.Title + "”"
	if c.Title == "" {
		name = "Without a title"
	}
	text := name + ", version " + Count(c.Revision) + ": " + string(c.State) + "."
	if c.Reason != nil {
		text += " " + *c.Reason
	}
	return text
}

// AdminCreatives are all revisions of a rental with what was decided.
func AdminCreatives(d market.Detail) []views.AdminCreative {
	var all []views.AdminCreative
	for _, c := range d.Creatives {
		v := views.AdminCreative{CreativeView: Creative(d.Rental.Key, c), ID: c.Key, DecidedAt: Moment(c.DecidedAt)}
		if c.DecidedBy != nil {
			v.DecidedBy = *c.DecidedBy
		}
		all = append(all, v)
	}
	return slices.Clip(all)
}
