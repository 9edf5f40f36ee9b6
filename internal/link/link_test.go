package link_test

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"tuval/internal/fault"
	"tuval/internal/link"
)

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, url, host string }{
		{"https://example.com", "https://example.com/", "example.com"},
		{"HTTPS://EXAMPLE.COM/Path", "https://example.com/Path", "example.com"},
		{"http://example.com:80/", "http://example.com/", "example.com"},
		{"https://example.com:443", "https://example.com/", "example.com"},
		{"https://example.com:/x", "https://example.com/x", "example.com"},
		{"https://example.com:08443/x", "https://example.com:8443/x", "example.com"},
		{"https://example.com./x", "https://example.com/x", "example.com"},
		{"https://example.com?a=b", "https://example.com/?a=b", "example.com"},
		{"https://example.com#top", "https://example.com/#top", "example.com"},
		{"example.com/page", "https://example.com/page", "example.com"},
		{"example.com:8080/page", "https://example.com:8080/page", "example.com"},
		{"www.example.com", "https://www.example.com/", "www.example.com"},
		{"//example.com/x", "https://example.com/x", "example.com"},
		{"  https://example.com/a b ", "https://example.com/a%20b", "example.com"},
		{"https://my_shop.example.com/", "https://my_shop.example.com/", "my_shop.example.com"},
		{"https://r3---sn.example.com/", "https://r3---sn.example.com/", "r3---sn.example.com"},
		{"https://\uff45xample\u3002com/", "https://example.com/", "example.com"},
		{"https://stra\u00dfe.example/", "https://xn--strae-oqa.example/", "xn--strae-oqa.example"},
		{"https://example.com/100%", "https://example.com/100%25", "example.com"},
		{"https://example.com/%c3%BC%zz", "https://example.com/%c3%BC%25zz", "example.com"},
		{"https://example.com/a'b\"c<d>`e{f}|^", "https://example.com/a%27b%22c%3Cd%3E%60e%7Bf%7D%7C%5E", "example.com"},
		{"https://example.com/a;b,c=d&e@f:g!$()*+~", "https://example.com/a;b,c=d&e@f:g!$()*+~", "example.com"},
		{"https://example.com/#a#b", "https://example.com/#a%23b", "example.com"},
		{"https://example.com/?x[]=1", "https://example.com/?x%5B%5D=1", "example.com"},
		{"https://evil.example#@good.example/", "https://evil.example/#@good.example/", "evil.example"},
		{"https://evil.example?@good.example/", "https://evil.example/?@good.example/", "evil.example"},
		{"https://8.8.8.8/", "https://8.8.8.8/", "8.8.8.8"},
		{"https://[2606:4700:0:0::1]:8443/", "https://[2606:4700::1]:8443/", "2606:4700::1"},
	} {
		got, err := link.Parse(c.in)
		if err != nil || got.URL != c.url || got.Host != c.host {
			t.Errorf("Parse(%q) = %q, %q, %v; want %q, %q", c.in, got.URL, got.Host, err, c.url, c.host)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, says string }{
		{"", "Please write"},
		{" \r\n", "Please write"},
		{"/admin/orders", "begins with https://"},
		{"admin", "begins with https://"},
		{"?x=example.com", "begins with https://"},
		{"javascript:alert(1)", "must begin with"},
		{"mailto:a@example.com", "must begin with"},
		{"tel:123", "must begin with"},
		{"localhost:8080/x", "must begin with"},
		{"java.script:alert(1)", "must begin with"},
		{"http:example.com", "two slashes"},
		{"https:/example.com", "two slashes"},
		{"https://", "no host"},
		{"https:///path", "no host"},
		{"https:////example.com", "no host"},
		{"https://:443/", "no host"},
		{"https://@example.com/", "user name"},
		{"https://a:b@example.com/", "user name"},
		{"example.com@evil.example", "user name"},
		{"https://exa mple.com/", "host"},
		{"https://ex%61mple.com/", "host"},
		{"https://example.com<b>/", "host"},
		{"https://\u2100.example/", "host"},
		{"https://a..example.com/", "host"},
		{"https://xn--a.example/", "host"},
		{"https://" + strings.Repeat("a", 64) + ".example/", "labels 63"},
		{"https://./", "host"},
		{"https://example.com:0/", "1 to 65535"},
		{"https://example.com:65536/", "1 to 65535"},
		{"https://example.com:+80/", "1 to 65535"},
		{"https://example.com:8o/", "1 to 65535"},
		{"https://example.com:1:2/", "1 to 65535"},
		{"https://[::1", "IPv6"},
		{"https://::1]/", "IPv6"},
		{"https://x[2606:4700::1]/", "IPv6"},
		{"https://[2606:4700::1]x/", "IP address"},
		{"https://[fe80::1%25eth0]/", "IP address"},
		{"https://[8.8.8.8.8]/", "IP address"},
		{"https://1.2.3/", "IP address"},
		{"https://0x7f.1/", "IP address"},
		{"https://2130706433/", "IP address"},
		{"https://99999999999999999999999/", "IP address"},
		{"https://010.8.8.8/", "IP address"},
		{"https://127.0.0.1/", "private or local"},
		{"https://10.1.2.3/", "private or local"},
		{"https://192.168.1.1/reboot", "private or local"},
		{"https://169.254.169.254/", "private or local"},
		{"https://100.64.0.1/", "private or local"},
		{"https://0.0.0.0/", "private or local"},
		{"https://255.255.255.255/", "private or local"},
		{"https://[::1]/", "private or local"},
		{"https://[::ffff:127.0.0.1]/", "private or local"},
		{"https://[::ffff:100.64.0.1]/", "private or local"},
		{"https://[fd00::1]/", "private or local"},
		{"https://localhost/", "private or local"},
		{"https://x.LOCALHOST./", "private or local"},
		{"https://printer.local/", "private or local"},
		{"https://intranet/", "with a dot"},
		{`https://example.com\@evil.example/`, "backslash"},
		{"java\tscript:alert(1)", "U+0009"},
		{"https://example.com/\x00x", "U+0000"},
		{"https://example.com/\u202egnp", "U+202E"},
		{"https://exam\u00adple.com/", "U+00AD"},
		{"https://example.com/\xff", "UTF-8"},
		{"https://example.com/" + strings.Repeat("a", 2029), "at most 2048 bytes; this one has 2049"},
		{"https://example.com/" + strings.Repeat("\u00fc", 400), "at most 2048 bytes; this one has 2420"},
	} {
		got, err := link.Parse(c.in)
		e := fault.As(err)
		if err == nil || e.Kind != fault.Invalid || e.Field != "link" || !strings.Contains(e.Msg, c.says) || got != (link.Link{}) {
			t.Errorf("Parse(%.80q) = %q, %v; want a refusal that says %q", c.in, got.URL, err, c.says)
		}
	}
}

