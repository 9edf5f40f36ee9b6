package stripesim

import "crypto/rand"

// newID makes an unguessable id with Stripe's prefix for its kind.
func newID(prefix string) string { return prefix + rand.Text() }

func newSessionID() string { return "cs_test_" + rand.Text() + rand.Text() }
