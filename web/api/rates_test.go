package api_test

import (
	"net/http"
	"testing"
	"time"

	"tuval/internal/limits"
)

func slow(burst int) *limits.Keyed {
	return limits.NewKeyed(limits.Rate{Burst: burst, Every: time.Hour}, "Slowly.", time.Now)
}

func (a *answer) limited() {
	a.t.Helper()
	a.refuses(http.StatusTooManyRequests, "limit", "")
	if a.header.Get("Retry-After") == "" {
		a.t.Error("429 without Retry-After")
	}
}

func TestHoldsHaveARateOfTheirOwn(t *testing.T) {
	s := newStack(t, func(u *setup) { u.limits = &limits.Set{Holds: slow(2)} })
	for range 5 { // what is no rect costs nothing
		s.stranger().post("/api/v1/holds", "{}").wants(http.StatusUnprocessableEntity)
	}
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	s.stranger().post("/api/v1/holds", rect{0, 0, 1, 1}).wants(http.StatusConflict)
	s.stranger().post("/api/v1/holds", rect{5, 5, 1, 1}).limited()
	s.bearer(h.Token).get("/api/v1/rentals/" + h.ID).wants(http.StatusOK)
	s.board()
}

func TestUploadsHaveARateOfTheirOwn(t *testing.T) {
	s := newStack(t, func(u *setup) { u.limits = &limits.Set{Uploads: slow(1)} })
	h := s.rented(rect{0, 0, 1, 1}, 1)
	s.submitted(h)
	s.creative(h, okQuad(), "link", "https://example.com", "alt", "x").limited()
	s.look(h)
}

func TestEverythingElseHasARate(t *testing.T) {
	s := newStack(t, func(u *setup) { u.limits = &limits.Set{API: slow(3)} })
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	s.look(h)
	s.look(h)
	s.bearer(h.Token).get("/api/v1/rentals/" + h.ID).limited()
	s.stranger().post("/api/v1/holds", rect{5, 5, 1, 1}).limited()
	s.stranger().get("/api/v1/admin/ledger").limited()
	for range 10 { // the canvas is for everybody, out of memory
		s.board()
	}
}
