package views

// DevClockPage moves all data into the past, in development. Its forms post
// to /dev/clock with by (a duration like 90m or 24h) or rental (to the next
// deadline of the rental with that id).
type DevClockPage struct {
	Page
	Now      Moment
	Steps    []ClockStep
	Rentals  []ClockRental
	By       string    // as typed
	Problems []Problem // Field: by or ""
}

// ClockStep is one button.
type ClockStep struct {
	By   string // "1h"
	Text string // "1 hour"
}

// ClockRental is a rental that waits for something.
type ClockRental struct {
	ID    string
	Place string
	State string
	Label string // what it waits for
	At    Moment
	Left  string // "2 h 5 min"
}
