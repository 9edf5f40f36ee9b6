package views

import (
	"net/url"

	"github.com/a-h/templ"
)

// ReviewsPage is the queue of pictures that wait for a decision, the one with
// the oldest deadline first. Forms post to /admin/creatives/{id}/approve
// (revision) and /reject (revision, reason); static/js/review.js sends the same
// forms with HX-Request after its grace time and shows the answering
// [ReviewOutcome].
type ReviewsPage struct {
	AdminPage
	Items   []ReviewItem
	Reasons []string // ready-made reasons, each a button
	More    int      // further pictures not on this page
}

// ReviewItem is one picture to decide on.
type ReviewItem struct {
	CreativeID string
	RentalID   string
	Revision   int
	Place      PlaceView
	Image      string // at 1x and 2x; the admin's own addresses of unapproved pictures
	Image2x    string
	Title      string
	Alt        string
	Link       string // as it will be opened
	Host       string // real host, punycode
	HostShown  string // the same in its own letters, when that differs
	Replaces   string // address of the picture on the canvas now, if there is one
	SentAt     Moment
	DecideBy   Moment
	Urgent     bool // the deadline is near
	Weeks      string
	GoLiveAt   Moment
	History    []EventView // of this buyer: earlier pictures and what became of them

	// Error marks an item whose decision was refused (plain forms only).
	Error  string
	Reason string // what was typed with it
}

// ReviewOutcome is the fragment that answers a decision: 200 when it was
// carried out, 409 when something had changed.
type ReviewOutcome struct {
	CreativeID string
	Revision   int
	Title      string
	// State is approved, rejected, or conflict.
	State string
	Text  string // the refusal of a conflict
}

func (i ReviewItem) path(verb string) templ.SafeURL {
	return templ.URL("/admin/creatives/" + url.PathEscape(i.CreativeID) + "/" + verb)
}

func (i ReviewItem) name() string { return or(i.Title, "Without a title") }

func (i ReviewItem) id(part string) string { return "review-" + i.CreativeID + "-" + part }

func (o ReviewOutcome) words() (kind, title string) {
	switch o.State {
	case "approved":
		return "success", "Approved: " + or(o.Title, "without a title")
	case "rejected":
		return "info", "Rejected: " + or(o.Title, "without a title")
	}
	return "warning", "Changed since you looked"
}
