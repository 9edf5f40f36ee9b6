package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/board"
	"tuval/internal/capacity"
	"tuval/internal/fault"
	"tuval/internal/limits"
	"tuval/internal/market"
	"tuval/internal/picture"
	"tuval/web/repeat"
	"tuval/web/reply"
)

// Deps is what the API stands on.
type Deps struct {
	Pool   *pgxpool.Pool
	Market *market.Market
	Board  Board
	Admins *account.Admins
	Limits *limits.Set
	// Capacity is what the operator can serve, kept in memory.
	Capacity *capacity.Memory
	Studio   *picture.Studio
	Log      *slog.Logger
}

// Board is the canvas as everybody sees it, kept in memory.
type Board interface {
	Snapshot(ctx context.Context) (*board.Snapshot, error)
}

// api is the handlers and what they need.
type api struct {
	Deps
	mux    *http.ServeMux
	shown  shown
	nearby nearby
	memory *repeat.Memory
}

// New makes the handler of everything below /api/. It expects to stand behind
// the site's own middleware, which tells it who asks and from where.
func New(d Deps) http.Handler {
	a := &api{Deps: d, mux: http.NewServeMux(), memory: repeat.New(d.Pool, d.Log)}
	a.routes()
	return http.HandlerFunc(a.dispatch)
}

// handler answers a request or says why not.
type handler func(w http.ResponseWriter, r *http.Request) error

// rate says how often something may be asked.
type rate func(*http.Request) error

// on registers a call. Its pattern is also its name in the metrics.
func (a *api) on(pattern string, allowed rate, h handler) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		reply.FactsOf(r.Context()).Route = pattern
		err := error(nil)
		if allowed != nil {
			err = allowed(r)
		}
		if err == nil {
			err = h(w, r)
		}
		if err != nil {
			refuse(w, r, err)
		}
	})
}

// dispatch finds the call. What the mux says of an address it does not know
// becomes JSON.
func (a *api) dispatch(w http.ResponseWriter, r *http.Request) {
	if !utf8.ValidString(r.URL.Path) || strings.Contains(r.URL.Path, "\x00") {
		refuse(w, r, nothingHere())
		return
	}
	h, pattern := a.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	said := unsent{header: http.Header{}}
	h.ServeHTTP(&said, r)
	if said.status == http.StatusMethodNotAllowed {
		allow := said.header.Get("Allow")
		w.Header().Set("Allow", allow)
		refuse(w, r, fault.New(fault.MethodNotAllowed, "This address takes "+allow+" only."))
		return
	}
	refuse(w, r, nothingHere())
}

func nothingHere() error { return fault.New(fault.NotFound, "There is nothing at this address.") }

// unsent is an answer that is only looked at.
type unsent struct {
	header http.Header
	status int
}

func (u *unsent) Header() http.Header { return u.header }

func (u *unsent) WriteHeader(status int) { u.status = status }

func (u *unsent) Write(b []byte) (int, error) { return len(b), nil }

// nothing answers that there is nothing more to say.
func nothing(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// refuse answers with a refusal.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if fault.As(err).Kind == fault.Unauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	reply.Fault(w, r, err)
}
