package stripesim

import (
	"net/http"
	"net/url"
)

// Handler serves the API under /v1, the pay page under /c/pay and the test
// controls under /sim. It is for a loopback listener of its own.
func (s *Sim) Handler() http.Handler {
	mux := http.NewServeMux()
	s.routeAPI(mux)
	s.routePage(mux)
	s.routeControls(mux)
	// Another site's page must not press buttons here; programs may.
	return onlyText(http.NewCrossOriginProtection().Handler(mux))
}

func (s *Sim) routeAPI(mux *http.ServeMux) {
	mux.Handle("POST /v1/checkout/sessions", s.writes(s.createSession))
	mux.Handle("GET /v1/checkout/sessions", s.reads(s.listSessions))
	mux.Handle("GET /v1/checkout/sessions/{id}", s.reads(s.retrieveSession))
	mux.Handle("POST /v1/checkout/sessions/{id}/expire", s.writes(s.expireSession))
	mux.Handle("GET /v1/payment_intents/{id}", s.reads(s.retrieveIntent))
	mux.Handle("GET /v1/charges/{id}", s.reads(s.retrieveCharge))
	mux.Handle("POST /v1/refunds", s.writes(s.createRefund))
	mux.Handle("GET /v1/refunds", s.reads(s.listRefunds))
	mux.Handle("GET /v1/refunds/{id}", s.reads(s.retrieveRefund))
	mux.Handle("GET /v1/events", s.reads(s.listEvents))
	mux.Handle("GET /v1/events/{id}", s.reads(s.retrieveEvent))
	mux.Handle("/v1/", s.unknown())
}

// unknown answers every other address of the API.
func (s *Sim) unknown() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := s.authorize(r)
		if e == nil {
			e = invalid("", "", "The payment simulator has no %s %s.", r.Method, printable(r.URL.Path))
			e.Status = http.StatusNotFound
		}
		c := &call{requestID: newID("req_")}
		c.send(w, replyError(e), s.o.APIVersion)
	})
}

// onlyText refuses paths that are no text: no id looks like that, and the
// database would not take it.
func onlyText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, err := url.PathUnescape(r.URL.EscapedPath())
		if err != nil || printable(path) != path {
			http.Error(w, "bad address", http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
