package localpg

import (
	"context"
	"fmt"
	"os"
)

// StartTemporary starts a server in a folder of its own below the system's
// temporary one. The folder is removed when the server stops, at the latest when
// this process has ended. Dir and Discard of opts are set here.
func StartTemporary(ctx context.Context, opts Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "tuval-pg-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for PostgreSQL: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the server may run as another user
		return nil, fmt.Errorf("make a folder for PostgreSQL: %w", err)
	}
	opts.Dir, opts.Discard = dir, true
	c, err := Start(ctx, opts)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}
