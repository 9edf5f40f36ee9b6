package mail

import "crypto/tls"

// SetTLS makes a sender trust the certificate of a test's server.
func SetTLS(s *SMTP, c *tls.Config) { s.tls = c }
