package turnstile

// Statements are all statements by name.
func Statements() map[string]string {
	return map[string]string{
		"owners": sqlOwners, "claim": sqlClaim, "takeover": sqlTakeover, "extend": sqlExtend, "release": sqlRelease,
	}
}
