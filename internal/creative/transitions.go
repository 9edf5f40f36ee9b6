package creative

// Transition is one arrow of a revision's state machine.
type Transition struct {
	From, To State
	Why      string // what makes it, in words
}

// Transitions is the machine of a revision. What was rejected or superseded
// stays so: a buyer who wants it shown sends it again.
func Transitions() []Transition {
	return []Transition{
		{Pending, Approved, "a moderator approves exactly this revision"},
		{Pending, Rejected, "a moderator rejects exactly this revision"},
		{Pending, Superseded, "a newer upload, or its rental is closed"},
		{Approved, Superseded, "a newer revision is approved"},
	}
}
