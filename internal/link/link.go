package link

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tuval/internal/fault"
)

// MaxBytes limits a link, as typed and as stored.
const MaxBytes = 2048

// Link is an accepted address.
type Link struct {
	URL     string // absolute, ASCII, percent-encoded: what is stored and used as href
	Host    string // real host, lower case, in xn-- form or an IP address; without port
	Display string // short form for people: host and the start of the path; escape it
}

// Parse reads what somebody typed, or a stored URL, for which it changes
// nothing. A refusal is a fault of kind Invalid with field "link".
func Parse(s string) (Link, error) {
	s = strings.TrimSpace(s)
	if err := checkCharacters(s); err != nil {
		return Link{}, err
	}
	scheme, rest, err := cutScheme(s)
	if err != nil {
		return Link{}, err
	}
	authority, path := cutAuthority(rest)
	a, err := parseAuthority(authority, scheme)
	if err != nil {
		return Link{}, err
	}
	l := Link{Host: a.host, URL: scheme + "://" + a.String() + encode(path)}
	if len(l.URL) > MaxBytes {
		return Link{}, tooLong(len(l.URL))
	}
	if !browserAgrees(l.URL, a) {
		return Link{}, refuse("is not a web address that browsers agree on")
	}
	l.Display = display(a, encode(path))
	return l, nil
}

// checkCharacters looks at the whole input, before anything is read into it.
func checkCharacters(s string) error {
	switch {
	case s == "":
		return fault.Field("link", "Please write the web address the picture leads to, as in https://example.com.")
	case len(s) > MaxBytes:
		return tooLong(len(s))
	case !utf8.ValidString(s):
		return refuse("holds bytes that are not text (UTF-8)")
	case strings.ContainsRune(s, '\\'):
		return refuse("holds a backslash; web addresses use /")
	}
	for _, c := range s {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029' {
			return refuse(fmt.Sprintf("holds a control or invisible character (U+%04X)", c))
		}
	}
	return nil
}

// cutScheme returns "http" or "https" and what follows the two slashes.
func cutScheme(s string) (scheme, rest string, err error) {
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		return "https", rest, nil
	}
	before, after, found := strings.Cut(s, ":")
	if !found || strings.ContainsAny(before, "/?#[") || hostAndPort(before, after) {
		return withoutScheme(s)
	}
	switch scheme = strings.ToLower(before); scheme {
	case "http", "https":
		if rest, ok := strings.CutPrefix(after, "//"); ok {
			return scheme, rest, nil
		}
		return "", "", refuse("needs two slashes after " + scheme + ":, as in " + scheme + "://example.com")
	}
	return "", "", refuse("must begin with https:// or http://")
}

// withoutScheme takes "example.com/page", but no path of our own site.
func withoutScheme(s string) (scheme, rest string, err error) {
	host, _ := cutAuthority(s)
	if !strings.Contains(host, ".") {
		return "", "", refuse("must be a full web address that begins with https:// or http://, as in https://example.com")
	}
	return "https", s, nil
}

// hostAndPort tells "example.com:8080/x" from "javascript:1".
func hostAndPort(before, after string) bool {
	return strings.Contains(before, ".") && after != "" && after[0] >= '0' && after[0] <= '9'
}

// cutAuthority splits at the first slash, question mark or hash.
func cutAuthority(s string) (authority, path string) {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func refuse(what string) error { return fault.Field("link", "The link "+what+".") }

func tooLong(n int) error {
	return refuse(fmt.Sprintf("may have at most %d bytes; this one has %d", MaxBytes, n))
}
