package mailtext_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"tuval/internal/grid"
	"tuval/internal/mailtext"
	"tuval/internal/money"
)

// berlin is not UTC, so that a forgotten conversion shows.
func berlin() *time.Location { return time.FixedZone("CET", 3600) }

func rect() grid.Rect { return grid.Rect{X: 40, Y: 12, W: 6, H: 4} }

func usd(n int64) money.Money { return money.Money{Amount: n, Currency: "usd"} }

// every writes one mail of each kind and branch around the first payment, with
// the given words of a person in every place where a person's words can stand.
func every(words string) map[string]mailtext.Mail {
	at := time.Date(2027, 3, 22, 0, 30, 0, 0, berlin())
	page, refund := "https://tuval.example/rentals/abc", usd(960000)
	receipt := mailtext.Receipt{
		RentalURL: page, Receipt: words, Rect: rect(), Weeks: 4, Amount: refund, PaidAt: at, ApproveBy: at.AddDate(0, 0, 30),
	}
	chosen := receipt
	chosen.GoLiveAt, chosen.HasImage, chosen.Weeks = &at, true, 1
	approval := mailtext.Approval{RentalURL: page, Title: words, Rect: rect(), LiveFrom: at, EndsAt: at.Add(672 * time.Hour)}
	scheduled, replaced := approval, approval
	scheduled.Scheduled, replaced.Replacement = true, true
	rejection := mailtext.Rejection{RentalURL: page, Title: words, Reason: words, ApproveBy: at}
	kept := mailtext.Rejection{RentalURL: page, Title: words, Reason: words, StillShown: true}
	money := mailtext.Refund{RentalURL: page, CanvasURL: "https://tuval.example/", Receipt: words, Rect: rect(), Amount: refund}
	second := money
	second.Cause = mailtext.SecondPayment
	all := map[string]mailtext.Mail{
		"sign-in":         mailtext.SignIn(mailtext.SignInLink{URL: "https://tuval.example/login/t0k3n", Expires: at, ValidFor: 15 * time.Minute}),
		"paid":            mailtext.Paid(receipt),
		"paid, chosen":    mailtext.Paid(chosen),
		"approved":        mailtext.Approved(approval),
		"scheduled":       mailtext.Approved(scheduled),
		"replaced":        mailtext.Approved(replaced),
		"rejected":        mailtext.Rejected(rejection),
		"rejected, shown": mailtext.Rejected(kept),
		"late":            mailtext.Refunded(money),
		"second":          mailtext.Refunded(second),
	}
	for name, cause := range map[string]mailtext.CancelCause{
		"withdrawn": mailtext.Withdrawn, "unapproved": mailtext.Unapproved,
		"closed by us": mailtext.ClosedByUs, "refunded away": mailtext.RefundedAway,
	} {
		all[name] = mailtext.Cancelled(mailtext.Cancellation{
			RentalURL: page, Rect: rect(), Cause: cause, Reason: words, Refund: &refund, Receipt: words,
		})
	}
	return all
}

func hostile(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]string
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	words := []string{"", "plain", "\x00\x1b[31m", "bad \xff utf-8", "\u202egnp.exe", strings.Repeat("x", 3000), "a\u2028b"}
	for _, r := range rows {
		words = append(words, r[1])
	}
	return words
}

func TestNoWordsOfAPersonBreakAMail(t *testing.T) {
	for _, words := range hostile(t) {
		all := every(words)
		maps.Copy(all, ofTheLife(words))
		for kind, m := range all {
			sound(t, kind, m)
		}
	}
}

func TestAnyWordsLeaveAMailSound(t *testing.T) {
	some := rapid.SampledFrom([]func(string) map[string]mailtext.Mail{every, ofMoney, ofTime, ofPeople})
	rapid.Check(t, func(t *rapid.T) {
		for kind, m := range some.Draw(t, "kinds")(rapid.String().Draw(t, "words")) {
			sound(t, kind, m)
		}
	})
}

type failer interface {
	Errorf(format string, args ...any)
}

// sound checks what holds for every mail, whatever is in it.
func sound(t failer, kind string, m mailtext.Mail) {
	if i := strings.IndexFunc(m.Subject, unicode.IsControl); i >= 0 || m.Subject == "" {
		t.Errorf("%s: subject %q is empty or has a control character", kind, m.Subject)
	}
	if n := utf8.RuneCountInString(m.Subject); n > 120 {
		t.Errorf("%s: the subject has %d characters", kind, n)
	}
	for l := range strings.Lines(m.Text) {
		if len(l) > 900 || strings.ContainsAny(l, "\r\x00") || !utf8.ValidString(l) {
			t.Errorf("%s: a text line cannot be sent as it is: %.80q (%d bytes)", kind, l, len(l))
		}
	}
	for _, part := range []string{m.Text, m.HTML} {
		zones(t, kind, part)
	}
	markup(t, kind, m.HTML)
}

