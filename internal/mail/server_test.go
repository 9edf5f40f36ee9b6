package mail_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
)

// smtpServer is a small SMTP server: it keeps what it takes, and fails where
// it is told to.
type smtpServer struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config // offers STARTTLS when set and not wrapped
	user     string      // wants AUTH PLAIN with "user:password" when set

	mu       sync.Mutex
	fail     map[string]string // command -> the answer instead, "" drops the connection
	received []envelope
	done     sync.WaitGroup
}

// envelope is one mail as it arrived.
type envelope struct {
	from     string
	to       []string
	data     string
	tls      bool
	signedIn bool
}

func newServer(t *testing.T, listener net.Listener) *smtpServer {
	s := &smtpServer{t: t, listener: listener, fail: map[string]string{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.done.Go(func() { s.serve(conn) })
		}
	}()
	t.Cleanup(func() { listener.Close(); s.done.Wait() })
	return s
}

func plainServer(t *testing.T) *smtpServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, l)
}

func (s *smtpServer) url(scheme, user string) string {
	if user != "" {
		user += "@"
	}
	return scheme + "://" + user + s.listener.Addr().String()
}

// when makes a command ("RCPT", "DATA", "." for the end of the data) fail.
func (s *smtpServer) when(command, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = map[string]string{command: answer}
}

func (s *smtpServer) healthy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = map[string]string{}
}

func (s *smtpServer) mails() []envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]envelope(nil), s.received...)
}

// serve speaks with one client. Addresses are kept as they were written.
func (s *smtpServer) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	text := textproto.NewConn(conn)
	var e envelope
	_, e.tls = conn.(*tls.Conn)
	say := func(format string, args ...any) { fmt.Fprintf(conn, format+"\r\n", args...) }
	say("220 test")
	for {
		line, err := text.ReadLine()
		if err != nil {
			return
		}
		command := strings.ToUpper(strings.Fields(line + " ?")[0])
		if drop, failed := s.misbehave(command, say); drop {
			return
		} else if failed {
			continue
		}
		switch command {
		case "EHLO":
			s.hello(e, say)
		case "STARTTLS":
			say("220 go")
			conn = tls.Server(conn, s.tls)
			text, e.tls = textproto.NewConn(conn), true
		case "AUTH":
			want := base64.StdEncoding.EncodeToString([]byte("\x00" + strings.Replace(s.user, ":", "\x00", 1)))
			if e.signedIn = strings.HasSuffix(line, " "+want); !e.signedIn {
				say("535 no")
				continue
			}
			say("235 yes")
		case "MAIL":
			e.from = line
			say("250 ok")
		case "RCPT":
			e.to = append(e.to, line)
			say("250 ok")
		case "DATA":
			say("354 go on")
			raw, err := readData(text.R)
			if err != nil {
				return
			}
			e.data = raw
			if drop, failed := s.misbehave(".", say); drop {
				return
			} else if failed {
				continue
			}
			s.mu.Lock()
			s.received = append(s.received, e)
			s.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("500 what")
		}
	}
}

func (s *smtpServer) hello(e envelope, say func(string, ...any)) {
	say("250-test greets you")
	if s.tls != nil && !e.tls {
		say("250-STARTTLS")
	}
	if s.user != "" {
		say("250-AUTH PLAIN")
	}
	say("250 8BITMIME")
}

func (s *smtpServer) misbehave(command string, say func(string, ...any)) (drop, failed bool) {
	s.mu.Lock()
	answer, failed := s.fail[command]
	s.mu.Unlock()
	if failed && answer != "" {
		say("%s", answer)
	}
	return failed && answer == "", failed
}

// readData keeps the bytes as they came, so that line lengths and line ends
// can be looked at.
func readData(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", io.ErrUnexpectedEOF
		}
		if line == ".\r\n" {
			return b.String(), nil
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}
