package creative

import (
	"time"

	"tuval/internal/grid"
	"tuval/internal/rental"
)

// State is where a revision stands in its review.
type State string

// The states of a revision.
const (
	Pending    State = "pending"
	Approved   State = "approved"
	Rejected   State = "rejected"
	Superseded State = "superseded"
)

// ID is a revision's row.
type ID int64

// Creative is one revision as stored.
type Creative struct {
	ID          ID
	Key         string
	Rental      rental.ID
	Revision    int // 1, 2, 3 within its rental
	State       State
	Reason      *string // of a rejection, for the buyer
	Link        string
	LinkHost    string // as it really is: punycode
	Title       string
	Alt         string
	Fit         string // cover or contain
	Picture     string // hash of the 1x picture
	Picture2x   string
	SubmittedAt time.Time
	DecidedAt   *time.Time
	DecidedBy   *string
}

// Picture is the bytes of one rendition, addressed by their hash.
type Picture struct {
	Hash          string
	MIME          string
	Width, Height int // pixels
	Bytes         []byte
}

// Review is a revision that waits, with what a moderator needs to know.
type Review struct {
	Creative
	RentalKey string
	Rect      grid.Rect
	DecideBy  *time.Time
	Live      bool // a picture of this rental was approved before
}
