package text_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"tuval/internal/fault"
	"tuval/internal/text"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"blank only", " \t\n\u00a0 ", ""},
		{"trimmed", "  Ann's shop ", "Ann's shop"},
		{"line ends fold", "a\r\nb\tc", "a b c"},
		{"separators fold", "a\u2028b\u2029c\u0085d", "a b c d"},
		{"composed", "Cafe\u0301", "Caf\u00e9"},
		{"override removed", "safe\u202egnp.exe", "safegnp.exe"},
		{"isolate removed", "\u2066x\u2069", "x"},
		{"no width removed", "a\u200bb\ufeffc", "abc"},
		{"no width alone is nothing", "\u200b\ufeff\u2060", ""},
		{"fillers are nothing", "\u3164\u2800", ""},
		{"joiner stays", "\U0001F468\u200d\U0001F469", "\U0001F468\u200d\U0001F469"},
		{"wide blank inside stays", "a\u3000b", "a\u3000b"},
		{"exactly the limit", strings.Repeat("x", 80), strings.Repeat("x", 80)},
		{"limit counts composed letters", strings.Repeat("e\u0301", 80), strings.Repeat("\u00e9", 80)},
		{"markup is text", "<b>x</b>", "<b>x</b>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := text.Title(c.in)
			if err != nil || got != c.want {
				t.Errorf("Title(%q) = %q, %v; want %q", c.in, got, err, c.want)
			}
		})
	}
}

func TestTitleRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, says string }{
		{"too long", strings.Repeat("x", 81), "at most 80 characters; this one has 81"},
		{"a book", strings.Repeat("x", 1<<20), "at most 80 characters"},
		{"nul", "a\x00b", "U+0000"},
		{"escape", "a\x1bb", "U+001B"},
		{"delete", "a\x7fb", "U+007F"},
		{"bytes", "a\xff", "UTF-8"},
		{"tower", "a" + strings.Repeat("\u0335", 9), "accents"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := text.Title(c.in)
			wantFault(t, err, "title", c.says)
		})
	}
}

func TestAltIsRequired(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "   ", "\u200b", "\u3164"} {
		_, err := text.Alt(in)
		wantFault(t, err, "alt", "1 to 250 characters")
	}
	_, err := text.Alt(strings.Repeat("x", 251))
	wantFault(t, err, "alt", "at most 250 characters")
	if got, err := text.Alt("."); err != nil || got != "." {
		t.Errorf("Alt(.) = %q, %v", got, err)
	}
}

func TestLinesAreKeptWhereWanted(t *testing.T) {
	t.Parallel()
	r := text.Rule{Field: "reason", Label: "The reason", Max: 20, Lines: true}
	got, err := r.Clean("  one\r\n two\rthree\n ")
	if want := "one\ntwo\nthree"; err != nil || got != want {
		t.Errorf("Clean = %q, %v; want %q", got, err, want)
	}
}

// TestHostileTexts takes what people and attackers typed into real sites:
// each becomes one line of plain text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"nfd":         "Caf\u00e9 Zo\u00eb",
		"crlf_header": "Hi Bcc: victim@example.com body",
	}
	for _, row := range readRows(t) {
		got, err := text.Title(row[1])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
		if w, ok := want[row[0]]; ok && got != w {
			t.Errorf("%s: %q, want %q", row[0], got, w)
		} else if !ok && got != row[1] {
			t.Errorf("%s: %q was changed to %q", row[0], row[1], got)
		}
	}
}

func TestCleanHoldsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "in")
		checkClean(t, rapid.IntRange(1, 40).Draw(t, "max"), rapid.Bool().Draw(t, "lines"), in)
	})
}

func FuzzClean(f *testing.F) {
	for _, row := range readRows(f) {
		f.Add(row[1], 80, false)
		f.Add(row[1], 5, true)
	}
	f.Add("a\u0335\u202e \u200b\u2028\xff", 3, true)
	f.Fuzz(func(t *testing.T, in string, max int, lines bool) {
		if max < 1 || max > 1000 {
			t.Skip()
		}
		checkClean(t, max, lines, in)
	})
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func checkClean(t failer, max int, lines bool, in string) {
	t.Helper()
	r := text.Rule{Field: "f", Label: "It", Max: max, Lines: lines}
	got, err := r.Clean(in)
	if err != nil {
		if got != "" || fault.As(err).Kind != fault.Invalid || fault.As(err).Field != "f" {
			t.Errorf("%q: refused with %q, %#v", in, got, err)
		}
		return
	}
	if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) || utf8.RuneCountInString(got) > max {
		t.Errorf("%q: %q breaks a promise", in, got)
	}
	if got != strings.TrimSpace(got) {
		t.Errorf("%q: %q has outer blanks", in, got)
	}
	for _, c := range got {
		if unicode.IsControl(c) && (c != '\n' || !lines) || c >= '\u202a' && c <= '\u202e' {
			t.Errorf("%q: %q holds %U", in, got, c)
		}
	}
	if again, err := r.Clean(got); err != nil || again != got {
		t.Errorf("%q: cleaned twice: %q, %v; once: %q", in, again, err, got)
	}
}

func readRows(t testing.TB) [][2]string {
	t.Helper()
	var rows [][2]string
	readJSON(t, "testdata/texts.json", &rows)
	return rows
}

func readJSON(t testing.TB, name string, to any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatal(err)
	}
}

func wantFault(t *testing.T, err error, field, says string) {
	t.Helper()
	e := fault.As(err)
	if err == nil || e.Kind != fault.Invalid || e.Field != field || !strings.Contains(e.Msg, says) {
		t.Errorf("got %v (field %q); want a refusal of %q that says %q", err, e.Field, field, says)
	}
}
