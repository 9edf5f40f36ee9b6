package mail

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
)

// setSubject writes a subject so that it reads as it was given, on one line.
func setSubject(msg *gomail.Msg, s string) {
	s = oneLine(s)
	if misread(s) {
		msg.SetGenHeaderPreformatted(gomail.HeaderSubject, encodedWords(s))
		return
	}
	msg.Subject(s)
}

// oneLine makes blanks of control characters, and one blank of several:
// encoded they would be harmless, but nobody should see them.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// longestWord keeps a header's lines below the 998 bytes that a line may have
// (RFC 5322, section 2.1.1): they are folded at blanks only.
const longestWord = 900

// misread finds plain texts that the library leaves as they are although a
// reader would take them for encoded ones, or a server for too long.
func misread(s string) bool {
	if strings.Contains(s, "=?") {
		return true
	}
	for word := range strings.SplitSeq(s, " ") {
		if len(word) > longestWord {
			return true
		}
	}
	return false
}

// encodedWords writes a text as encoded words of at most 75 bytes, each of
// whole characters, one a line (RFC 2047, section 2).
func encodedWords(s string) string {
	const most = 45 // bytes that make 60 in base64
	var words []string
	for s != "" {
		n := min(most, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(s[:n]))+"?=")
		s = s[n:]
	}
	return strings.Join(words, "\r\n ")
}
