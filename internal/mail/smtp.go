package mail

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"
)

// SMTP is the Sender of production: one connection a mail, no retries (the
// job has them), TLS where the server offers it. It is safe for concurrent
// use.
type SMTP struct {
	host     string
	from     *netmail.Address
	domain   string // of the sender; names us and our Message-IDs
	implicit bool   // TLS from the first byte
	options  []gomail.Option
	tls      *tls.Config // nil: the usual
}

// stepLimit bounds each step of a conversation with the server.
const stepLimit = 15 * time.Second

// NewSMTP reads an address like smtp://user:password@host:587 (TLS when the
// server offers it) or smtps://host (TLS from the first byte). A password is
// sent over TLS or to this machine only. Mails come from the given address,
// as in RFC 5322. The error repeats neither password nor address.
func NewSMTP(rawURL, from string) (*SMTP, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, errors.New("mail: the address of the server must be smtp://host:port or smtps://host:port")
	}
	s := &SMTP{host: u.Hostname(), implicit: u.Scheme == "smtps"}
	if s.from, s.domain, err = sender(from); err != nil {
		return nil, err
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	s.options = []gomail.Option{
		gomail.WithPort(port), gomail.WithTimeout(stepLimit), gomail.WithHELO(s.domain),
		gomail.WithoutNoop(), gomail.WithoutRset(), gomail.WithTLSPolicy(gomail.TLSOpportunistic),
	}
	if password, ok := u.User.Password(); ok || u.User.Username() != "" {
		s.options = append(s.options, gomail.WithUsername(u.User.Username()), gomail.WithPassword(password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	return s, nil
}

// sender reads who mails come from; the domain is returned as DNS knows it.
func sender(from string) (*netmail.Address, string, error) {
	a, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, "", errors.New("mail: the sender must be an address like Tuval <no-reply@tuval.example>")
	}
	at := strings.LastIndexByte(a.Address, '@')
	domain, err := idna.Lookup.ToASCII(a.Address[at+1:])
	if err != nil {
		return nil, "", errors.New("mail: the sender's domain is none")
	}
	a.Address = a.Address[:at+1] + domain
	return a, domain, nil
}

func portOf(u *url.URL) (int, error) {
	switch {
	case u.Port() != "":
		port, err := strconv.Atoi(u.Port())
		if err != nil || port < 1 || port > 65535 {
			return 0, errors.New("mail: the server's port must be from 1 to 65535")
		}
		return port, nil
	case u.Scheme == "smtps":
		return gomail.DefaultPortSSL, nil
	case u.User != nil:
		return gomail.DefaultPortTLS, nil
	}
	return gomail.DefaultPort, nil
}

// Keeps is false: confidential mails are forgotten when they are sent.
func (s *SMTP) Keeps() bool { return false }

// Send gives a mail to the server, until the context is over. When the server
// has taken it, nothing that goes wrong afterwards counts.
func (s *SMTP) Send(ctx context.Context, m Mail) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	msg, err := s.message(m)
	if err != nil {
		return err
	}
	// A client of its own: go-mail's keeps state between mails.
	client, err := gomail.NewClient(s.host, append(slices.Clip(s.options),
		gomail.WithDialContextFunc(s.dialer(ctx)), gomail.WithTLSConfig(s.tlsConfig()))...)
	if err != nil {
		return fmt.Errorf("smtp: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() {
		return nil
	}
	if refused(err) {
		return &permanent{fmt.Errorf("smtp: %w", err)}
	}
	return fmt.Errorf("smtp: %w", err)
}

// message makes the mail as it travels.
func (s *SMTP) message(m Mail) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	// Not parsed as a header would be: one string is one recipient.
	to, err := netmail.ParseAddress("<" + m.To + ">")
	if err != nil || to.Address != m.To {
		return nil, &permanent{errors.New("the recipient's address is not one that can be written to")}
	}
	msg.ToMailAddress(to)
	setSubject(msg, m.Subject)
	msg.SetMessageIDWithValue(messageID(m, s.domain))
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no answers from holiday machines (RFC 3834)
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return msg, nil
}

// messageID is the same for every attempt to send a mail, and tells nobody
// how many mails there were.
func messageID(m Mail, domain string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "mail\x00%d\x00%d\x00%s", m.ID, m.CreatedAt.UnixMicro(), m.Fact))
	return hex.EncodeToString(sum[:16]) + "@" + domain
}

// permanent is an error that will not heal.
type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

// IsPermanent reports whether sending the same mail again is of no use: the
// server refused this recipient or this content for good. Trouble with the
// connection, the sign-in or the sender heals when the operator repairs it.
func IsPermanent(err error) bool {
	var p *permanent
	return errors.As(err, &p)
}

func refused(err error) bool {
	var e *gomail.SendError
	if !errors.As(err, &e) || e.ErrorCode() < 500 {
		return false
	}
	switch e.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return true
	}
	return false
}
