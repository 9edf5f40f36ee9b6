package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

type reviewAnswer struct {
	CreativeID string `json:"creative_id"`
	RentalID   string `json:"rental_id"`
	Revision   int
	State      string
	Reason     string
	ImageURL   string `json:"image_url"`
	Link       string
	LinkHost   string `json:"link_host"`
	Title, Alt string
	DecideBy   *time.Time `json:"decide_by"`
	Rect       rect
}

type reviewsAnswer struct {
	Reviews []reviewAnswer
	Next    string
}

func readLinks(t *testing.T) [][2]string {
	t.Helper()
	var rows [][2]string
	if err := json.Unmarshal(must(os.ReadFile("../../internal/link/testdata/links.json")), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func decision(revision int, reason ...string) map[string]any {
	d := map[string]any{"revision": revision}
	if len(reason) > 0 {
		d["reason"] = reason[0]
	}
	return d
}

func TestAReviewIsDecided(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	h := s.rented(rect{3, 4, 2, 2}, 2)
	s.creative(h, okQuad(), "link", "https://bücher.example/x", "title", "Books", "alt", "A shelf").wants(http.StatusAccepted)
	queue := as[reviewsAnswer](admin.get("/api/v1/admin/reviews").wants(http.StatusOK))
	if len(queue.Reviews) != 1 || queue.Next != "" {
		t.Fatalf("the queue is %+v", queue)
	}
	r := queue.Reviews[0]
	if r.RentalID != h.ID || r.LinkHost != "xn--bcher-kva.example" || r.Title != "Books" || r.Alt != "A shelf" || r.Rect != h.Rect || !r.DecideBy.Equal(*s.look(h).ApproveBy) {
		t.Errorf("it is %+v", r)
	}
	admin.get(r.ImageURL).wants(http.StatusOK)
	at := "/api/v1/admin/creatives/" + r.CreativeID

	// A reason is for the buyer.
	admin.post(at+"/reject", decision(1)).refuses(http.StatusUnprocessableEntity, "invalid", "reason")
	rejected := as[reviewAnswer](admin.post(at+"/reject", decision(1, "Too dark.")).wants(http.StatusOK))
	if rejected.State != "rejected" || rejected.Reason != "Too dark." || rejected.CreativeID != r.CreativeID {
		t.Errorf("it is answered %+v", rejected)
	}
	if c := s.look(h).Creative; c.State != "rejected" || c.Reason != "Too dark." {
		t.Errorf("the buyer sees %+v", c)
	}
	admin.post(at+"/approve", decision(1)).refuses(http.StatusConflict, "conflict", "")

	// Approved is the exact revision that was looked at.
	s.creative(h, okQuad(), "link", "https://example.com", "alt", "2").wants(http.StatusAccepted)
	second := as[reviewsAnswer](admin.get("/api/v1/admin/reviews")).Reviews[0]
	s.creative(h, okQuad(), "link", "https://example.com", "alt", "3").wants(http.StatusAccepted)
	admin.post("/api/v1/admin/creatives/"+second.CreativeID+"/approve", decision(2)).refuses(http.StatusConflict, "conflict", "")
	third := as[reviewsAnswer](admin.get("/api/v1/admin/reviews")).Reviews[0]
	admin.post("/api/v1/admin/creatives/"+third.CreativeID+"/approve", decision(2)).refuses(http.StatusConflict, "conflict", "")
	approved := as[reviewAnswer](admin.post("/api/v1/admin/creatives/"+third.CreativeID+"/approve", decision(3)).wants(http.StatusOK))
	if approved.State != "approved" || approved.Revision != 3 {
		t.Errorf("it is answered %+v", approved)
	}
	s.isLive(h, 2)
	admin.post("/api/v1/admin/creatives/none/approve", decision(1)).refuses(http.StatusNotFound, "not_found", "")
}

// isLive looks at a rental that was approved just now, from all sides.
func (s *stack) isLive(h heldAnswer, weeks int) {
	s.t.Helper()
	got := s.look(h)
	if got.State != "live" || got.EndsAt.Sub(*got.LiveFrom) != time.Duration(weeks)*168*time.Hour || got.LiveCreative == nil {
		s.t.Fatalf("the rental is %+v", got)
	}
	if c := got.LiveCreative; c.State != "approved" || *c != *got.Creative {
		s.t.Errorf("it shows %+v, and the latest is %+v", c, got.Creative)
	}
	s.stranger().get(got.LiveCreative.ImageURL).wants(http.StatusOK) // everybody may
	s.bearer(h.Token).get(got.LiveCreative.ImageURL).wants(http.StatusOK)
	b := s.board()
	if b.Areas[0].State != "live" || b.Counts["taken"] != h.Rect.W*h.Rect.H {
		s.t.Errorf("the board has %+v", b.Areas)
	}
	// A newer picture waits while the approved one shows.
	s.creative(h, readFile("gif_quad.gif", "image/gif"), "link", "https://example.com", "alt", "4", "fit", "contain").wants(http.StatusAccepted)
	got = s.look(h)
	if got.Creative.State != "pending" || got.LiveCreative.Revision == got.Creative.Revision {
		s.t.Errorf("waiting is %+v beside %+v", got.Creative, got.LiveCreative)
	}
	waiting := as[reviewsAnswer](s.admin().get("/api/v1/admin/reviews")).Reviews[0]
	if !waiting.DecideBy.Equal(*got.EndsAt) {
		s.t.Errorf("it is of use until %s", waiting.DecideBy)
	}
	s.age(time.Duration(weeks)*168*time.Hour + time.Minute)
	public := got.LiveCreative.ImageURL
	if got = s.look(h); got.State != "ended" {
		s.t.Errorf("after its time it is %s", got.State)
	}
	s.stranger().get(public).wants(http.StatusGone)
	s.bearer(h.Token).get(got.LiveCreative.ImageURL).wants(http.StatusOK) // its buyer may still look
}

func TestAreasAreBlocked(t *testing.T) {
	s := newStack(t)
	admin := s.admin()
	held := s.hold(s.stranger(), rect{0, 0, 1, 1})
	area := func(r rect, more ...any) map[string]any {
		m := map[string]any{"x": r.X, "y": r.Y, "w": r.W, "h": r.H, "note": "Kept for the house"}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	admin.post("/api/v1/admin/blocked", area(rect{0, 0, 100, 50})).refuses(http.StatusConflict, "taken", "")
	s.bearer(held.Token).delete("/api/v1/holds/" + held.ID).wants(http.StatusNoContent)
	type blocked struct {
		rect
		ID, Note string
		Rect     rect
		Until    time.Time
	}
	b := as[blocked](admin.post("/api/v1/admin/blocked", area(rect{0, 0, 100, 50})).wants(http.StatusCreated)) // 5,000 blocks
	if b.rect != (rect{0, 0, 100, 50}) || b.Rect != b.rect || b.Note != "Kept for the house" {
		t.Errorf("it is %+v", b)
	}
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	short := as[blocked](admin.post("/api/v1/admin/blocked", area(rect{0, 99, 1, 1}, "until", until.In(time.FixedZone("", 3600)))).wants(http.StatusCreated))
	if !short.Until.Equal(until) {
		t.Errorf("until %s, want %s", short.Until, until)
	}
	list := as[map[string][]blocked](admin.get("/api/v1/admin/blocked").wants(http.StatusOK))["areas"]
	if len(list) != 2 || list[0].ID != short.ID || list[1].ID != b.ID {
		t.Errorf("blocked are %+v", list)
	}
	if got := s.board(); got.Counts["blocked"] != 5001 || got.Areas[0].ID != "" {
		t.Errorf("the board has %+v", got.Counts)
	}
	s.stranger().post("/api/v1/holds", rect{50, 49, 2, 2}).refuses(http.StatusConflict, "taken", "")
	admin.delete("/api/v1/admin/blocked/" + b.ID).wants(http.StatusNoContent)
	admin.delete("/api/v1/admin/blocked/"+b.ID).refuses(http.StatusNotFound, "not_found", "")
	s.hold(s.stranger(), rect{50, 49, 2, 2})

	admin.post("/api/v1/admin/blocked", `{"x":0,"y":0,"w":1,"h":1}`).refuses(http.StatusUnprocessableEntity, "invalid", "note")
	admin.post("/api/v1/admin/blocked", "{\"x\":9,\"y\":9,\"w\":1,\"h\":1,\"note\":\"a\xffb\"}").refuses(http.StatusUnprocessableEntity, "invalid", "")
	for _, bad := range []any{"", "tomorrow", "2027-01-31", "2027-01-31T15:00", "2027-01-31 15:00:00Z", 1893456000, nil, "9999-12-31T23:59:59-12:00", "2001-01-01T00:00:00Z"} {
		admin.post("/api/v1/admin/blocked", area(rect{9, 9, 1, 1}, "until", bad)).refuses(http.StatusUnprocessableEntity, "invalid", "until")
	}
	admin.post("/api/v1/admin/blocked", area(rect{9, 9, 1, 1}, "note", strings.Repeat("n", 201))).refuses(http.StatusUnprocessableEntity, "invalid", "note")
}

func TestRentalsAreListed(t *testing.T) {
	s := newStack(t, func(u *setup) { u.rules.Address.Holds = 1000 })
	admin := s.admin()
	paid := s.rented(rect{0, 50, 2, 2}, 1)
	gone := s.hold(s.stranger(), rect{0, 60, 2, 2})
	s.bearer(gone.Token).delete("/api/v1/holds/" + gone.ID).wants(http.StatusNoContent)
	for i := range 52 {
		s.hold(s.stranger(), rect{i, 0, 1, 1})
	}
	type page struct {
		Rentals []rentalAnswer
		Next    string
	}
	first := as[page](admin.get("/api/v1/admin/rentals?state=held").wants(http.StatusOK))
	if len(first.Rentals) != 50 || first.Next == "" || first.Rentals[0].Rect.X != 51 {
		t.Fatalf("%d rentals, next %q", len(first.Rentals), first.Next)
	}
	second := as[page](admin.get("/api/v1/admin/rentals?state=held&next=" + first.Next).wants(http.StatusOK))
	if len(second.Rentals) != 2 || second.Next != "" || second.Rentals[1].Rect.X != 0 {
		t.Errorf("then %+v", second)
	}
	got := as[page](admin.get("/api/v1/admin/rentals?state=paid")).Rentals
	if len(got) != 1 || got[0].ID != paid.ID || got[0].Weeks != 1 || len(got[0].Payments) != 1 || got[0].Payments[0].State != "paid" {
		t.Errorf("paid are %+v", got)
	}
	if got := as[page](admin.get("/api/v1/admin/rentals?state=closed")).Rentals; len(got) != 1 || got[0].ID != gone.ID {
		t.Errorf("closed are %+v", got)
	}
	if got := as[page](admin.get("/api/v1/admin/rentals")); len(got.Rentals) != 50 || got.Next == "" {
		t.Errorf("all are %d", len(got.Rentals))
	}
	s.age(11 * time.Minute) // no job has written down that the holds are over
	if got := as[page](admin.get("/api/v1/admin/rentals?state=held")).Rentals; len(got) != 0 {
		t.Errorf("%d are held though their time is over", len(got))
	}
	admin.get("/api/v1/admin/rentals/").wants(http.StatusNotFound)
	admin.get("/api/v1/admin/rentals?state=Held").refuses(http.StatusUnprocessableEntity, "invalid", "state")
	admin.get("/api/v1/admin/rentals?state=held&state=paid").refuses(http.StatusUnprocessableEntity, "invalid", "state")
	admin.get("/api/v1/admin/rentals?next=none").refuses(http.StatusUnprocessableEntity, "invalid", "next")
	admin.get("/api/v1/admin/rentals?next=%00").refuses(http.StatusUnprocessableEntity, "invalid", "next")
	admin.get("/api/v1/admin/rentals?next=%zz").refuses(http.StatusUnprocessableEntity, "invalid", "")
	admin.get("/api/v1/rentals/" + paid.ID).wants(http.StatusOK)
	admin.post("/api/v1/rentals/"+paid.ID+"/checkout", buying(1)).refuses(http.StatusUnauthorized, "unauthorized", "")
}

// An admin's session does what a token does, and is known as an admin.
func TestAnAdminsSession(t *testing.T) {
	s := newStack(t)
	s.adminToken()
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	b := s.browser()
	b.form("/admin/login", "email", adminEmail, "password", adminPassword).wants(http.StatusSeeOther)
	b.get("/api/v1/admin/rentals").wants(http.StatusOK)
	b.get("/api/v1/rentals/" + h.ID).wants(http.StatusOK)
	b.delete("/api/v1/holds/"+h.ID).refuses(http.StatusUnauthorized, "unauthorized", "")
	b.post("/api/v1/admin/blocked", `{"x":9,"y":9,"w":1,"h":1,"note":"n"}`).wants(http.StatusCreated)
	if err := s.admins.Disable(s.ctx(), adminEmail); err != nil {
		t.Fatal(err)
	}
	b.get("/api/v1/admin/rentals").refuses(http.StatusUnauthorized, "unauthorized", "")
}
