package main

import (
	"strings"
	"testing"

	"tuval/internal/testdb"
)

// The demo lives one rental through and fills the canvas, all by the real
// verbs; again, it moves no time and changes nothing.
func TestDemo(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t)
	env := []string{"DATABASE_URL=" + url, "TUVAL_DATA_DIR=" + t.TempDir(), "TUVAL_ADDR=127.0.0.1:0"}
	out, code := tool(t, env, "", "demo")
	for _, want := range []string{
		"the buyer holds it", "48 hours later its blocks are free", "closed (not_renewed)", "8 mails tell of it", "27 example rentals are on the canvas",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Fatalf("exit %d, no %q in\n%s", code, want, out)
		}
	}
	out, code = tool(t, env, "", "demo")
	if code != 0 || !strings.Contains(out, "0 example rentals") || strings.Contains(out, "the buyer holds it") {
		t.Errorf("again: exit %d\n%s", code, out)
	}
	out, code = tool(t, env, "", "check")
	if code != 0 {
		t.Errorf("check: %s", out)
	}
}
