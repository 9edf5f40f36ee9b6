package api_test

import (
	"net/http"
	"strings"
	"testing"
)

type rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

type boardAnswer struct {
	Revision string
	Grid     struct{ Cols, Rows int }
	Price    cash
	Counts   map[string]int
	Image    map[string]string
	Areas    []struct {
		ID, State, Until, Title string
		X, Y, W, H              int
	}
}

type cash struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

func (s *stack) board() boardAnswer {
	s.t.Helper()
	return as[boardAnswer](s.stranger().get("/api/v1/board").wants(http.StatusOK))
}

func TestTheBoard(t *testing.T) {
	s := newStack(t)
	empty := s.stranger().get("/api/v1/board").wants(http.StatusOK)
	b := as[boardAnswer](empty)
	if b.Price != (cash{10_000, "usd"}) || b.Counts["free"] != 10_000 || len(b.Areas) != 0 || !strings.Contains(string(empty.body), `"areas":[]`) {
		t.Errorf("an empty canvas is %s", empty.body)
	}
	if c := empty.header.Get("Set-Cookie"); c != "" {
		t.Errorf("a cookie is set: %s", c)
	}
	for _, kind := range []string{"url", "preview_url"} {
		if a := s.stranger().get(b.Image[kind]); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "image/") {
			t.Errorf("%s leads to %d %s", b.Image[kind], a.status, a.header.Get("Content-Type"))
		}
	}
	held := s.hold(s.stranger(), rect{90, 90, 10, 10})
	full := s.stranger().get("/api/v1/board")
	b = as[boardAnswer](full)
	if len(b.Areas) != 1 || b.Areas[0].State != "held" || b.Areas[0].X != 90 || b.Areas[0].Until == "" || b.Areas[0].ID == held.ID {
		t.Errorf("a hold is shown as %+v", b.Areas)
	}
	for _, secret := range []string{held.ID, held.Token, "person", "price_per_week", "address"} {
		if strings.Contains(string(full.body), secret) {
			t.Errorf("the board tells %q", secret)
		}
	}
	sum := 0
	for _, n := range b.Counts {
		sum += n
	}
	if sum != 10_000 || b.Counts["held"] != 100 {
		t.Errorf("counts are %v", b.Counts)
	}
}

func TestTheBoardSaysWhetherItChanged(t *testing.T) {
	s := newStack(t)
	first := s.stranger().get("/api/v1/board").wants(http.StatusOK)
	tag := first.header.Get("ETag")
	for _, sent := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		if a := s.stranger().with("If-None-Match", sent).get("/api/v1/board").wants(http.StatusNotModified); a.header.Get("ETag") != tag || len(a.body) > 0 {
			t.Errorf("304 with ETag %s and %d bytes", a.header.Get("ETag"), len(a.body))
		}
	}
	held := s.hold(s.stranger(), rect{0, 0, 1, 1})
	changed := s.stranger().with("If-None-Match", tag).get("/api/v1/board").wants(http.StatusOK)
	if changed.header.Get("ETag") == tag || as[boardAnswer](changed).Revision == as[boardAnswer](first).Revision {
		t.Error("a hold changed neither ETag nor revision")
	}
	s.bearer(held.Token).delete("/api/v1/holds/" + held.ID).wants(http.StatusNoContent)
	if s.board().Counts["free"] != 10_000 {
		t.Error("the blocks are not free again")
	}
	if a := s.stranger().send("HEAD", "/api/v1/board", nil).wants(http.StatusOK); len(a.body) > 0 || a.header.Get("ETag") == "" {
		t.Error("HEAD has a body, or no ETag")
	}
}

// A board is for everybody: what is shown of oneself is not even looked at.
func TestTheBoardAsksNobodyWhoTheyAre(t *testing.T) {
	s := newStack(t)
	s.bearer("nonsense").get("/api/v1/board").wants(http.StatusOK)
	s.stranger().with("Authorization", "Basic eDp5").get("/api/v1/board").wants(http.StatusOK)
	s.stranger().with("Cookie", "tuval=nonsense").get("/api/v1/board").wants(http.StatusOK)
}
