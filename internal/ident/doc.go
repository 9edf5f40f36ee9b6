// Package ident makes the identifiers that appear in addresses: random,
// unguessable, not countable, safe in a URL and easy to read aloud.
package ident
