//go:build !linux && !darwin

package localpg

import (
	"context"
	"errors"
)

// Cluster is a running server.
type Cluster struct{}

// Start cannot start a server on this system.
func Start(context.Context, Options) (*Cluster, error) {
	return nil, errors.New("a private PostgreSQL is supported on Linux and macOS only: install PostgreSQL and set DATABASE_URL")
}

// URL returns nothing here, as no Cluster can exist.
func (*Cluster) URL(string) string { return "" }

// EnsureDatabase fails here.
func (*Cluster) EnsureDatabase(context.Context, string) (string, error) {
	return "", errors.ErrUnsupported
}

// LogPath returns nothing here.
func (*Cluster) LogPath() string { return "" }

// DataDir returns nothing here.
func (*Cluster) DataDir() string { return "" }

// BinDir returns nothing here.
func (*Cluster) BinDir() string { return "" }

// Done never ends here.
func (*Cluster) Done() <-chan struct{} { return nil }

// Stop does nothing here.
func (*Cluster) Stop(context.Context) error { return nil }

// Kill does nothing here.
func (*Cluster) Kill() {}
