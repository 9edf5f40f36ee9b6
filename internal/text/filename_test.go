package text_test

import (
	"mime"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"tuval/internal/text"
)

func TestSafeFilename(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a.png": "a.png", "A.PNG": "A.PNG", "": "picture", ".png": "png", "...": "picture", "\xff": "picture",
		"../../../../etc/evil.png": "evil.png", `C:\fakepath\x.png`: "x.png", "x\x00.png": "x.png",
		"a\r\nSet-Cookie: x=1.png": "aSet-Cookie_x_1.png", `a"b;filename=c.png`: "a_b_filename_c.png",
		"u\u0308mla\u0308ut.png": "\u00fcml\u00e4ut.png", "safe\u202egnp.exe": "safegnp.exe",
		" lead and trail .png ": "lead_and_trail_.png", "CON.png": "_CON.png", "com1": "_com1", "COM10": "COM10",
		"%2e%2e%2fevil.png": "2e_2e_2fevil.png", "\U0001F984.png": "png",
		strings.Repeat("a", 300) + ".png": strings.Repeat("a", 116) + ".png",
	} {
		if got := text.SafeFilename(in, "picture"); got != want {
			t.Errorf("SafeFilename(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHostileFilenames(t *testing.T) {
	t.Parallel()
	var names []string
	readJSON(t, "testdata/filenames.json", &names)
	for _, name := range names {
		checkFilename(t, name)
	}
}

func FuzzSafeFilename(f *testing.F) {
	for _, s := range []string{"a.png", "../x", "CON", "e\x00\u0301.png", "\u202e\x00.", "\u00e9" + strings.Repeat("\u044f", 100) + ".png"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkFilename(t, s) })
}

func checkFilename(t *testing.T, name string) {
	t.Helper()
	got := text.SafeFilename(name, "picture")
	if got == "" || len(got) > 121 || !utf8.ValidString(got) || !filepath.IsLocal(got) || filepath.Base(got) != got || got[0] == '.' {
		t.Errorf("SafeFilename(%q) = %q", name, got)
	}
	if strings.ContainsAny(got, "\x00\r\n\"';:%<>|*?/\\ ") {
		t.Errorf("SafeFilename(%q) = %q holds a special character", name, got)
	}
	if h := mime.FormatMediaType("attachment", map[string]string{"filename": got}); h == "" {
		t.Errorf("%q cannot stand in a header", got)
	}
	if again := text.SafeFilename(got, "picture"); again != got {
		t.Errorf("SafeFilename(%q) = %q, then %q", name, got, again)
	}
}
