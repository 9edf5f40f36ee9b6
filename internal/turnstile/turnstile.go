package turnstile

import (
	"errors"

	"tuval/internal/grid"
)

// ClaimID names whoever possesses blocks: rentals.id or blocked_areas.id,
// which draw from one sequence.
type ClaimID int64

// Lease is a claim and the rect it possesses or asks for.
type Lease struct {
	Claim ClaimID
	Rect  grid.Rect
}

// Owner is a claim that has blocks of a rect. Lapsed says that its lease has
// run out, by the database's clock, and that it was not settled yet.
type Owner struct {
	Claim  ClaimID
	Lapsed bool
}

var (
	// ErrTaken says that a running lease of somebody else has some of the blocks.
	ErrTaken = errors.New("turnstile: some blocks are taken")
	// ErrMoved says that some blocks belong to a claim whose lease ran out and
	// that the caller did not give up: it looks at the owners again and starts
	// over, at most 5 times.
	ErrMoved = errors.New("turnstile: the owners changed")
	// ErrLost says that the blocks are not the claim's own any more; nothing was
	// changed.
	ErrLost = errors.New("turnstile: the blocks belong to the claim no more")
)
