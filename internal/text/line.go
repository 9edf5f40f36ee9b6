package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tuval/internal/fault"
)

// Limits of what is shown on the canvas, in characters.
const (
	TitleMax = 80
	AltMax   = 250
)

// marksMax is how many combining marks may follow each other. Living scripts
// need about four; a tower of them would paint over other people's text.
const marksMax = 8

// Rule describes one input for text.
type Rule struct {
	Field    string // name of the input, for the fault
	Label    string // what people call it, at the start of a sentence
	Max      int    // characters
	Required bool   // refuse a text without anything to see
	Lines    bool   // keep line ends, as LF; for notes of several lines
}

// Title cleans the title of a picture: up to TitleMax characters, may be empty.
func Title(s string) (string, error) {
	return Rule{Field: "title", Label: "The title", Max: TitleMax}.Clean(s)
}

// Alt cleans the text alternative of a picture: required, up to AltMax characters.
func Alt(s string) (string, error) {
	return Rule{Field: "alt", Label: "The alt text", Max: AltMax, Required: true}.Clean(s)
}

// Line cleans one optional line of up to max characters.
func Line(field, label string, max int, s string) (string, error) {
	return Rule{Field: field, Label: label, Max: max}.Clean(s)
}

// Clean returns s as it is kept, or a fault of kind Invalid. A text without
// anything to see becomes empty. Cleaning twice changes nothing.
func (r Rule) Clean(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", r.refuse("holds bytes that are not text (UTF-8)")
	}
	if n := utf8.RuneCountInString(s); n > 16*(r.Max+64) {
		return "", r.tooLong(n) // no need to work through a book
	}
	s, err := r.printable(s)
	if err != nil {
		return "", err
	}
	s = strings.TrimFunc(norm.NFC.String(s), unicode.IsSpace)
	if !visible(s) {
		if r.Required {
			return "", fault.Field(r.Field, r.Label+" is missing: please write 1 to "+fmt.Sprint(r.Max)+" characters.")
		}
		return "", nil
	}
	if towering(s) {
		return "", r.refuse(fmt.Sprintf("stacks more than %d accents on one letter", marksMax))
	}
	if n := utf8.RuneCountInString(s); n > r.Max {
		return "", r.tooLong(n)
	}
	return s, nil
}

// printable folds blanks, drops characters nobody can see and refuses
// control characters.
func (r Rule) printable(s string) (string, error) {
	if r.Lines {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	}
	var b strings.Builder
	blank := false
	for _, c := range s {
		switch {
		case c == '\n' && r.Lines:
			b.WriteRune(c)
			blank = true
		case c == ' ' || foldable(c):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
		case unicode.IsControl(c):
			return "", r.refuse(fmt.Sprintf("holds a control character (U+%04X)", c))
		case !hidden(c):
			b.WriteRune(c)
			blank = false
		}
	}
	return b.String(), nil
}

func (r Rule) refuse(what string) error {
	return fault.Field(r.Field, fmt.Sprintf("%s %s.", r.Label, what))
}

func (r Rule) tooLong(n int) error {
	return r.refuse(fmt.Sprintf("may have at most %d characters; this one has %d", r.Max, n))
}

// foldable are the characters that end or indent a line.
func foldable(c rune) bool {
	switch c {
	case '\t', '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// hidden are characters that show nothing themselves or turn what follows.
func hidden(c rune) bool {
	switch {
	case c >= '\u202A' && c <= '\u202E', c >= '\u2066' && c <= '\u2069', // bidi
		c == '\u200B', c >= '\u2060' && c <= '\u2064', c == '\uFEFF', c == '\u180E', // no width
		c >= '\u206A' && c <= '\u206F', c >= '\uFFF9' && c <= '\uFFFB': // deprecated
		return true
	}
	return false
}

// visible reports whether there is anything to see: a letter, a digit, a mark
// of punctuation or a symbol. Fillers that are letters by name only do not count.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool {
		switch c {
		case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800':
			return false
		}
		return unicode.In(c, unicode.L, unicode.N, unicode.P, unicode.S, unicode.Co)
	})
}

// towering reports whether more than marksMax combining marks follow each other.
func towering(s string) bool {
	run := 0
	for _, c := range s {
		if !unicode.In(c, unicode.Mn, unicode.Me) {
			run = 0
			continue
		}
		if run++; run > marksMax {
			return true
		}
	}
	return false
}
