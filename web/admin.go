package web

import (
	"net/http"

	"tuval/internal/fault"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// countedMost is up to which number what waits is counted for the navigation.
const countedMost = 100

// adminPage is the frame of an admin's page, with the numbers of what waits.
func (s *site) adminPage(r *http.Request) (views.AdminPage, error) {
	reviews, err := s.Market.Reviews(r.Context(), countedMost)
	if err != nil {
		return views.AdminPage{}, err
	}
	found, err := s.Market.Anomalies(r.Context(), countedMost)
	if err != nil {
		return views.AdminPage{}, err
	}
	return views.AdminPage{
		Page: s.page(r), Email: visitor.From(r.Context()).Admin.Email, Reviews: len(reviews), Anomalies: len(found),
		Dev: s.Settings.Development && s.Settings.Mailbox,
	}, nil
}

// adminHome is where admins begin.
func (s *site) adminHome(w http.ResponseWriter, r *http.Request) error {
	reply.Found(w, r, "/admin/reviews")
	return nil
}

// adminLogin asks for an admin's address and password.
func (s *site) adminLogin(w http.ResponseWriter, r *http.Request) error {
	if visitor.From(r.Context()).Admin.Is() {
		return s.adminHome(w, r)
	}
	p := views.AdminLoginPage{Page: s.page(r), Next: ownPath(r.URL.Query().Get("next"))}
	reply.HTML(w, r, http.StatusOK, views.AdminLogin(p))
	return nil
}

// adminSignIn signs an admin in, under a new session token.
func (s *site) adminSignIn(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	f, err := form.Read(w, r)
	if err != nil {
		return err
	}
	if err := s.Limits.SignIn.Allow("admin" + visitor.From(ctx).NetworkKey()); err != nil {
		return s.adminLoginRefused(w, r, f, err)
	}
	c := &form.Check{}
	email, password, next := form.Text(c, f, "email", asIs), form.Text(c, f, "password", asIs), form.Text(c, f, "next", asIs)
	if err := c.Err(); err != nil {
		return s.adminLoginRefused(w, r, f, err)
	}
	admin, err := s.Admins.Authenticate(ctx, email, password)
	if err != nil {
		return s.adminLoginRefused(w, r, f, err)
	}
	if err := s.sessions.SignInAdmin(ctx, admin.ID); err != nil {
		return err
	}
	if next = ownPath(next); next == "" {
		next = "/admin/reviews"
	}
	reply.Found(w, r, next)
	return nil
}

func (s *site) adminLoginRefused(w http.ResponseWriter, r *http.Request, f form.Form, err error) error {
	refusal := fault.As(err)
	switch refusal.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Limited, fault.Unavailable:
	default:
		return err
	}
	_, status := reply.Note(w, r, err)
	field := refusal.Field
	if field != "email" && field != "password" {
		field = ""
	}
	reply.HTML(w, r, status, views.AdminLogin(views.AdminLoginPage{
		Page: s.frame(r), Email: f.Typed("email"), Next: ownPath(f.Typed("next")),
		Problems: []views.Problem{{Field: field, Text: refusal.Msg}},
	}))
	return nil
}

// isAdminPath reports whether a path is one of the admin's.
func isAdminPath(path string) bool {
	return path == "/admin" || len(path) > len("/admin/") && path[:len("/admin/")] == "/admin/" || path == "/admin/"
}

// asksForAdmin reports whether somebody who is no admin wants to look at an
// admin's page: then the door is shown in its place.
func (s *site) asksForAdmin(r *http.Request, f *fault.Error) bool {
	return isAdminPath(r.URL.Path) && !reply.HTMX(r) && (f.Kind == fault.Unauthenticated || f.Kind == fault.Forbidden) &&
		(r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// adminDoor is the sign-in page, in the place of the page that was asked for.
func (s *site) adminDoor(w http.ResponseWriter, r *http.Request, err error) {
	_, status := reply.Note(w, r, err)
	reply.HTML(w, r, status, views.AdminLogin(views.AdminLoginPage{Page: s.frame(r), Next: ownPath(r.URL.RequestURI())}))
}

// jobs is the queue of jobs, shown by a program that brings its own pages: it
// sets styles from scripts, which only its path allows.
func (s *site) jobs(w http.ResponseWriter, r *http.Request) error {
	if s.Jobs == nil {
		return fault.New(fault.NotFound, "There is nothing at this address.")
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "+
		"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	s.Jobs.ServeHTTP(w, r)
	return nil
}

// api is the JSON API, or nothing when there is none.
func (s *site) api() http.Handler {
	if s.API != nil {
		return s.API
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply.Fault(w, r, fault.New(fault.NotFound, "There is nothing at this address."))
	})
}
