package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

type heldAnswer struct {
	ID, Token, State string
	Rect             rect
	LeasedUntil      time.Time `json:"leased_until"`
	CheckoutBy       time.Time `json:"checkout_by"`
	PricePerWeek     cash      `json:"price_per_week"`
}

// hold places a hold that nothing stands in the way of.
func (s *stack) hold(c *client, r rect) heldAnswer {
	s.t.Helper()
	return as[heldAnswer](c.post("/api/v1/holds", r).wants(http.StatusCreated))
}

// rects are the rects that the acceptance cases have.
type rects struct {
	Valid, Invalid [][]any
	Touching       [][2][4]int `json:"touching_pairs_both_must_succeed"`
	Overlap        [][2][4]int `json:"overlap_by_one_block"`
}

func readRects(t *testing.T) rects {
	t.Helper()
	var r rects
	if err := json.Unmarshal(must(os.ReadFile("testdata/rects.json")), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func rectOf(v [4]int) rect { return rect{v[0], v[1], v[2], v[3]} }

func TestAHold(t *testing.T) {
	s := newStack(t)
	a := s.stranger().post("/api/v1/holds", rect{10, 20, 6, 4}).wants(http.StatusCreated)
	h := as[heldAnswer](a)
	if h.Rect != (rect{10, 20, 6, 4}) || h.State != "held" || h.PricePerWeek != (cash{240_000, "usd"}) {
		t.Errorf("held as %s", a.body)
	}
	if lasts, most := h.LeasedUntil.Sub(h.CheckoutBy), -39*time.Minute; lasts != most {
		t.Errorf("the hold ends %s after the last checkout", lasts)
	}
	if at := a.header.Get("Location"); at != "/api/v1/rentals/"+h.ID {
		t.Errorf("the rental is at %s", at)
	}
	s.bearer(h.Token).get(a.header.Get("Location")).wants(http.StatusOK)
	if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`); n != 24 {
		t.Errorf("%d blocks are held", n)
	}
}

// C05, by programs: numbers as numbers and as texts.
func TestRectsOfTheAcceptanceCases(t *testing.T) {
	s := newStack(t)
	all := readRects(t)
	for _, v := range all.Invalid {
		body := map[string]any{"x": v[0], "y": v[1], "w": v[2], "h": v[3]}
		r := s.stranger().post("/api/v1/holds", body).wants(http.StatusUnprocessableEntity).refusal()
		if r.Code != "invalid" || !strings.Contains("xywh", r.Field) || r.Field == "" {
			t.Errorf("%v is refused for field %q: %s", v, r.Field, r.Message)
		}
		// As JSON would write it if it were a number.
		raw := fmt.Sprintf(`{"x":%v,"y":%v,"w":%v,"h":%v}`, v[0], v[1], v[2], v[3])
		s.stranger().post("/api/v1/holds", raw).refuses(http.StatusUnprocessableEntity, "invalid", s.stranger().post("/api/v1/holds", raw).refusal().Field)
	}
	if n := s.count(`SELECT count(*) FROM rentals`); n != 0 {
		t.Fatalf("%d rentals came of it", n)
	}
	for _, v := range all.Valid {
		body := map[string]any{"x": v[0], "y": v[1], "w": v[2], "h": v[3]}
		area := int(v[2].(float64) * v[3].(float64))
		a := s.stranger().post("/api/v1/holds", body)
		if area > 1000 { // valid, but more than anybody may hold at once
			a.refuses(http.StatusUnprocessableEntity, "invalid", "w")
			continue
		}
		h := as[heldAnswer](a.wants(http.StatusCreated))
		if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`); n != area || h.PricePerWeek.Amount != int64(area)*10_000 {
			t.Errorf("%v: %d blocks for %d", v, n, h.PricePerWeek.Amount)
		}
		s.bearer(h.Token).delete("/api/v1/holds/" + h.ID).wants(http.StatusNoContent)
	}
	for _, pair := range all.Touching {
		for _, v := range pair {
			s.hold(s.stranger(), rectOf(v))
		}
	}
}

