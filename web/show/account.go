package show

import (
	"time"

	"tuval/internal/creative"
	"tuval/internal/rental"
	"tuval/views"
)

// AccountRental is one line of the account: a rental with its revisions, the
// newest first.
func AccountRental(r rental.Rental, now time.Time, pictures []creative.Creative) views.AccountRental {
	v := views.AccountRental{ID: r.Key, Place: Place(r.Rect, ""), State: string(r.State)}
	v.Label, v.Deadline, v.At = accountLine(r, now, pictures)
	if len(pictures) > 0 {
		v.Title, v.Image = pictures[0].Title, PrivatePicture(r.Key, pictures[0].Picture)
	}
	return v
}

// accountLine is how a rental stands, what comes next and when.
func accountLine(r rental.Rental, now time.Time, pictures []creative.Creative) (label, next string, at views.Moment) {
	switch r.State {
	case rental.Held:
		return "Held for you", "Hold ends", Moment(r.LeasedUntil)
	case rental.Paying:
		return "Payment open", "Kept until", Moment(r.LeasedUntil)
	case rental.Paid:
		return paidLine(r, pictures)
	case rental.Live:
		if r.Hidden {
			return "Hidden", "Paid until", Moment(r.EndsAt)
		}
		return "On the canvas", "Leaves the canvas", Moment(r.EndsAt)
	case rental.Ended:
		return "Ended", "Reserved until", Moment(r.ReservedUntil)
	case rental.Closed:
	}
	label = "Closed"
	if r.ClosedReason != nil {
		label += ", " + words(string(*r.ClosedReason))
	}
	return label, "Closed", Moment(r.ClosedAt)
}

func paidLine(r rental.Rental, pictures []creative.Creative) (label, next string, at views.Moment) {
	switch {
	case r.LiveFrom != nil:
		return "Approved", "Goes live", Moment(r.LiveFrom)
	case len(pictures) == 0:
		return "Needs a picture", "Approved picture needed by", Moment(r.ApproveBy)
	case pictures[0].State == creative.Rejected:
		return "Needs a change", "Approved picture needed by", Moment(r.ApproveBy)
	}
	return "In review", "Approved picture needed by", Moment(r.ApproveBy)
}
