package text_test

import (
	"net/mail"
	"strings"
	"testing"

	"tuval/internal/text"
)

func TestEmail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"ann@example.com", "ann@example.com"},
		{"  ann@example.com\r\n", "ann@example.com"},
		{"Ann.Smith+tag@EXAMPLE.Com", "Ann.Smith+tag@example.com"},
		{"o'neil@example.co.uk", "o'neil@example.co.uk"},
		{"a@m\u00fcller.example", "a@xn--mller-kva.example"},
		{"a@mu\u0308ller.example", "a@xn--mller-kva.example"},
		{"a@xn--mller-kva.example", "a@xn--mller-kva.example"},
		{"a@\u4f60\u597d.example", "a@xn--6qq79v.example"},
		{"a@r3---sn.example.com", "a@r3---sn.example.com"},
		{"a@\uff45xample.com", "a@example.com"},
		{strings.Repeat("a", 64) + "@example.com", strings.Repeat("a", 64) + "@example.com"},
	} {
		got, err := text.Email(c.in)
		if err != nil || got != c.want {
			t.Errorf("Email(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestEmailRefused(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 60) + "."
	for _, c := range []struct{ in, says string }{
		{"", "Please write"},
		{"  ", "Please write"},
		{"ann", "exactly one @"},
		{"a@b@example.com", "exactly one @"},
		{"@example.com", "1 to 64"},
		{strings.Repeat("a", 65) + "@example.com", "1 to 64"},
		{strings.Repeat("a", 64) + "@" + strings.Repeat(label, 3) + "example.com", "at most 254"},
		{"a@" + strings.Repeat(label, 5) + "example.com", "domain"},
		{strings.Repeat("a@", 2000), "at most 254"},
		{"a@", "domain"},
		{"a@example", "domain"},
		{"a@localhost", "domain"},
		{"a@example..com", "domain"},
		{"a@.example.com", "domain"},
		{"a@example.com.", "domain"},
		{"a@-example.com", "domain"},
		{"a@exam_ple.com", "domain"},
		{"a@127.0.0.1", "domain"},
		{"a@[127.0.0.1]", "domain"},
		{"a@exam ple.com", "domain"},
		{"a@example.com/x", "domain"},
		{"a@example.com>", "domain"},
		{"a@xn--a.example", "domain"},
		{"a@example.com\x00", "domain"},
		{"a@exa\u202emple.com", "domain"},
		{"a b@example.com", "letters a to z"},
		{`"a b"@example.com`, "letters a to z"},
		{"<a@example.com", "letters a to z"},
		{"Ann <a@example.com>", "letters a to z"},
		{"a,b@example.com", "letters a to z"},
		{"a\r\nBcc:b@example.com", "letters a to z"},
		{"a\x00@example.com", "letters a to z"},
		{"\u00fc@example.com", "letters a to z"},
		{".a@example.com", "dots"},
		{"a.@example.com", "dots"},
		{"a..b@example.com", "dots"},
		{"a\xff@example.com", "UTF-8"},
	} {
		_, err := text.Email(c.in)
		wantFault(t, err, "email", c.says)
	}
}

func TestEmailKeyForgetsCase(t *testing.T) {
	t.Parallel()
	if text.EmailKey("Ann@example.com") != text.EmailKey("aNN@example.com") {
		t.Error("addresses that differ in case only should compare equal")
	}
}

func FuzzEmail(f *testing.F) {
	for _, s := range []string{"a@example.com", "a@m\u00fcller.example", "a\r\nb@c.de", `"x y"@c.de`, "a@xn--6qq79v.example", "a@b.c.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := text.Email(in)
		if err != nil {
			return
		}
		if len(got) > text.EmailMax || strings.ContainsFunc(got, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
			t.Errorf("%q: %q cannot stand in a header", in, got)
		}
		if a, err := mail.ParseAddress(got); err != nil || a.Address != got || a.Name != "" {
			t.Errorf("%q: %q is read as %v, %v", in, got, a, err)
		}
		if again, err := text.Email(got); err != nil || again != got {
			t.Errorf("%q: taken twice: %q, %v; once: %q", in, again, err, got)
		}
	})
}
