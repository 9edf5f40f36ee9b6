package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// The beginnings of our tokens. They tell people and secret scanners what was
// found, and let logs take it out.
const (
	linkPrefix  = "tuval_link_"
	adminPrefix = "tuval_admin_"
)

// newToken returns 256 random bits behind a prefix.
func newToken(prefix string) string {
	var b [32]byte
	rand.Read(b[:]) // never fails: the process ends instead
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// hashOf is what the database keeps of a token.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// looksLike tells tokens from anything else that people paste, so that
// nonsense never reaches the database.
func looksLike(token, prefix string) bool {
	rest, ok := strings.CutPrefix(token, prefix)
	return ok && len(rest) == base64.RawURLEncoding.EncodedLen(32)
}
