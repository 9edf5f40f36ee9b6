package web

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"tuval/internal/limits"
	"tuval/internal/market"
	"tuval/views"
	"tuval/web/visitor"
)

// known finds out who asks: the network, and who the browser's session is. A
// request that shows a token of the API speaks for itself; its cookie, if it
// has one, is not looked at.
func (s *site) known(next http.Handler) http.Handler {
	withSession := s.sessions.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.visitor(r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(visitor.With(r.Context(), v)))
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			withSession.ServeHTTP(w, r)
			return
		}
		v := visitor.Visitor{Network: s.network(r)}
		next.ServeHTTP(w, r.WithContext(visitor.With(r.Context(), v)))
	})
}

// visitor gathers what a session says. It is only asked for inside the
// session's middleware.
func (s *site) visitor(r *http.Request) (visitor.Visitor, error) {
	ctx := r.Context()
	v := visitor.Visitor{Network: s.network(r), Persons: s.sessions.Persons(ctx), HasSession: true}
	v.Account, _ = s.sessions.AccountID(ctx)
	if id, ok := s.sessions.Person(ctx); ok {
		v.Session = strconv.FormatInt(id, 10)
	}
	id, ok := s.sessions.AdminID(ctx)
	if !ok {
		return v, nil
	}
	all, err := s.Admins.All(ctx)
	if err != nil {
		return v, err
	}
	for _, a := range all {
		if a.ID == id && !a.Disabled {
			v.Admin = visitor.Admin{ID: a.ID, Email: a.Email}
		}
	}
	return v, nil
}

// network is the keyed hash of the address a request comes from. A proxy that
// nobody told us about is reported: behind one, everybody would be one person.
func (s *site) network(r *http.Request) []byte {
	address, strange := limits.ClientAddress(r, s.Settings.TrustedProxies)
	if strange && s.alarms.open(time.Now()) {
		err := s.Market.Report(r.Context(), market.Anomaly{
			Kind: "proxy not configured", Fact: "proxy not configured",
			Message: "A peer that is not in TUVAL_TRUSTED_PROXIES sent forwarding headers. If it is your proxy, everybody behind it counts as one network address.",
			Action:  "Forwarding headers are ignored. Set TUVAL_TRUSTED_PROXIES.",
		})
		if err != nil {
			s.Log.WarnContext(r.Context(), "an anomaly could not be reported", "error", err)
		}
	}
	return limits.Key(s.Settings.Secret, address)
}

// gate opens once in a while, whoever knocks.
type gate struct{ next atomic.Int64 }

const alarmEvery = 10 * time.Minute

func (g *gate) open(now time.Time) bool {
	next := g.next.Load()
	return now.UnixNano() >= next && g.next.CompareAndSwap(next, now.Add(alarmEvery).UnixNano())
}

// frame is the frame of a page, without messages of the request before. Whose
// browser has rentals finds the way to them as if signed in.
func (s *site) frame(r *http.Request) views.Page {
	v := visitor.From(r.Context())
	return views.Page{Asset: s.Assets.Path, Path: r.URL.Path, SignedIn: len(v.Persons) > 0, Admin: v.Admin.Is()}
}

// page is the frame of a whole page that is about to be shown, with the
// messages that wait for it.
func (s *site) page(r *http.Request) views.Page {
	p := s.frame(r)
	if !visitor.From(r.Context()).HasSession {
		return p
	}
	for _, f := range s.sessions.Flashes(r.Context()) {
		p.Flash = append(p.Flash, views.FlashView{Kind: f.Kind, Text: f.Text})
	}
	return p
}

// tell keeps a message for the next page. It makes a session if need be, so
// it is for people about whom something is kept anyway.
func (s *site) tell(ctx context.Context, kind, text string) { s.sessions.Flash(ctx, kind, text) }
