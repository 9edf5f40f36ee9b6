package mailtext

import (
	"bytes"
	"html/template"
	"strings"
	"unicode/utf8"
)

// letter is what a mail says, before it has a form.
type letter struct {
	Subject string
	Heading string
	Lead    []string // paragraphs before the facts
	Quote   string   // words of a person, kept apart from ours; may have lines
	Facts   []fact
	Action  action
	After   []string // paragraphs after the action
}

type fact struct{ Label, Value string }

// optional keeps the facts that are known.
func optional(all ...fact) (known []fact) {
	for _, f := range all {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}

type action struct{ Label, URL string }

// mail renders the letter in both forms.
func (l letter) mail() Mail {
	l.Subject, l.Heading = subject(l.Subject), line(l.Heading)
	for i, f := range l.Facts {
		l.Facts[i].Value = line(f.Value)
	}
	l.Action.URL = strings.Join(strings.Fields(line(l.Action.URL)), "%20")
	return Mail{Subject: l.Subject, Text: l.text(), HTML: l.html()}
}

// QuoteLines are the lines of the quote, each made safe, blank ones dropped.
func (l letter) QuoteLines() []string {
	var lines []string
	for s := range strings.Lines(l.Quote) {
		if s = line(s); s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}

func (l letter) text() string {
	var b strings.Builder
	b.WriteString(l.Heading + "\n\n")
	paragraphs(&b, l.Lead)
	if lines := l.QuoteLines(); len(lines) > 0 {
		for _, s := range lines {
			b.WriteString(wrap(s, "  > "))
		}
		b.WriteString("\n")
	}
	if len(l.Facts) > 0 {
		for _, f := range l.Facts {
			b.WriteString(wrap(f.Label+": "+f.Value, "  "))
		}
		b.WriteString("\n")
	}
	if l.Action.URL != "" {
		b.WriteString(l.Action.Label + ":\n" + l.Action.URL + "\n\n")
	}
	paragraphs(&b, l.After)
	b.WriteString("-- \n" + siteName + "\n")
	return b.String()
}

func paragraphs(b *strings.Builder, all []string) {
	for _, p := range all {
		b.WriteString(wrap(line(p), "") + "\n")
	}
}

const (
	textWidth = 72
	// longestWord is where a word without blanks is cut: far below the 998
	// bytes that a line of a mail may have, in any script.
	longestWord = 200
)

// wrap breaks one line at blanks to the width of a mail; each line begins
// with the indent and ends with a newline.
func wrap(s, indent string) string {
	var b strings.Builder
	width := 0
	for _, word := range words(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case width == 0:
			b.WriteString(indent + word)
			width = len(indent) + n
		case width+1+n > textWidth:
			b.WriteString("\n" + indent + word)
			width = len(indent) + n
		default:
			b.WriteString(" " + word)
			width += 1 + n
		}
	}
	b.WriteString("\n")
	return b.String()
}

func words(s string) []string {
	var all []string
	for _, word := range strings.Fields(s) {
		if n := len(all); n > 0 && isZone(word) && len(all[n-1]) == len("15:04") {
			all[n-1] += " " + word // a time and its zone stay on one line
			continue
		}
		runes := []rune(word)
		for len(runes) > longestWord {
			all = append(all, string(runes[:longestWord]))
			runes = runes[longestWord:]
		}
		all = append(all, string(runes))
	}
	return all
}

func isZone(word string) bool { return strings.HasPrefix(word, "UTC") && len(word) <= len("UTC.") }

// html renders the one form of all mails. Mail programs drop style sheets, so
// the styles stand on the elements; nothing is loaded from anywhere. Mails are
// few: parsing again each time is cheaper than a global that must be guarded.
func (l letter) html() string {
	var b bytes.Buffer
	if err := template.Must(template.New("mail").Parse(pageHTML)).Execute(&b, l); err != nil {
		panic("mailtext: the template does not fit its letter: " + err.Error()) // a bug that every test meets
	}
	return b.String()
}
