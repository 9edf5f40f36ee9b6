package mail

import (
	"context"
	"crypto/tls"
	"net"

	gomail "github.com/wneessen/go-mail"
)

// dialer opens connections that live no longer than the attempt they are for:
// the library bounds each step of a conversation, but does not end it when the
// job is told to, and leaves some failed conversations open.
func (s *SMTP) dialer(attempt context.Context) gomail.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(attempt, func() { _ = conn.Close() })
		if !s.implicit {
			return conn, nil
		}
		secure := tls.Client(conn, s.tlsConfig())
		return secure, secure.HandshakeContext(ctx)
	}
}

func (s *SMTP) tlsConfig() *tls.Config {
	if s.tls != nil {
		return s.tls
	}
	return &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
}
