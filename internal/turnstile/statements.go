package turnstile

// Statements are the statements of this package by name: owners, claim,
// take over, extend, release. They are for looking at, not for running: for
// measuring what PostgreSQL alone makes of them.
func Statements() map[string]string {
	return map[string]string{
		"owners": sqlOwners, "claim": sqlClaim, "take over": sqlTakeOver, "extend": sqlExtend, "release": sqlRelease,
	}
}
