package web

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"tuval/internal/fault"
	"tuval/views"
	"tuval/web/form"
	"tuval/web/reply"
)

// dispatch finds the route. What the mux says of an address it does not know
// becomes a page of ours.
func (s *site) dispatch(w http.ResponseWriter, r *http.Request) {
	h, pattern := s.mux.Handler(r)
	switch {
	case !utf8.ValidString(r.URL.Path) || strings.Contains(r.URL.Path, "\x00"):
		// No id of ours looks like that, and PostgreSQL cannot be asked for it.
		s.refuse(w, r, fault.New(fault.NotFound, "There is nothing at this address."))
		return
	case pattern != "":
		promptly(w, r)
		s.mux.ServeHTTP(w, r)
		return
	}
	said := unsent{header: http.Header{}}
	h.ServeHTTP(&said, r)
	if said.status == http.StatusMethodNotAllowed {
		allow := said.header.Get("Allow")
		w.Header().Set("Allow", allow)
		s.refuse(w, r, fault.New(fault.MethodNotAllowed, "This address takes "+allow+" only."))
		return
	}
	s.nothing(w, r)
}

// nothing answers for an address that does not exist, to whoever asks: who is
// signed in is so on that page, too.
func (s *site) nothing(w http.ResponseWriter, r *http.Request) {
	none := fault.New(fault.NotFound, "There is nothing at this address.")
	if r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, "/api/") {
		s.refuse(w, r, none)
		return
	}
	s.known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, none) })).ServeHTTP(w, r)
}

// bodyTime is how long a body may take; an upload sets its own, longer one.
const bodyTime = 15 * time.Second

// promptly keeps a body that trickles from holding its connection: reading it
// fails then, and the refusal still reaches its sender. A recorder in a test
// has no deadlines, which is fine.
func promptly(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
}

// unsent is an answer that is only looked at.
type unsent struct {
	header http.Header
	status int
}

func (u *unsent) Header() http.Header { return u.header }

func (u *unsent) WriteHeader(status int) { u.status = status }

func (u *unsent) Write(b []byte) (int, error) { return len(b), nil }

// refuse answers with a refusal, in the form that the asker reads.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		reply.Fault(w, r, err)
		return
	}
	f := reply.Refusal(err)
	if s.asksForAdmin(r, f) {
		s.adminDoor(w, r, err)
		return
	}
	if f.Kind == fault.Unavailable && r.Method == http.MethodPost {
		// The database may be away before anybody has read the form.
		if typed, readErr := s.readTyped(w, r); readErr == nil && typed.Has("request_id") {
			s.tryAgain(w, r, typed, err)
			return
		}
	}
	reply.Page(w, r, s.frame(r), view(f), err)
}

// readTyped reads what stands in a form, without its file.
func (s *site) readTyped(w http.ResponseWriter, r *http.Request) (form.Form, error) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		u, err := s.readPicture(w, r)
		return u.Form, err
	}
	return form.Read(w, r)
}

// view adds to the words of a refusal where they are thin for a person.
func view(f *fault.Error) views.FaultView {
	v := views.FaultView{}
	if f.Kind == fault.Unauthenticated {
		v.Next = []views.FaultLink{{Href: "/login", Text: "Sign in"}, {Href: "/", Text: "To the canvas"}}
	}
	return v
}
