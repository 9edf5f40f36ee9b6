package views

// PassView is the last comparison of what should be with what is, and what it
// and earlier ones found. Its button posts to /admin/reconcile.
type PassView struct {
	At       Moment // zero: none yet
	By       string
	Took     string // "0.4 s"; empty while it runs
	Found    string // "3 things"
	Trouble  string // what could not be looked at
	Findings []FindingRow
}

// result says what came of it, and how long that took.
func (p PassView) result() string {
	if p.Took == "" {
		return p.Found + "."
	}
	return "found " + p.Found + " in " + p.Took + "."
}

// FindingRow is one thing that was found.
type FindingRow struct {
	Kind      string
	RentalID  string
	PaymentID string
	RefundID  string
	Done      string
	Times     string // in how many passes in a row
	FirstSeen Moment
	LastSeen  Moment
	Over      Moment // not found any more
}

// about names what a finding is about, when it is no rental.
func (f FindingRow) about() string { return or(f.RefundID, f.PaymentID) }
