package session

import (
	"context"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"

	"tuval/internal/fault"
)

// keepLimit is how long the end of a request may take to keep its session.
const keepLimit = 5 * time.Second

// Middleware gives each request its session and keeps what changed before the
// first byte of the answer goes out. (scs's own would send the page after an
// error of the store, and revive sessions that were ended meanwhile.)
func (s *Sessions) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Cookie")
		var token string
		if c, err := r.Cookie(s.scs.Cookie.Name); err == nil {
			token = c.Value
		}
		ctx, err := s.scs.Load(context.WithValue(r.Context(), originKey{}, &origin{}), token)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		r = r.WithContext(ctx)
		sw := &writer{ResponseWriter: w, request: r, sessions: s, cookie: token}
		next.ServeHTTP(sw, r)
		sw.keep()
	})
}

// writer keeps the session when the answer begins.
type writer struct {
	http.ResponseWriter
	request  *http.Request
	sessions *Sessions
	cookie   string // the token the browser sent
	begun    bool
	failed   bool // Fail answered; what the handler writes is dropped
}

func (w *writer) WriteHeader(code int) {
	if code >= 200 || code == http.StatusSwitchingProtocols {
		w.keep()
	}
	if !w.failed {
		w.ResponseWriter.WriteHeader(code)
	}
}

func (w *writer) Write(b []byte) (int, error) {
	w.keep()
	if w.failed {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// FlushError begins the answer, as writing does.
func (w *writer) FlushError() error {
	w.keep()
	if w.failed {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController through.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) keep() {
	if w.begun {
		return
	}
	w.begun = true
	if err := w.commit(); err != nil {
		w.sessions.fail(w.ResponseWriter, w.request, err)
		w.failed = true
	}
}

// commit writes what changed, also when the client has gone away: what it
// did is done. The browser is told a token only when it has another.
func (w *writer) commit() error {
	m := w.sessions.scs
	ctx, stop := context.WithTimeout(context.WithoutCancel(w.request.Context()), keepLimit)
	defer stop()
	switch m.Status(ctx) {
	case scs.Modified:
		token, ends, err := m.Commit(ctx)
		if isSafe(w.request.Method) && fault.As(err).Kind == fault.Conflict {
			return nil // only a message would have been forgotten
		}
		if err != nil {
			return err
		}
		if token != w.cookie {
			m.WriteSessionCookie(ctx, w.ResponseWriter, token, ends)
		}
	case scs.Destroyed:
		m.WriteSessionCookie(ctx, w.ResponseWriter, "", time.Time{})
	}
	return nil
}

func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }
