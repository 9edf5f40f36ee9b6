package db

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// isNetwork is a connection that broke under a statement: the server went
// away, and whether the statement took effect is unknown.
func isNetwork(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
