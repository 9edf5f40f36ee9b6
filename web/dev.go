package web

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"

	"tuval/internal/fault"
	"tuval/internal/mail"
	"tuval/views"
	"tuval/web/reply"
)

// thisMachine keeps what is for development from everybody who is not at this
// machine: also from a page in its browser that found a name for it.
func (s *site) thisMachine(r *http.Request) error {
	if s.Settings.Development && local(r) && loopbackName(r.Host) {
		return nil
	}
	return fault.New(fault.NotFound, "There is nothing at this address.")
}

func loopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(trimBrackets(host))
	return host == "localhost" || err == nil && address.IsLoopback()
}

func trimBrackets(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// devMails is the mailbox of development.
func (s *site) devMails(w http.ResponseWriter, r *http.Request) error {
	all, err := mail.List(r.Context(), s.Pool)
	if err != nil {
		return err
	}
	p := views.DevMailPage{Page: s.page(r)}
	for _, m := range all {
		p.Mails = append(p.Mails, devMail(m))
	}
	reply.HTML(w, r, http.StatusOK, views.DevMailList(p))
	return nil
}

func devMail(m mail.Mail) views.DevMail {
	return views.DevMail{ID: strconv.FormatInt(m.ID, 10), To: m.To, Subject: m.Subject, At: views.MomentOf(m.CreatedAt)}
}

// linksIn finds what can be followed in a mail's text.
func linksIn(text string) []string {
	return regexp.MustCompile(`https?://[^\s<>"]+`).FindAllString(text, -1)
}

// devMessage is one kept mail.
func (s *site) devMessage(w http.ResponseWriter, r *http.Request) error {
	m, err := s.keptMail(r)
	if err != nil {
		return err
	}
	reply.HTML(w, r, http.StatusOK, views.DevMailMessage(views.DevMailMessagePage{
		Page: s.page(r), Mail: devMail(m), Text: m.Text, Links: linksIn(m.Text),
		HTML: m.HTML, HTMLURL: r.URL.EscapedPath() + "/html",
	}))
	return nil
}

// devHTML is the HTML part alone, as a mail program would show it: nothing of
// it runs or is loaded.
func (s *site) devHTML(w http.ResponseWriter, r *http.Request) error {
	m, err := s.keptMail(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups allow-top-navigation-by-user-activation")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(m.HTML))
	return nil
}

func (s *site) keptMail(r *http.Request) (mail.Mail, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return mail.Mail{}, fault.New(fault.NotFound, "There is no such mail.")
	}
	return mail.Get(r.Context(), s.Pool, id)
}
