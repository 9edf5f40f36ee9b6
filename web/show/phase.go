package show

import (
	"time"

	"tuval/internal/creative"
	"tuval/internal/market"
	"tuval/internal/rental"
	"tuval/views"
)

// Phase is what a rental looks like to its buyer. confirming says that the
// buyer just came back from the payment page.
func Phase(d market.Detail, confirming bool) views.Phase {
	switch d.Rental.State {
	case rental.Held:
		return views.PhaseHeld
	case rental.Paying:
		return paying(d, confirming)
	case rental.Paid:
		return awaiting(d)
	case rental.Live:
		if d.Rental.Hidden {
			return views.PhaseHidden
		}
		return views.PhaseLive
	case rental.Ended:
		return views.PhaseEnded
	case rental.Closed:
	}
	return views.PhaseClosed
}

func paying(d market.Detail, confirming bool) views.Phase {
	switch {
	case d.Processing():
		return views.PhaseProcessing
	case confirming:
		return views.PhaseConfirming
	}
	return views.PhasePaying
}

// awaiting is a paid rental that is not on the canvas yet.
func awaiting(d market.Detail) views.Phase {
	latest := d.Latest()
	switch {
	case d.Rental.LiveFrom != nil:
		return views.PhaseScheduled
	case latest == nil:
		return views.PhaseAwaitingImage
	case latest.State == creative.Rejected:
		return views.PhaseRejected
	}
	return views.PhaseInReview
}

// deadline is when the phase ends by itself.
func deadline(p views.Phase, r rental.Rental) *time.Time {
	switch p {
	case views.PhaseHeld, views.PhasePaying, views.PhaseConfirming, views.PhaseProcessing:
		return r.LeasedUntil
	case views.PhaseAwaitingImage, views.PhaseInReview, views.PhaseRejected:
		return r.ApproveBy
	case views.PhaseScheduled:
		return r.LiveFrom
	case views.PhaseLive, views.PhaseHidden:
		return r.EndsAt
	case views.PhaseEnded:
		return r.ReservedUntil
	case views.PhaseClosed:
	}
	return nil
}
