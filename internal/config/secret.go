package config

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "redacted"

// Secret holds a value that must not be shown. However it is printed, logged
// or encoded it reads "redacted"; only Reveal gives it away. The zero Secret
// is not set.
//
// The value hides behind a pointer because fmt ignores methods inside
// unexported fields and would print a plain string.
type Secret struct{ value *string }

// NewSecret wraps a value; an empty one is the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal returns the value, empty when it is not set.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != nil }

// String says "redacted", or nothing when there is no value.
func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return redacted
}

// Format writes what String says for every verb, %#v and %x too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue is what a log shows.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what JSON and other encodings show.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
