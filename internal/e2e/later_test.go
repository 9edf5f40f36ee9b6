package e2e

// Steps that the walks still to be written begin with: hostile words on every
// page, and axe on every page.
var _ = []any{
	(*tab).key, (*tab).wheel, (*record).seen, (*record).posts, (*site).age, someWords, (*tab).sent, (*tab).submit, (*tab).live, (*site).decide,
}
