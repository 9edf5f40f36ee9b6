package show

import (
	"tuval/internal/creative"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/views"
)

// PrivatePicture is where the owner and admins see a picture of a rental.
func PrivatePicture(rentalKey, hash string) string {
	return "/rentals/" + rentalKey + "/pictures/" + hash
}

// PublicPicture is where everybody sees an approved picture.
func PublicPicture(hash string) string { return "/pictures/" + hash }

// Creative is one revision as its buyer and the admins see it.
func Creative(rentalKey string, c creative.Creative) views.CreativeView {
	v := views.CreativeView{
		Revision: c.Revision, State: string(c.State), Image: PrivatePicture(rentalKey, c.Picture), Image2x: PrivatePicture(rentalKey, c.Picture2x),
		Link: c.Link, Host: c.LinkHost, Title: c.Title, Alt: c.Alt, SentAt: views.MomentOf(c.SubmittedAt),
	}
	if c.Reason != nil {
		v.Reason = *c.Reason
	}
	return v
}

// creativePanel is nil until something was paid.
func creativePanel(d market.Detail, c Context) *views.CreativePanel {
	open := c.Owner && takesPictures(d.Rental)
	latest, approved := d.Latest(), d.Approved()
	if !open && latest == nil {
		return nil
	}
	p := &views.CreativePanel{}
	if latest != nil {
		v := Creative(d.Rental.Key, *latest)
		p.Latest = &v
	}
	if approved != nil && approved.ID != latest.ID {
		v := Creative(d.Rental.Key, *approved)
		p.Shown = &v
	}
	if open {
		p.Form = &views.CreativeForm{Request: c.Key(), Fit: "cover", MaxBytes: c.MaxBytes, Replaces: approved != nil}
	}
	if open && latest != nil {
		p.Form.Link, p.Form.Title, p.Form.Alt, p.Form.Fit, p.Form.KeepsImage = latest.Link, latest.Title, latest.Alt, latest.Fit, true
	}
	return p
}

func takesPictures(r rental.Rental) bool {
	return r.State == rental.Paid || r.State == rental.Live || r.State == rental.Ended
}
