package web

import (
	"net/http"

	"tuval/internal/fault"
	"tuval/web/reply"
	"tuval/web/visitor"
)

// handler answers a request or says why not.
type handler func(w http.ResponseWriter, r *http.Request) error

// group is what several routes have in common and none of them can forget.
type group struct {
	site    *site
	session bool // who asks is looked up
	foreign bool // requests of other sites are welcome
	private bool // nothing of the answer may be kept
	allow   func(*http.Request) error
}

// on registers a route. Its pattern is also its name in the metrics.
func (g group) on(pattern string, h handler) { g.mount(pattern, g.answer(h)) }

// mount registers a handler that answers by itself.
func (g group) mount(pattern string, h http.Handler) {
	if g.session {
		h = g.site.known(h)
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply.FactsOf(r.Context()).Route = pattern
		if err := g.sameSite(r); err != nil {
			g.site.refuse(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
	g.site.mux.Handle(pattern, guarded)
}

// sameSite refuses what another site made a browser send.
func (g group) sameSite(r *http.Request) error {
	if g.foreign {
		return nil
	}
	if err := g.site.origins.Check(r); err != nil {
		return fault.New(fault.Forbidden, "This request came from another site. Nothing was changed.").Because(err)
	}
	return nil
}

func (g group) answer(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.private {
			w.Header().Set("Cache-Control", "no-store")
		}
		err := error(nil)
		if g.allow != nil {
			err = g.allow(r)
		}
		if err == nil {
			err = h(w, r)
		}
		if err != nil {
			g.site.refuse(w, r, err)
		}
	})
}

// admins lets admins in and nobody else. Whoever shows nothing at all has to
// sign in; whoever is somebody else may not come in.
func admins(r *http.Request) error {
	switch v := visitor.From(r.Context()); {
	case v.Admin.Is():
		return nil
	case len(v.Persons) == 0:
		return fault.New(fault.Unauthenticated, "Only admins come in here.")
	}
	return fault.New(fault.Forbidden, "Only admins come in here.")
}
