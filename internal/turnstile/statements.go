package turnstile

// Statements are the statements of this package by name: taken, owners,
// claim, take over, extend, release. They are for looking at, not for running: for
// measuring what PostgreSQL alone makes of them.
func Statements() map[string]string {
	return map[string]string{
		"taken": sqlTaken, "owners": sqlOwners, "claim": sqlClaim, "take over": sqlTakeOver, "extend": sqlExtend, "release": sqlRelease,
	}
}
