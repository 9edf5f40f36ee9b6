package mail_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http/httptest"
	netmail "net/mail"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"tuval/internal/mail"
	"tuval/internal/testdb"
	"tuval/internal/text"
)

func newSMTP(t *testing.T, url string) *mail.SMTP {
	t.Helper()
	s, err := mail.NewSMTP(url, `Tuval <no-reply@tüval.example>`)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sample() mail.Mail {
	return mail.Mail{
		ID: 7, Fact: "paid:1", To: "ada@xn--bcher-kva.example", Subject: "Receipt", Text: "Thank you.\n", HTML: "<p>Thank you.</p>",
		CreatedAt: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
}

// read takes a mail apart as a mail program would.
func read(t interface{ Fatalf(string, ...any) }, data string) (header netmail.Header, plain, html string) {
	m, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatalf("not a mail: %v\n%s", err, data)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("content type: %v\n%s", err, data)
	}
	if kind == "text/plain" {
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if err != nil {
			t.Fatalf("body: %v\n%s", err, data)
		}
		return m.Header, string(body), ""
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return m.Header, plain, html
		}
		if err != nil {
			t.Fatalf("parts: %v\n%s", err, data)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatalf("body: %v\n%s", err, data)
		}
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			html = string(body)
		} else {
			plain = string(body)
		}
	}
}

func decode(t interface{ Fatalf(string, ...any) }, header string) string {
	s, err := new(mime.WordDecoder).DecodeHeader(header)
	if err != nil {
		t.Fatalf("header %q: %v", header, err)
	}
	return s
}

// wellFormed checks what every mail must keep to, whatever is in it.
func wellFormed(t interface {
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, e envelope, subject string,
) {
	for line := range strings.SplitSeq(strings.TrimSuffix(e.data, "\r\n"), "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("a line of %d bytes, or a bare line end: %q", len(line), line)
		}
	}
	head, _, _ := strings.Cut(e.data, "\r\n\r\n")
	for _, c := range []byte(head) {
		if c > 126 || c < 32 && c != '\r' && c != '\n' && c != '\t' {
			t.Fatalf("a byte %d in the header:\n%s", c, head)
		}
	}
	header, _, _ := read(t, e.data)
	known := map[string]bool{
		"From": true, "To": true, "Subject": true, "Message-Id": true, "Date": true, "Mime-Version": true,
		"Content-Type": true, "Auto-Submitted": true, "Content-Transfer-Encoding": true,
	}
	for name, values := range header {
		if !known[name] || len(values) != 1 {
			t.Errorf("header %s: %q", name, values)
		}
	}
	if got := decode(t, header.Get("Subject")); got != subject {
		t.Errorf("the subject reads %q, want %q", got, subject)
	}
	if len(e.to) != 1 {
		t.Errorf("the recipients are %q", e.to)
	}
}

func TestAMailArrives(t *testing.T) {
	t.Parallel()
	server := plainServer(t)
	if err := newSMTP(t, server.url("smtp", "")).Send(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	e := server.mails()[0]
	wellFormed(t, e, "Receipt")
	header, plain, html := read(t, e.data)
	if plain != "Thank you.\r\n" && plain != "Thank you.\n" || html != "<p>Thank you.</p>" {
		t.Errorf("it says %q and %q", plain, html)
	}
	if !strings.HasPrefix(e.to[0], "RCPT TO:<ada@xn--bcher-kva.example>") || !strings.HasPrefix(e.from, "MAIL FROM:<no-reply@xn--tval-0ra.example>") {
		t.Errorf("the envelope is %s, %s", e.from, e.to[0])
	}
	if from := header.Get("From"); from != `"Tuval" <no-reply@xn--tval-0ra.example>` {
		t.Errorf("it comes from %s", from)
	}
	if to, err := netmail.ParseAddress(header.Get("To")); err != nil || to.Address != "ada@xn--bcher-kva.example" {
		t.Errorf("it goes to %s, %v", header.Get("To"), err)
	}
}

// Every kind of text that people write comes out as it went in.
func TestTextsComeOutAsTheyWentIn(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts [][2]string
	if err := json.Unmarshal(raw, &texts); err != nil || len(texts) == 0 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	server := plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	for i, row := range texts {
		m := sample()
		m.Subject, m.Text, m.HTML = row[1], row[1]+"\n", "<p>"+row[1]+"</p>"
		if err := smtp.Send(t.Context(), m); err != nil {
			t.Fatalf("%s: %v", row[0], err)
		}
		e := server.mails()[i]
		wellFormed(t, e, seen(row[1]))
		_, plain, html := read(t, e.data)
		if unixLines(plain) != unixLines(row[1])+"\n" || unixLines(html) != "<p>"+unixLines(row[1])+"</p>" {
			t.Errorf("%s came out as %q and %q", row[0], plain, html)
		}
	}
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// Whatever a mail is made of, it is one mail to one recipient.
func TestNoTextAddsAHeader(t *testing.T) {
	t.Parallel()
	server := plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	pieces := []string{"a", "é", "ЖЖЖЖЖЖЖЖ", "\r", "\n", "\r\n", ":", " ", "=?utf-8?q?x?=", "\r\n.\r\n", "\r\nBcc: v@example.com", "\xff", strings.Repeat("b", 500)}
	nasty := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12), func(some []string) string { return strings.Join(some, "") })
	sent := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := sample()
		m.Subject, m.Text, m.HTML = nasty.Draw(rt, "subject"), nasty.Draw(rt, "text"), nasty.Draw(rt, "html")
		if err := smtp.Send(t.Context(), m); err != nil {
			rt.Fatalf("not sent: %v", err)
		}
		e := server.mails()[sent]
		sent++
		wellFormed(rt, e, seen(m.Subject))
	})
}

