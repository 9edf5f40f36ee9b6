package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
)

// What a part says is passed on until its work is over, with all it carries.
func TestBackstage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(backstage{slog.NewTextHandler(&out, nil)}).With("part", "queue").WithGroup("of")
	ctx, stop := context.WithCancel(t.Context())
	log.ErrorContext(ctx, "a query failed", "n", 1)
	stop()
	log.ErrorContext(ctx, "another failed")
	if said := out.String(); !strings.Contains(said, `msg="a query failed" part=queue of.n=1`) || strings.Contains(said, "another") {
		t.Errorf("said %q", said)
	}
}
