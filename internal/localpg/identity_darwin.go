package localpg

// inNamespace: there are none here.
func inNamespace(int, int) (identity, bool) { return identity{}, false }
