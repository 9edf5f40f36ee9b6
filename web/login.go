package web

import (
	"net/http"
	"net/url"
	"strings"

	"tuval/internal/fault"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// login asks for an address, or says to look into the mail.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	p := views.LoginPage{Page: s.page(r), Next: ownPath(q.Get("next")), Sent: q.Has("sent"), DevMail: s.Settings.Mailbox}
	reply.HTML(w, r, http.StatusOK, views.Login(p))
	return nil
}

// mailLink mails a sign-in link, to an address that was typed or to the one of
// a rental. The answer is the same whether either is known or not.
func (s *site) mailLink(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	c := &form.Check{}
	rental := form.Text(c, f, "rental", asIs)
	email := form.Text(c, f, "email", asIs)
	next := ownPath(form.Text(c, f, "next", asIs))
	if err := c.Err(); err != nil {
		return s.loginRefused(w, r, f, err)
	}
	if err := s.Limits.SignIn.Allow(visitor.From(r.Context()).NetworkKey()); err != nil {
		return s.loginRefused(w, r, f, err)
	}
	if rental != "" && email == "" {
		err = s.signin.MailFor(r.Context(), rental)
	} else {
		err = s.signin.Mail(r.Context(), email, rentalOf(next))
	}
	if err != nil {
		return s.loginRefused(w, r, f, err)
	}
	reply.Found(w, r, "/login?sent=1")
	return nil
}

// mailRentalLink mails a link to the address of the rental in the path.
func (s *site) mailRentalLink(w http.ResponseWriter, r *http.Request) error {
	if _, err := form.Read(w, r); err != nil {
		return err
	}
	if err := s.Limits.SignIn.Allow(visitor.From(r.Context()).NetworkKey()); err != nil {
		return err
	}
	if err := s.signin.MailFor(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	reply.Found(w, r, "/login?sent=1")
	return nil
}

func (s *site) loginRefused(w http.ResponseWriter, r *http.Request, f form.Form, err error) error {
	refusal := fault.As(err)
	if refusal.Kind != fault.Invalid && refusal.Kind != fault.Limited {
		return err
	}
	_, status := reply.Note(w, r, err)
	field := refusal.Field
	if field != "email" {
		field = ""
	}
	reply.HTML(w, r, status, views.Login(views.LoginPage{
		Page: s.page(r), Email: f.Typed("email"), Next: ownPath(f.Typed("next")),
		Problems: []views.Problem{{Field: field, Text: refusal.Msg}},
	}))
	return nil
}

// loginLink shows what a mailed link is for. It changes nothing: programs
// that look after mail open links.
func (s *site) loginLink(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "same-origin") // the address is a secret
	link, err := s.signin.Peek(r.Context(), r.PathValue("token"))
	if err != nil {
		return s.linkOver(w, r, err)
	}
	p := views.LoginLinkPage{Page: s.page(r), State: views.LinkReady, Action: r.URL.EscapedPath(), Email: link.Email}
	reply.HTML(w, r, http.StatusOK, views.LoginLink(p))
	return nil
}

// linkOver answers for a link that is used, too old or none at all: which of
// them is nobody's business.
func (s *site) linkOver(w http.ResponseWriter, r *http.Request, err error) error {
	if fault.As(err).Kind != fault.Gone {
		return err
	}
	_, status := reply.Note(w, r, err)
	reply.HTML(w, r, status, views.LoginLink(views.LoginLinkPage{Page: s.page(r), State: views.LinkExpired}))
	return nil
}

// useLink signs the browser in, under a new session token, and goes to the
// rental that the link was asked for at.
func (s *site) useLink(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if _, err := form.Read(w, r); err != nil {
		return err
	}
	if err := s.Limits.SignIn.Allow(visitor.From(ctx).NetworkKey()); err != nil {
		return err
	}
	id, rentalKey, err := s.signin.Use(ctx, r.PathValue("token"), s.sessions.Anonymous(ctx))
	if err != nil {
		return s.linkOver(w, r, err)
	}
	if err := s.sessions.SignInAccount(ctx, id); err != nil {
		return err
	}
	s.tell(ctx, "success", "You are signed in.")
	v := visitor.From(ctx)
	v.Account = id
	if _, err := s.Market.Find(ctx, rentalKey, v.Viewer()); rentalKey != "" && err == nil {
		reply.Found(w, r, "/rentals/"+rentalKey)
		return nil
	}
	reply.Found(w, r, "/account")
	return nil
}

// logout ends the session, of a buyer as of an admin.
func (s *site) logout(w http.ResponseWriter, r *http.Request) error {
	if _, err := form.Read(w, r); err != nil {
		return err
	}
	if err := s.sessions.SignOut(r.Context()); err != nil {
		return err
	}
	reply.Found(w, r, "/")
	return nil
}

// ownPath is a path of ours to go to afterwards, or empty: nobody is led to
// another site by an address that begins with ours.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || u.Host != "" || u.Scheme != "" ||
		strings.ContainsFunc(next, func(c rune) bool { return c == '\\' || c < ' ' || c > '~' }) {
		return ""
	}
	return next
}

// rentalOf is the key of the rental whose page a path is, or empty.
func rentalOf(path string) string {
	key, ok := strings.CutPrefix(path, "/rentals/")
	if !ok || len(key) > 64 || strings.ContainsAny(key, "/?#") {
		return ""
	}
	return key
}