// TestKnownLinks takes each link that fooled, or was wrongly refused by, a
// real site, with the verdict people agreed on.
func TestKnownLinks(t *testing.T) {
	t.Parallel()
	for _, row := range readRows(t) {
		got, err := link.Parse(row[0])
		switch verdict := row[1]; {
		case err != nil && strings.HasPrefix(verdict, "accept") && !strings.Contains(verdict, "refuse"):
			t.Errorf("%.80q was refused: %v; verdict: %s", row[0], err, verdict)
		case err == nil && strings.HasPrefix(verdict, "refuse") && !strings.Contains(verdict, "https://"):
			t.Errorf("%.80q was accepted as %q; verdict: %s", row[0], got.URL, verdict)
		case err == nil:
			checkLink(t, row[0], got)
		}
	}
}

func TestInternationalLink(t *testing.T) {
	t.Parallel()
	got, err := link.Parse("https://m\u00fcller.example/\u00fcber?q=\u4f60\u597d#\u00e9")
	want := "https://xn--mller-kva.example/%C3%BCber?q=%E4%BD%A0%E5%A5%BD#%C3%A9"
	if err != nil || got.URL != want || got.Host != "xn--mller-kva.example" {
		t.Errorf("got %+v, %v; want %q", got, err, want)
	}
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://www.example.com/":                        "example.com",
		"https://example.com:8443/a b":                    "example.com:8443/a%20b",
		"https://m\u00fcller.example/":                    "m\u00fcller.example",
		"https://\u0440\u0430\u0443.example/":             "xn--80a5ak.example",
		"https://example.com/" + strings.Repeat("a", 100): "example.com/" + strings.Repeat("a", 47) + "\u2026",
	} {
		if got, err := link.Parse(in); err != nil || got.Display != want {
			t.Errorf("Parse(%q).Display = %q, %v; want %q", in, got.Display, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, row := range readRows(f) {
		if len(row[0]) < 4096 {
			f.Add(row[0])
		}
	}
	for _, s := range []string{"https://[2606:4700::1]:1/%zz", "a.b:1?#", "//0x1.2/", "https://xn--6qq79v.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := link.Parse(in)
		if err == nil {
			checkLink(t, in, got)
		} else if fault.As(err).Field != "link" {
			t.Errorf("%q: %v", in, err)
		}
	})
}

func checkLink(t *testing.T, in string, l link.Link) {
	t.Helper()
	if len(l.URL) > link.MaxBytes || strings.ContainsFunc(l.URL, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"'<>`\\{}|^", c)
	}) {
		t.Errorf("%q: %q is not safe to write", in, l.URL)
	}
	u, err := url.Parse(l.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() != l.Host || u.User != nil {
		t.Errorf("%q: %q is read as %v, %v", in, l.URL, u, err)
	}
	if again, err := link.Parse(l.URL); err != nil || again != l {
		t.Errorf("%q: parsed twice: %+v, %v; once: %+v", in, again, err, l)
	}
}

func readRows(t testing.TB) [][2]string {
	t.Helper()
	b, err := os.ReadFile("testdata/links.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]string
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
