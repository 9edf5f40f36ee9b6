//go:build linux

package localpg

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRelocated runs as root below a folder that nobody else may enter, where
// user namespaces are refused: the data go elsewhere, and are found again.
func TestRelocated(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	ways := func() []identity {
		return slices.DeleteFunc(identities(), func(as identity) bool { return as.attr.Cloneflags != 0 })
	}
	dir := t.TempDir() // private
	var said strings.Builder
	for range 2 {
		c, err := start(t.Context(), Options{Dir: dir, Log: &said}, ways)
		if err != nil {
			t.Fatal(err)
		}
		place := filepath.Dir(c.DataDir())
		t.Cleanup(func() { os.RemoveAll(place); os.Remove(filepath.Dir(place)) })
		if strings.HasPrefix(place, dir) {
			t.Errorf("data in %s", place)
		}
		if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(said.String(), "data are in"); n != 1 {
		t.Errorf("said %d times where the data are: %s", n, said.String())
	}
}
