package web

import (
	"io"
	"net/http"
	"net/netip"

	"tuval/internal/fault"
	"tuval/internal/limits"
	"tuval/web/reply"
)

// healthz says that the process answers.
func (s *site) healthz(w http.ResponseWriter, _ *http.Request) error {
	return plain(w, http.StatusOK, "ok\n")
}

// readyz says whether it can serve: database, migrations, workers. Why not is
// for the operator, and in the log.
func (s *site) readyz(w http.ResponseWriter, r *http.Request) error {
	if err := s.Ready(r.Context()); err != nil {
		_, status := reply.Note(w, r, fault.Away("not ready", 0).Because(err))
		return plain(w, status, "not ready\n")
	}
	return plain(w, http.StatusOK, "ready\n")
}

func plain(w http.ResponseWriter, status int, body string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := io.WriteString(w, body)
	_ = err // the connection's, not ours
	return nil
}

// metrics are for this machine, unless they have an address of their own.
func (s *site) metrics(w http.ResponseWriter, r *http.Request) error {
	if !s.Settings.MetricsHere || !local(r) {
		return fault.New(fault.NotFound, "There is nothing at this address.")
	}
	s.Metrics.Handler().ServeHTTP(w, r)
	return nil
}

// local reports whether a request was made on this machine, and not handed on
// by a proxy that runs here.
func local(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && !limits.Forwarded(r)
}
