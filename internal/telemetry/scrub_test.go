package telemetry

import (
	"strings"
	"testing"
)

func TestScrubLeavesPlainWordsAlone(t *testing.T) {
	for _, s := range []string{
		"listening on http://127.0.0.1:8080", "hold_lapses=3", "a @ b", "x -> y", "settle: rental 7: lock timeout",
		"dial tcp 10.0.0.5:5432: connect: connection refused", "checkout.session.completed", "from 3 to 5",
	} {
		if got := newScrubber().text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("a@b.c")
	f.Add("://a@b from [::1]:1")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(newScrubber().text(s+" victim@example.com"), "victim@") {
			t.Errorf("an address beside %q stays", s)
		}
	})
}