// zones checks that the zone stands next to each time of day.
func zones(t failer, kind, part string) {
	for _, i := range regexp.MustCompile(`\d{4}, \d\d:\d\d`).FindAllStringIndex(part, -1) {
		if !strings.HasPrefix(part[i[1]:], " UTC") {
			t.Errorf("%s: no zone after %q", kind, part[i[0]:i[1]])
		}
	}
}

// markup checks that the document is ours alone: no element we did not write,
// nothing loaded, one heading.
func markup(t failer, kind, doc string) {
	root, err := html.Parse(strings.NewReader(doc))
	if err != nil {
		t.Errorf("%s: %v", kind, err)
		return
	}
	ours := map[string]bool{}
	for _, name := range strings.Fields("html head meta title body table tbody tr td h1 p a blockquote") {
		ours[name] = true
	}
	headings := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !ours[n.Data] {
			t.Errorf("%s: a <%s> came in", kind, n.Data)
		}
		if n.Data == "h1" {
			headings++
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-") || a.Key == "src" {
				t.Errorf("%s: attribute %s came in", kind, a.Key)
			}
		}
	}
	if headings != 1 {
		t.Errorf("%s: %d h1", kind, headings)
	}
}

func TestBothPartsSayTheSame(t *testing.T) {
	all := every("Blue whale")
	maps.Copy(all, ofTheLife("Blue whale"))
	for kind, m := range all {
		root, err := html.Parse(strings.NewReader(m.HTML))
		if err != nil {
			t.Fatal(err)
		}
		var seen strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode && n.Parent.Data != "title" {
				seen.WriteString(" " + n.Data)
			}
		}
		squeezed := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		page := squeezed(seen.String())
		for _, p := range strings.Split(m.Text, "\n\n") {
			if strings.HasPrefix(p, "  ") || strings.HasPrefix(p, "-- ") || strings.Contains(p, "://") {
				continue // facts, quotes, signature and links have another form
			}
			if !strings.Contains(page, squeezed(p)) {
				t.Errorf("%s: the HTML part lacks %q", kind, p)
			}
		}
	}
}

func TestWhatTheMailsSay(t *testing.T) {
	all := every("Blue whale")
	for _, c := range []struct{ kind, want string }{
		{"sign-in", "https://tuval.example/login/t0k3n"},
		{"sign-in", "for 15 minutes (until Sun 21 Mar 2027, 23:30 UTC)"},
		{"paid", "Amount: 9,600.00 USD"},
		{"paid", "Place: 6 × 4 blocks (60 × 40 px) at column 41, row 13"},
		{"paid", "4 weeks, counted from"},
		{"paid", "Tue 20 Apr 2027, 23:30 UTC"},
		{"paid", "as soon as the picture is approved"},
		{"paid, chosen", "Go-live: Sun 21 Mar 2027, 23:30 UTC"},
		{"paid, chosen", "1 week, counted from"},
		{"approved", "Live since: Sun 21 Mar 2027, 23:30 UTC"},
		{"approved", "Until: Sun 18 Apr 2027, 23:30 UTC"},
		{"scheduled", "Goes live: Sun 21 Mar 2027, 23:30 UTC"},
		{"replaced", "the dates stay as they were"},
		{"rejected", "> Blue whale"},
		{"rejected, shown", "stays on the canvas"},
		{"late", "9,600.00 USD"},
		{"second", "paid twice"},
		{"withdrawn", "You withdrew"},
		{"unapproved", "No picture was approved"},
		{"closed by us", "> Blue whale"},
	} {
		text := strings.Join(strings.Fields(all[c.kind].Text), " ")
		if !strings.Contains(text, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.kind, c.want, all[c.kind].Text)
		}
	}
	if s := all["rejected"].Subject; s != "Please change “Blue whale”" {
		t.Errorf("subject %q", s)
	}
}

func TestALinkCannotLeaveItsScheme(t *testing.T) {
	m := mailtext.SignIn(mailtext.SignInLink{URL: "javascript:alert(1)"})
	if strings.Contains(m.HTML, `href="javascript`) {
		t.Error("a script address became a link")
	}
}