// C01: of many who want two rects that share one block, one gets all of one.
func TestOneOfFiftyWins(t *testing.T) {
	s := newStack(t)
	pair := readRects(t).Overlap[0]
	for round := range 20 {
		answers := s.stampede(25, rectOf(pair[0]), rectOf(pair[1]))
		var won []heldAnswer
		var wonAt int
		for i, a := range answers {
			switch a.status {
			case http.StatusCreated:
				won, wonAt = append(won, as[heldAnswer](a)), i
			case http.StatusConflict:
				a.refuses(http.StatusConflict, "taken", "")
			default:
				t.Fatalf("round %d: %d %s", round, a.status, a.body)
			}
		}
		if len(won) != 1 {
			t.Fatalf("round %d: %d won", round, len(won))
		}
		if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`); n != 100 {
			t.Fatalf("round %d: %d blocks are held", round, n)
		}
		// The 99 other blocks of the losing rect can be held at once.
		lost := rectOf(pair[1-wonAt%2])
		rest := []rect{{lost.X, lost.Y, lost.W, lost.H - 1}, {lost.X, lost.Y + lost.H - 1, lost.W - 1, 1}}
		if lost.X > 60 { // the shared block is its first
			rest = []rect{{lost.X, lost.Y + 1, lost.W, lost.H - 1}, {lost.X + 1, lost.Y, lost.W - 1, 1}}
		}
		for _, r := range rest {
			won = append(won, s.hold(s.stranger(), r))
		}
		for _, h := range won {
			s.bearer(h.Token).delete("/api/v1/holds/" + h.ID).wants(http.StatusNoContent)
		}
	}
}

// stampede lets n programs hold each of the rects, all at once.
func (s *stack) stampede(n int, wanted ...rect) []*answer {
	answers := make([]*answer, n*len(wanted))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range answers {
		c := s.stranger()
		wg.Go(func() {
			<-start
			answers[i] = c.post("/api/v1/holds", wanted[i%len(wanted)])
		})
	}
	close(start)
	wg.Wait()
	return answers
}

func TestALoserIsShownOtherPlaces(t *testing.T) {
	s := newStack(t)
	s.hold(s.stranger(), rect{50, 50, 10, 10})
	for _, want := range []rect{{50, 50, 10, 10}, {59, 59, 6, 4}, {45, 45, 30, 30}} {
		r := s.stranger().post("/api/v1/holds", want).refuses(http.StatusConflict, "taken", "")
		var d struct{ Suggestions []rect }
		if err := json.Unmarshal(r.Details, &d); err != nil || len(d.Suggestions) == 0 || len(d.Suggestions) > 5 {
			t.Fatalf("suggested are %s (%v)", r.Details, err)
		}
		// What somebody takes meanwhile is not suggested to the next one.
		taken := s.hold(s.stranger(), d.Suggestions[0])
		again := s.stranger().post("/api/v1/holds", want).refuses(http.StatusConflict, "taken", "")
		if strings.Contains(string(again.Details), string(must(json.Marshal(d.Suggestions[0])))) {
			t.Errorf("%v is suggested though it is taken", d.Suggestions[0])
		}
		s.bearer(taken.Token).delete("/api/v1/holds/" + taken.ID).wants(http.StatusNoContent)
		for _, place := range d.Suggestions {
			if place.W != want.W || place.H != want.H {
				t.Errorf("%v is suggested for %v", place, want)
			}
			// Any one of them can be had.
			h := s.hold(s.stranger(), place)
			s.bearer(h.Token).delete("/api/v1/holds/" + h.ID).wants(http.StatusNoContent)
		}
	}
}

func TestNowhereElse(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	s.hold(s.stranger(), rect{0, 0, 1, 1})
	admin.post("/api/v1/admin/blocked", map[string]any{"x": 1, "y": 0, "w": 99, "h": 100, "note": "all of it"}).wants(http.StatusCreated)
	r := s.stranger().post("/api/v1/holds", rect{0, 0, 2, 2}).refuses(http.StatusConflict, "taken", "")
	if string(r.Details) != `{"suggestions":[]}` {
		t.Errorf("suggested are %s", r.Details)
	}
}

func TestAHoldOfTheSamePersonIsReplaced(t *testing.T) {
	s := newStack(t)
	first := s.hold(s.stranger(), rect{10, 10, 4, 4})
	moved := s.hold(s.bearer(first.Token), rect{11, 10, 4, 4})
	if moved.ID == first.ID || moved.Token == first.Token {
		t.Error("the new hold is the old one")
	}
	if !moved.CheckoutBy.Equal(first.CheckoutBy) {
		t.Error("a hold that replaces one begins anew")
	}
	if n := s.count(`SELECT count(*) FROM blocks WHERE leased_until > now()`); n != 16 {
		t.Errorf("%d blocks are held", n)
	}
	if got := as[rentalAnswer](s.bearer(first.Token).get("/api/v1/rentals/" + first.ID)); got.State != "closed" || got.ClosedReason != "cancelled" {
		t.Errorf("the old hold is %+v", got)
	}
	// A token of a hold that is over still says whose it was.
	again := s.hold(s.bearer(first.Token), rect{12, 10, 4, 4})
	s.stranger().post("/api/v1/holds", rect{12, 10, 4, 4}).refuses(http.StatusConflict, "taken", "")
	// If the new place cannot be had the old one stays.
	s.hold(s.stranger(), rect{20, 10, 4, 4})
	s.bearer(again.Token).post("/api/v1/holds", rect{16, 10, 5, 4}).refuses(http.StatusConflict, "taken", "")
	if got := as[rentalAnswer](s.bearer(again.Token).get("/api/v1/rentals/" + again.ID)); got.State != "held" {
		t.Errorf("the hold that was to be replaced is %s", got.State)
	}
}

func TestUnpaidHoldsAreCapped(t *testing.T) {
	s := newStack(t)
	last := s.hold(s.stranger(), rect{0, 0, 1, 1})
	for x := range 2 {
		last = s.hold(s.bearer(last.Token), rect{10 + x, 0, 1, 1})
	}
	a := s.bearer(last.Token).post("/api/v1/holds", rect{50, 0, 1, 1})
	a.refuses(http.StatusTooManyRequests, "limit", "")
	if a.header.Get("Retry-After") == "" {
		t.Error("nobody says when to come back")
	}
	s.hold(s.stranger(), rect{50, 0, 1, 1}) // somebody else can
}

func TestWhoeverShowsNonsenseIsNobody(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	for _, shown := range []string{
		"Bearer", "Bearer ", "Bearer x", "Bearer " + h.ID, "Bearer " + h.Token + "x", "Basic eDp5", "Token " + h.Token,
		"Bearer tuval_admin_" + strings.Repeat("A", 43), h.Token, "Bearer " + strings.Repeat("x", 4000),
	} {
		for _, path := range []string{"/api/v1/holds", "/api/v1/rentals/" + h.ID, "/api/v1/rentals/none"} {
			c := s.stranger().with("Authorization", shown)
			a := c.get(path)
			if path == "/api/v1/holds" {
				a = c.post(path, rect{5, 5, 1, 1})
			}
			a.refuses(http.StatusUnauthorized, "unauthorized", "")
			if a.header.Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
		}
	}
	s.stranger().with("Authorization", "Bearer "+h.Token).with("Authorization", "Bearer "+h.Token).
		get("/api/v1/rentals/"+h.ID).refuses(http.StatusUnauthorized, "unauthorized", "")
	s.stranger().with("Authorization", "bearer  "+h.Token).get("/api/v1/rentals/" + h.ID).wants(http.StatusOK)
}

func TestKeepWorksOnce(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	keep := "/api/v1/holds/" + h.ID + "/keep"
	kept := as[heldAnswer](s.bearer(h.Token).post(keep, "{}").wants(http.StatusOK))
	if got := kept.LeasedUntil.Sub(h.LeasedUntil); got != 10*time.Minute || kept.ID != h.ID {
		t.Errorf("kept for %s", got)
	}
	s.bearer(h.Token).send("POST", keep, nil).refuses(http.StatusConflict, "conflict", "")
	s.bearer(h.Token).post(keep, `{"minutes":5}`).refuses(http.StatusUnprocessableEntity, "invalid", "minutes")
	s.age(21 * time.Minute)
	s.bearer(h.Token).send("POST", keep, nil).refuses(http.StatusGone, "gone", "")
}

func TestLettingGoIsTheSameTwice(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 3, 3})
	for range 2 {
		if a := s.bearer(h.Token).delete("/api/v1/holds/" + h.ID).wants(http.StatusNoContent); len(a.body) > 0 {
			t.Error("204 with a body")
		}
	}
	lapsed := s.hold(s.stranger(), rect{0, 0, 3, 3})
	s.age(11 * time.Minute)
	s.bearer(lapsed.Token).delete("/api/v1/holds/" + lapsed.ID).wants(http.StatusNoContent)
	got := as[rentalAnswer](s.bearer(lapsed.Token).get("/api/v1/rentals/" + lapsed.ID).wants(http.StatusOK))
	if got.State != "closed" || got.ClosedReason != "expired" || got.LeasedUntil != nil {
		t.Errorf("a hold that is over is %+v", got)
	}
}
