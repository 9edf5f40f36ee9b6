package ident

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// New returns 26 characters of a-z and 2-7 that carry 128 random bits.
func New() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: the process ends instead
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}
