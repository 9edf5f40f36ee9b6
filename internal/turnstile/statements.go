package turnstile

// Statements are the statements of this package by name: owners, claim,
// takeover, extend, release. They are for looking at, not for running: for
// plans, and for measuring what PostgreSQL alone makes of them.
func Statements() map[string]string {
	return map[string]string{
		"owners": sqlOwners, "claim": sqlClaim, "takeover": sqlTakeover, "extend": sqlExtend, "release": sqlRelease,
	}
}
