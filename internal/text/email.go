package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"tuval/internal/fault"
)

// Limits of an e-mail address in bytes (RFC 5321, section 4.5.3.1).
const (
	EmailMax      = 254
	emailLocalMax = 64
)

// Email returns an address as it can be written into a mail and an SMTP
// command as it stands: ASCII only, one @, the domain in lower case and in its
// xn-- form. The part before the @ keeps its case, since only its own server
// may say whether case matters; compare addresses by EmailKey.
//
// Quoted parts, comments, address literals, names without a dot and other
// scripts before the @ are refused: hardly any server takes them. The fault
// names the field "email" and what is wrong.
func Email(s string) (string, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", badEmail("Please write your e-mail address.")
	case !utf8.ValidString(s):
		return "", badEmail("The e-mail address holds bytes that are not text (UTF-8).")
	case len(s) > 4*EmailMax:
		return "", tooLongEmail(len(s))
	case strings.Count(s, "@") != 1:
		return "", badEmail("An e-mail address has exactly one @, as in name@example.com.")
	}
	local, domain, _ := strings.Cut(norm.NFC.String(s), "@")
	if err := checkLocal(local); err != nil {
		return "", err
	}
	domain, ok := asciiDomain(domain)
	if !ok {
		return "", badEmail("The part of the e-mail address after the @ is not a domain name, as in name@example.com.")
	}
	if n := len(local) + 1 + len(domain); n > EmailMax {
		return "", tooLongEmail(n)
	}
	return local + "@" + domain, nil
}

// EmailKey is the form of an address from Email that is compared: two
// addresses that differ in case only are taken for the same person's.
func EmailKey(address string) string { return strings.ToLower(address) }

// checkLocal wants a dot-atom of RFC 5322.
func checkLocal(local string) error {
	if local == "" || len(local) > emailLocalMax {
		return badEmail(fmt.Sprintf("The part of the e-mail address before the @ must have 1 to %d characters.", emailLocalMax))
	}
	if local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, "..") {
		return badEmail("In an e-mail address, dots before the @ stand alone and between other characters.")
	}
	for _, c := range local {
		if !isLocal(c) {
			return badEmail("The part of the e-mail address before the @ may have the letters a to z, digits and .!#$%&'*+-/=?^_`{|}~ only.")
		}
	}
	return nil
}

func isLocal(c rune) bool {
	return isAlnum(c) || (c < utf8.RuneSelf && strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", c))
}

func isAlnum(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// asciiDomain returns a domain as DNS knows it and whether it is one. It must
// have a dot, and its last label a letter: otherwise it is an address of a
// machine, or of nothing.
func asciiDomain(domain string) (string, bool) {
	profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false),
		idna.CheckHyphens(false), idna.VerifyDNSLength(true))
	ascii, err := profile.ToASCII(domain)
	if err != nil || strings.HasSuffix(ascii, ".") {
		return "", false
	}
	dot := strings.LastIndexByte(ascii, '.')
	if dot < 1 || !strings.ContainsAny(ascii[dot+1:], "abcdefghijklmnopqrstuvwxyz") {
		return "", false
	}
	return ascii, domainLabels(ascii)
}

// domainLabels checks letters, digits and inner hyphens once more, whatever
// the mapping made of the input.
func domainLabels(ascii string) bool {
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, func(c rune) bool { return c != '-' && !isAlnum(c) }) {
			return false
		}
	}
	return true
}

func badEmail(msg string) error { return fault.Field("email", msg) }

func tooLongEmail(n int) error {
	return badEmail(fmt.Sprintf("An e-mail address may have at most %d characters; this one has %d.", EmailMax, n))
}