// seen is what a reader makes of a subject: control characters and runs of
// blanks are one blank, those at the ends none.
func seen(subject string) string {
	subject = strings.ToValidUTF8(subject, "\uFFFD")
	return strings.Join(strings.FieldsFunc(subject, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func TestOnlyOneWellFormedRecipient(t *testing.T) {
	t.Parallel()
	server := plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	for _, to := range []string{"", "ada", " a@b.example", "a@b.example (Ada)", "a@b.example, c@d.example", "a@b.example\r\nRCPT TO:<c@d.example>", "a@b.example>\r\nX: <c@d.example", "Ada <a@b.example>", "a@b.example> SIZE=1 <"} {
		m := sample()
		m.To = to
		if err := smtp.Send(t.Context(), m); !mail.IsPermanent(err) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if n := len(server.mails()); n != 0 {
		t.Errorf("%d mails went out", n)
	}
	for _, written := range []string{"ada@bücher.example", "o'hara+x@EXAMPLE.com", "a.b@пример.example"} {
		address, err := text.Email(written)
		if err != nil {
			t.Fatal(err)
		}
		m := sample()
		m.To = address
		if err := smtp.Send(t.Context(), m); err != nil {
			t.Errorf("%q: %v", written, err)
		}
	}
}

func TestARepetitionIsRecognised(t *testing.T) {
	t.Parallel()
	server := plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	other := sample()
	other.ID = 8
	for _, m := range []mail.Mail{sample(), sample(), other} {
		if err := smtp.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, e := range server.mails() {
		header, _, _ := read(t, e.data)
		ids = append(ids, header.Get("Message-Id"))
	}
	if ids[0] != ids[1] || ids[0] == ids[2] || !strings.HasSuffix(ids[0], "@xn--tval-0ra.example>") {
		t.Errorf("the ids are %q", ids)
	}
}

func TestWhatWillNotHealIsTold(t *testing.T) {
	t.Parallel()
	server := plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	for _, c := range []struct {
		command, answer    string
		permanent, arrives bool
	}{
		{"RCPT", "550 5.1.1 no such user", true, false},
		{"RCPT", "450 4.2.1 later", false, false},
		{".", "554 5.7.1 looks like spam", true, false},
		{".", "451 4.3.0 later", false, false},
		{"DATA", "503 no", true, false},
		{"MAIL", "550 5.7.1 sender not allowed", false, false}, // the operator can mend it
		{"EHLO", "", false, false},
		{"DATA", "", false, false},
		{".", "", false, false},   // taken or not: nobody knows
		{"QUIT", "", false, true}, // taken; what follows does not count
		{"QUIT", "500 what", false, true},
	} {
		server.when(c.command, c.answer)
		before := len(server.mails())
		err := smtp.Send(t.Context(), sample())
		if (err == nil) != c.arrives || mail.IsPermanent(err) != c.permanent {
			t.Errorf("%s %q: %v, permanent %v", c.command, c.answer, err, mail.IsPermanent(err))
		}
		if got := len(server.mails()) - before; (got == 1) != c.arrives {
			t.Errorf("%s %q: %d arrived", c.command, c.answer, got)
		}
	}
}

func TestAServerThatIsAwayIsNoFinalAnswer(t *testing.T) {
	t.Parallel()
	server := plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	server.listener.Close()
	if err := smtp.Send(t.Context(), sample()); err == nil || mail.IsPermanent(err) {
		t.Errorf("answered %v", err)
	}
}

// certificates are httptest's, good for 127.0.0.1.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
}

func TestPasswordsTravelSafely(t *testing.T) {
	t.Parallel()
	serverTLS, clientTLS := certificates(t)

	startTLS := plainServer(t)
	startTLS.tls, startTLS.user = serverTLS, "ada:p@ss:word"
	s := newSMTP(t, startTLS.url("smtp", "ada:p%40ss%3Aword"))
	mail.SetTLS(s, clientTLS)
	if err := s.Send(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	if e := startTLS.mails()[0]; !e.tls || !e.signedIn {
		t.Errorf("sent with TLS %v, signed in %v", e.tls, e.signedIn)
	}

	raw, err := tls.Listen("tcp", "127.0.0.1:0", serverTLS)
	if err != nil {
		t.Fatal(err)
	}
	implicit := newServer(t, raw)
	implicit.user = "ada:pass"
	s = newSMTP(t, implicit.url("smtps", "ada:pass"))
	mail.SetTLS(s, clientTLS)
	if err := s.Send(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	if e := implicit.mails()[0]; !e.tls || !e.signedIn {
		t.Errorf("sent with TLS %v, signed in %v", e.tls, e.signedIn)
	}

	// A stranger's certificate ends it, and a wrong password can be mended.
	stranger := newSMTP(t, startTLS.url("smtp", "ada:p%40ss%3Aword"))
	if err := stranger.Send(t.Context(), sample()); err == nil || mail.IsPermanent(err) {
		t.Errorf("a certificate nobody vouches for: %v", err)
	}
	wrong := newSMTP(t, implicit.url("smtps", "ada:wrong"))
	mail.SetTLS(wrong, clientTLS)
	if err := wrong.Send(t.Context(), sample()); err == nil || mail.IsPermanent(err) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong password: %v", err)
	}
}

func TestAddressesOfServers(t *testing.T) {
	for url, fine := range map[string]bool{
		"smtp://mail.example": true, "smtp://mail.example:2525": true, "smtps://u:p@mail.example": true, "smtp://[::1]:25": true,
		"http://mail.example": false, "mail.example:25": false, "smtp://": false, "smtp://mail.example:0": false,
		"smtp://mail.example:70000": false, "": false, "smtp://hush:hush@%": false,
	} {
		_, err := mail.NewSMTP(url, "no-reply@tuval.example")
		if (err == nil) != fine {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("a password is repeated: %v", err)
		}
	}
	for _, from := range []string{"", "Tuval", "a@b@c", "a@-.example"} {
		if _, err := mail.NewSMTP("smtp://mail.example", from); err == nil {
			t.Errorf("mails may come from %q", from)
		}
	}
}

// From the outbox to the server: once, whoever tries.
func TestTheOutboxIsEmptiedOnce(t *testing.T) {
	t.Parallel()
	pool, server := testdb.New(t), plainServer(t)
	smtp := newSMTP(t, server.url("smtp", ""))
	id, _ := enqueue(t, pool, letter("paid:1"))
	server.when("RCPT", "450 later")
	if _, err := mail.SendOne(t.Context(), pool, smtp, id); err == nil || mail.IsPermanent(err) {
		t.Fatalf("greylisted: %v", err)
	}
	server.when("RCPT", "550 never")
	if _, err := mail.SendOne(t.Context(), pool, smtp, id); !mail.IsPermanent(err) {
		t.Fatalf("refused: %v", err)
	}
	server.healthy()
	const n = 8
	outcomes := make(chan mail.Outcome, n)
	start := make(chan struct{})
	for range n {
		go func() {
			<-start
			out, err := mail.SendOne(t.Context(), pool, smtp, id)
			if err != nil {
				t.Error(err)
			}
			outcomes <- out
		}()
	}
	close(start)
	sent := 0
	for range n {
		if <-outcomes == mail.Sent {
			sent++
		}
	}
	if got := len(server.mails()); sent != 1 || got != 1 {
		t.Errorf("sent %d times, arrived %d times", sent, got)
	}
}
