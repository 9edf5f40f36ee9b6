package show

import (
	"time"

	"tuval/internal/rental"
	"tuval/views"
)

// ClockSteps are the lengths that the clock of development has buttons for.
func ClockSteps() []views.ClockStep {
	return []views.ClockStep{{By: "10m", Text: "10 minutes"}, {By: "1h", Text: "1 hour"}, {By: "24h", Text: "1 day"}, {By: "168h", Text: "1 week"}}
}

// Deadline is when time moves a rental on, and what happens then.
func Deadline(r rental.Rental) (what string, at time.Time, waits bool) {
	when := next(r)
	if r.State == rental.Closed || when == nil {
		return "", time.Time{}, false
	}
	switch r.State {
	case rental.Held:
		what = "Hold ends"
	case rental.Paying:
		what = "Checkout is over"
	case rental.Paid:
		what = "Approval window closes"
		if r.LiveFrom != nil {
			what = "Goes live"
		}
	case rental.Live:
		what = "Ends"
	case rental.Ended:
		what = "Free for all"
	case rental.Closed:
	}
	return what, *when, true
}

// ClockRental is a rental that waits for something, if it does.
func ClockRental(r rental.Rental, now time.Time) (views.ClockRental, bool) {
	what, at, waits := Deadline(r)
	if !waits || !at.After(now) {
		return views.ClockRental{}, false
	}
	return views.ClockRental{ID: r.Key, Place: size(r.Rect), State: string(r.State), Label: what, At: views.MomentOf(at), Left: Left(now, &at).Text}, true
}

// Moved says what became of rentals when everything grew older.
func Moved(before, after []rental.Rental, by time.Duration) []string {
	was := map[rental.ID]rental.Rental{}
	for _, r := range before {
		was[r.ID] = r
	}
	lines := []string{"Everything is " + views.Remaining(int64(by/time.Second)) + " older."}
	for _, r := range after {
		if old, known := was[r.ID]; known && old.State != r.State {
			lines = append(lines, size(r.Rect)+": "+string(old.State)+" is now "+standing(r)+".")
		}
	}
	return lines
}

func standing(r rental.Rental) string {
	if r.ClosedReason != nil {
		return string(r.State) + " (" + words(string(*r.ClosedReason)) + ")"
	}
	return string(r.State)
}
