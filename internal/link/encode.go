package link

import (
	"strings"
	"unicode/utf8"
)

// displayMax is the length of a short form, in characters.
const displayMax = 60

// encode writes path, query and fragment in ASCII: what is not allowed there
// is percent-encoded byte by byte, and so are quotes, which are allowed but
// dangerous in bad company. Escapes that are there stay as they are; a percent
// sign that begins none becomes %25. An empty path becomes "/".
func encode(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	if s == "" || s[0] != '/' {
		b.WriteByte('/')
	}
	fragment := false
	for i := range len(s) {
		c := s[i]
		if plain(c) || c == '%' && escape(s[i:]) || c == '#' && !fragment {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
		fragment = fragment || c == '#'
	}
	return b.String()
}

// plain bytes stand for themselves everywhere behind the host: RFC 3986
// unreserved and reserved, less the quote, the brackets and the hash.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c < utf8.RuneSelf && strings.IndexByte("-._~:/?@!$&()*+,;=", c) >= 0
}

// escape reports whether s begins with a percent sign and two hex digits.
func escape(s string) bool {
	return len(s) >= 3 && isHex(s[1]) && isHex(s[2])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// display is host and path without a lone slash, cut with an ellipsis. The
// host stays in its xn-- form unless its only foreign letters are the Western
// European ones (as in müller.example), which nobody mistakes for others.
func display(a authority, path string) string {
	if path == "/" {
		path = ""
	}
	host := strings.TrimPrefix(a.host, "www.")
	if u, err := hostProfile().ToUnicode(host); err == nil && western(u) {
		host = u
	}
	a.host = host
	shown := []rune(a.String() + path)
	if len(shown) > displayMax {
		shown = append(shown[:displayMax-1], '…')
	}
	return string(shown)
}

func western(s string) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf && (c < 'ß' || c > 'ÿ' || c == '÷') {
			return false
		}
	}
	return true
}
