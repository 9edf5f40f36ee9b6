package workflow

import (
	"time"

	"tuval/internal/money"
	"tuval/internal/rental"
)

// Kind is what a step is about.
type Kind string

// The kinds, in the order of a full life; the last two compensate.
const (
	Hold    Kind = "hold"
	Pay     Kind = "pay"
	Receipt Kind = "receipt"
	Image   Kind = "image"
	Review  Kind = "review"
	Replace Kind = "replace" // another picture, once one was approved
	GoLive  Kind = "go live"
	Remind  Kind = "remind"
	Extend  Kind = "extend"
	End     Kind = "end"
	Renew   Kind = "renew"
	Release Kind = "release" // of the blocks
	Refund  Kind = "refund"
)

// State is where a step stands.
type State string

// The states of a step.
const (
	Done    State = "done"
	Now     State = "now"     // under way, or what is waited for
	Waiting State = "waiting" // its turn may come
	Failed  State = "failed"  // tried, and came to a bad end
	Skipped State = "skipped" // its turn never comes
	Undone  State = "undone"  // happened and was taken back
)

// Step is one step of a rental. At is when it came to its state, Due until
// when, or at which instant, it comes; either may be unknown. A Due that is not
// Fixed is what was wished for, before the first approval settles it.
type Step struct {
	ID     string // the kind, from the second of its kind on with a number: "extend 2"
	Kind   Kind
	N      int
	State  State
	At     *time.Time
	Due    *time.Time
	Fixed  bool
	Note   string // more about it, in words
	Weeks  int    // pay, extend, renew
	Amount money.Money
	Tries  *Tries
	Branch bool // beside the main way
}

// Tries is how the job of a step fares: the one that most needs a look.
type Tries struct {
	Kind, Why    string
	Attempt, Max int
	Next         *time.Time // of a job that is tried again
	Error        string     // the last one
	Dead         bool       // given up
}

// Edge says that a step follows another. Back marks a compensation: it is not
// the way things were meant to go.
type Edge struct {
	From, To string
	Back     bool
}

// Graph is a rental's steps, each after those it follows.
type Graph struct {
	Rental rental.Rental
	Now    time.Time
	Weeks  int // bought, and not gone back
	Steps  []Step
	Edges  []Edge
}

// Step finds a step by its ID.
func (g Graph) Step(id string) (Step, bool) {
	for _, s := range g.Steps {
		if s.ID == id {
			return s, true
		}
	}
	return Step{}, false
}

// After lists the IDs of the steps that a step follows.
func (g Graph) After(id string) []string {
	var ids []string
	for _, e := range g.Edges {
		if e.To == id {
			ids = append(ids, e.From)
		}
	}
	return ids
}
