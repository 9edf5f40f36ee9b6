package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tuval/internal/stripesim"
)

const key = "Idempotency-Key"

// together sends the same request n times at once.
func together(n int, send func() *answer) []*answer {
	answers := make([]*answer, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			<-start
			answers[i] = send()
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// same fails the test unless all answers are the first one.
func same(t *testing.T, status int, answers ...*answer) {
	t.Helper()
	for _, a := range answers {
		if a.wants(status); !bytes.Equal(a.body, answers[0].body) {
			t.Errorf("%s is answered\n%s and\n%s", a.what, answers[0].body, a.body)
		}
	}
}

func TestTheSameHoldAgain(t *testing.T) {
	s := newStack(t)
	c := s.stranger().with(key, "0123456789")
	place := rect{0, 0, 5, 5}
	same(t, http.StatusCreated, together(8, func() *answer { return c.post("/api/v1/holds", place) })...)
	if n := s.count(`SELECT count(*) FROM rentals`); n != 1 {
		t.Errorf("%d holds", n)
	}
	c.post("/api/v1/holds", rect{50, 50, 1, 1}).refuses(http.StatusUnprocessableEntity, "invalid", key)
	first := as[heldAnswer](c.post("/api/v1/holds", place).wants(http.StatusCreated))
	s.bearer(first.Token).get("/api/v1/rentals/" + first.ID).wants(http.StatusOK)
	if n := s.count(`SELECT count(*) FROM requests WHERE answer::text LIKE '%' || $1 || '%'`, first.Token); n != 0 {
		t.Error("the token is stored")
	}
	// Another caller's key is another key.
	s.bearer(first.Token).with(key, "0123456789").post("/api/v1/holds", rect{50, 50, 1, 1}).wants(http.StatusCreated)
	// After a day it is forgotten.
	if _, err := s.pool.Exec(s.ctx(), `UPDATE requests SET created_at = created_at - interval '24 hours'`); err != nil {
		t.Fatal(err)
	}
	c.post("/api/v1/holds", rect{60, 60, 1, 1}).wants(http.StatusCreated)
}

func TestARefusalIsNotRemembered(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	c := s.stranger().with(key, "0123456789")
	c.post("/api/v1/holds", rect{0, 0, 2, 2}).refuses(http.StatusConflict, "taken", "")
	c.post("/api/v1/holds", rect{0, 0, 0, 0}).refuses(http.StatusUnprocessableEntity, "invalid", "w")
	s.bearer(h.Token).delete("/api/v1/holds/" + h.ID).wants(http.StatusNoContent)
	c.post("/api/v1/holds", rect{0, 0, 2, 2}).wants(http.StatusCreated)
}

func TestKeysThatAreNone(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	admin := s.admin()
	for _, bad := range []string{"", "1234567", strings.Repeat("k", 201), "tab\tstop", "clé-clé-clé"} {
		for path, c := range map[string]*client{
			"/api/v1/holds": s.stranger(), "/api/v1/holds/" + h.ID + "/keep": s.bearer(h.Token),
			"/api/v1/rentals/" + h.ID + "/checkout": s.bearer(h.Token), "/api/v1/admin/blocked": admin,
			"/api/v1/admin/creatives/none/approve": admin, "/api/v1/admin/creatives/none/reject": admin,
		} {
			body := map[string]any{
				"/api/v1/holds": rect{5, 5, 1, 1}, "/api/v1/holds/" + h.ID + "/keep": "{}",
				"/api/v1/rentals/" + h.ID + "/checkout": buying(1), "/api/v1/admin/blocked": map[string]any{"x": 9, "y": 9, "w": 1, "h": 1, "note": "n"},
				"/api/v1/admin/creatives/none/approve": decision(1), "/api/v1/admin/creatives/none/reject": decision(1, "r"),
			}[path]
			c.with(key, bad).post(path, body).refuses(http.StatusUnprocessableEntity, "invalid", key)
		}
	}
	s.stranger().with(key, "0123456789").with(key, "0123456789").post("/api/v1/holds", rect{5, 5, 1, 1}).
		refuses(http.StatusUnprocessableEntity, "invalid", key)
	for _, good := range []string{"12345678", "with a blank", strings.Repeat("k", 200), "!~\"#$%&'()"} {
		s.stranger().with(key, good).post("/api/v1/holds", rect{0, 0, 2, 2}).refuses(http.StatusConflict, "taken", "")
	}
}

func TestTheSameKeepAgain(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	c := s.bearer(h.Token).with(key, "0123456789")
	same(t, http.StatusOK, together(4, func() *answer { return c.post("/api/v1/holds/"+h.ID+"/keep", "{}") })...)
}

func TestTheSameCheckoutAgain(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	at := "/api/v1/rentals/" + h.ID + "/checkout"
	c := s.bearer(h.Token).with(key, "0123456789")
	same(t, http.StatusOK, together(6, func() *answer { return c.post(at, buying(1)) })...)
	if n := s.count(`SELECT count(*) FROM payments`); n != 1 {
		t.Errorf("%d payments", n)
	}
	c.post(at, buying(2)).refuses(http.StatusUnprocessableEntity, "invalid", key)
	first := as[offerAnswer](c.post(at, buying(1)))
	s.pay(first, stripesim.Payment{})
	// What was answered once is answered again, whatever became of it.
	if again := as[offerAnswer](c.post(at, buying(1)).wants(http.StatusOK)); again != first {
		t.Errorf("it is %+v, not %+v", again, first)
	}
	s.bearer(h.Token).post(at, buying(1)).refuses(http.StatusConflict, "conflict", "")
}

func TestWhatAdminsDoAgain(t *testing.T) {
	s := newStack(t)
	c := s.admin().with(key, "0123456789")
	area := map[string]any{"x": 0, "y": 0, "w": 9, "h": 9, "note": "n"}
	same(t, http.StatusCreated, together(8, func() *answer { return c.post("/api/v1/admin/blocked", area) })...)
	area["note"] = "m"
	c.post("/api/v1/admin/blocked", area).refuses(http.StatusUnprocessableEntity, "invalid", key)
	c.with(key, "another-key").post("/api/v1/admin/blocked", area).wants(http.StatusUnprocessableEntity) // two keys
	s.admin().with(key, "another-key").post("/api/v1/admin/blocked", area).refuses(http.StatusConflict, "taken", "")
	if n := s.count(`SELECT count(*) FROM requests WHERE key = 'another-key'`); n != 0 {
		t.Error("a refusal is remembered")
	}

	h := s.rented(rect{50, 50, 1, 1}, 1)
	s.submitted(h)
	review := as[reviewsAnswer](c.get("/api/v1/admin/reviews")).Reviews[0]
	at := "/api/v1/admin/creatives/" + review.CreativeID + "/approve"
	same(t, http.StatusOK, together(4, func() *answer { return c.post(at, decision(1)) })...)
	s.admin().post(at, decision(1)).refuses(http.StatusConflict, "conflict", "")
	if n := s.count(`SELECT count(*) FROM ledger WHERE kind = 'creative.approved'`); n != 1 {
		t.Errorf("approved %d times", n)
	}
}

func TestTheSamePictureAgain(t *testing.T) {
	s := newStack(t)
	h := s.rented(rect{0, 0, 1, 1}, 1)
	c := s.bearer(h.Token).with(key, "0123456789")
	send := func(alt string) *answer {
		return c.upload("/api/v1/rentals/"+h.ID+"/creative", okQuad(), "link", "https://example.com", "alt", alt)
	}
	same(t, http.StatusAccepted, together(3, func() *answer { return send("x") })...)
	if c := s.look(h).Creative; c.Revision != 1 {
		t.Errorf("it is revision %d", c.Revision)
	}
	send("y").refuses(http.StatusUnprocessableEntity, "invalid", key)
}

// Whoever waits for a key does not keep the connections that the first copy
// needs.
func TestManyCopiesDoNotBlockEachOther(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	answers := together(40, func() *answer {
		return admin.with(key, "0123456789").post("/api/v1/admin/blocked", map[string]any{"x": 0, "y": 0, "w": 1, "h": 1, "note": "n"})
	})
	same(t, http.StatusCreated, answers...)
}
