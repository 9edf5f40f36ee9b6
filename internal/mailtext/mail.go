package mailtext

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tuval/internal/grid"
)

// Mail is a message ready to be addressed and sent.
type Mail struct {
	Subject string // one line, no control characters, at most maxSubject characters
	Text    string // plain text, lines of about 72 characters, ends with a newline
	HTML    string // a whole document that loads nothing from anywhere
}

const (
	siteName = "Tuval"

	// maxSubject keeps a subject readable in a list of mails.
	maxSubject = 120
)

// line makes one line of anything: control characters, line separators and
// the marks that turn the writing direction become blanks, runs of blanks
// become one, broken UTF-8 becomes the replacement character.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || turns(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// turns reports the explicit direction marks: with them a title could show an
// address or an amount backwards. Joiners, which emoji need, stay.
func turns(r rune) bool {
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

// subject makes one line and cuts it at maxSubject characters.
func subject(s string) string {
	runes := []rune(line(s))
	if len(runes) <= maxSubject {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:maxSubject-1])) + "…"
}

// quoted puts a title between quotes, or says that there is none.
func quoted(title string) string {
	if title = line(title); title != "" {
		return "“" + title + "”"
	}
	return "your picture"
}

// at writes an instant with its zone, to the minute.
func at(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006, 15:04 UTC") }

// day writes the date of an instant with its zone, for subjects.
func day(t time.Time) string { return t.UTC().Format("2 Jan 2006 (UTC)") }

// sentence begins a sentence with the given words.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// place says where and how large a rect is, the way pages say it: 1-based.
func place(r grid.Rect) string {
	return fmt.Sprintf("%d × %d blocks (%d × %d px) at column %d, row %d",
		r.W, r.H, r.W*grid.BlockPx, r.H*grid.BlockPx, r.X+1, r.Y+1)
}

// weeks counts weeks in words.
func weeks(n int) string {
	if n == 1 {
		return "1 week"
	}
	return fmt.Sprintf("%d weeks", n)
}
