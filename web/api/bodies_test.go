package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"tuval/internal/text"
)

// kind is a kind of field, with what is none of it.
type kind struct {
	good any
	// each as JSON, since most of it is nothing that Go would write
	bad []string
}

// noNumbers are no whole numbers, whatever the limits.
var noNumbers = []string{
	`"1"`, `""`, `"١"`, `1.0`, `1.5`, `1e1`, `1E0`, `10e-1`, `true`, `false`, `null`, `{}`, `[]`, `[1]`, `{"x":1}`,
	`99999999999999999999999999`, `-99999999999999999999999999`, `9223372036854775808`, `1e400`, `-1.0`,
}

// noTexts are no texts, or such that nobody can mean.
var noTexts = []string{
	`1`, `true`, `null`, `{}`, `[]`, `["a"]`, `"\u0000"`, `"a\u0000b"`, `"\ud800"`, `"a\udfffb"`, `"\ud800\u0041"`,
}

func number(good any, out ...string) kind { return kind{good, append(out, noNumbers...)} }

func words(good any, out ...string) kind { return kind{good, append(out, noTexts...)} }

func long(n int) string { return `"` + strings.Repeat("a", n) + `"` }

// TestEveryFieldIsJudged sends, to each call that has a body, a good one with
// one field wrong or missing: the refusal names that field.
func TestEveryFieldIsJudged(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 2, 2})
	paid := s.rented(rect{10, 0, 2, 2}, 1)
	s.submitted(paid)
	admin, buyer := s.admin(), s.bearer(h.Token)
	review := as[reviewsAnswer](admin.get("/api/v1/admin/reviews")).Reviews[0]
	creative := "/api/v1/admin/creatives/" + review.CreativeID
	place := map[string]kind{
		"x": number(50, "-1", "100", "-0.0"), "y": number(50, "-1", "100"),
		"w": number(1, "0", "-1", "101", "51"), "h": number(1, "0", "-1", "101", "51"),
	}
	area := maps.Clone(place)
	area["note"] = words("n", `""`, `" "`, `"\u200b"`, long(201))
	instants := []string{`""`, `"now"`, `"2027-01-31"`, `"2027-13-01T00:00:00Z"`, `"2027-02-30T00:00:00Z"`, `"2027-01-31T15:00:00"`, `"2027-01-31T24:00:00Z"`, `"2020-01-01T00:00:00Z"`}
	for _, c := range []struct {
		c        *client
		path     string
		required map[string]kind
		optional map[string]kind
	}{
		{s.stranger(), "/api/v1/holds", place, nil},
		{
			buyer,
			"/api/v1/rentals/" + h.ID + "/checkout",
			map[string]kind{
				"weeks": number(1, "0", "-1", "53"),
				"email": words("a@example.com", `""`, `"a"`, `"a@"`, `"@example.com"`, `"a b@example.com"`, `"a@b@example.com"`, `"a@example"`, `"a@example.com\r\nBcc: b@example.com"`, long(250)+``, `"`+strings.Repeat("a", text.EmailMax)+`@example.com"`),
			},
			map[string]kind{
				"go_live_at":      words(nil, append(instants, `"2099-01-01T00:00:00Z"`)...),
				"expected_amount": number(40_000, "-1"),
			},
		},
		{admin, "/api/v1/admin/blocked", area, map[string]kind{"until": words(nil, instants...)}},
		{
			s.bearer(paid.Token),
			"/api/v1/rentals/" + paid.ID + "/extensions",
			map[string]kind{"weeks": number(1, "0", "-1", "53")},
			map[string]kind{"expected_amount": number(40_000, "-1")},
		},
		{s.bearer(paid.Token), "/api/v1/rentals/" + paid.ID + "/renewals", map[string]kind{"weeks": number(1, "0", "-1", "53")}, nil},
		{
			admin,
			"/api/v1/admin/rentals/" + paid.ID + "/refund",
			map[string]kind{"reason": words("r", `""`, `" \n "`, long(501))},
			map[string]kind{"payment_id": words(nil), "amount": number(1, "0", "-1")},
		},
		{admin, "/api/v1/admin/rentals/" + paid.ID + "/hide", map[string]kind{"reason": words("r", `""`, long(501))}, nil},
		{
			admin,
			"/api/v1/admin/rentals/" + paid.ID + "/close",
			map[string]kind{
				"reason": words("r", `""`, long(501)),
				"refund": {true, []string{`"true"`, `"yes"`, `1`, `0`, `null`, `{}`, `[]`, `""`}},
			},
			nil,
		},
		{admin, creative + "/approve", map[string]kind{"revision": number(9, "0", "-1", "1000001")}, nil},
		{admin, creative + "/reject", map[string]kind{"revision": number(9, "0", "-1", "1000001"), "reason": words("r", `""`, `" \n "`, long(501))}, nil},
	} {
		good := map[string]json.RawMessage{}
		for name, k := range c.required {
			good[name] = must(json.Marshal(k.good))
		}
		refused := func(body map[string]json.RawMessage, name string) {
			t.Helper()
			a := c.c.post(c.path, string(must(json.Marshal(body))))
			if r := a.wants(http.StatusUnprocessableEntity).refusal(); r.Code != "invalid" || r.Field != name || r.Message == "" {
				t.Errorf("%s, %s: %s is refused with %+v", c.path, name, must(json.Marshal(body)), r)
			}
		}
		for name := range c.required {
			without := maps.Clone(good)
			delete(without, name)
			refused(without, name)
		}
		all := maps.Clone(c.required)
		maps.Copy(all, c.optional)
		for name, k := range all {
			for _, bad := range k.bad {
				body := maps.Clone(good)
				body[name] = json.RawMessage(bad)
				refused(body, name)
			}
			// Names are compared letter by letter, and nothing is guessed.
			for _, other := range []string{strings.ToUpper(name), name + " ", "", "é", "__proto__"} {
				body := maps.Clone(good)
				body[other] = json.RawMessage("1")
				refused(body, other)
			}
		}
	}
	if n := s.count(`SELECT count(*) FROM rentals`); n != 2 {
		t.Errorf("%d rentals", n)
	}
}

// The words say what would be right.
func TestTheWordsOfARefusal(t *testing.T) {
	s := newStack(t)
	for body, want := range map[string]string{
		`{"x":0,"y":0,"w":"1","h":1}`:          "w must be a whole number from 1 to 100",
		`{"x":1e1,"y":0,"w":1,"h":1}`:          "x must be a whole number from 0 to 99",
		`{"x":99,"y":0,"w":2,"h":1}`:           "w reaches over the right edge: from x 99 at most 1 blocks fit",
		`{"x":0,"y":0,"w":1,"h":1,"z":1}`:      `There is no field "z" here; known are: x, y, w, h.`,
		`{"col":1,"row":1,"w":1,"h":1}`:        `There is no field "col" here; known are: x, y, w, h.`,
		`{"x":0,"x":0,"y":0,"w":1,"h":1}`:      "x stands there twice; once is right.",
		`{"x":0,"y":0,"w":40,"h":40}`:          "At most 1000 blocks can be held at once; this is 1600.",
		`{"x":0,"\u0078":1,"y":0,"w":1,"h":1}`: "x stands there twice; once is right.",
	} {
		if got := s.stranger().post("/api/v1/holds", body).wants(http.StatusUnprocessableEntity).refusal().Message; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestBodiesThatAreNone(t *testing.T) {
	s := newStack(t)
	good := `{"x":0,"y":0,"w":1,"h":1}`
	for _, body := range []string{
		"", " ", "null", "true", "1", `"x"`, "[]", "[" + good + "]", "{", "}", good[:len(good)-1], good + "}", good + good, good + " x", good + ",",
		`{"x":0,"y":0,"w":1,"h":1,}`, `{"x" 0}`, `{"x":}`, `{x:0}`, `{'x':0}`, `{"x":01,"y":0,"w":1,"h":1}`, `{"x":+1,"y":0,"w":1,"h":1}`,
		`{"x":0x1,"y":0,"w":1,"h":1}`, `{"x":NaN,"y":0,"w":1,"h":1}`, "\ufeff" + good, "// no\n" + good, `{"x":0,"y":0,"w":1,"h":1` + "\x00}",
		`{"` + "\xff" + `":0}`, `{"x":"` + "\xc3\x28" + `"}`, strings.Repeat(`{"x":`, 12_000), strings.Repeat("[", 60_000), "x=0&y=0&w=1&h=1",
	} {
		a := s.stranger().post("/api/v1/holds", body)
		if a.status != http.StatusUnprocessableEntity || a.code() != "invalid" {
			t.Errorf("%.60q: %d %s", body, a.status, a.body)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/json; charset=utf-16", "json", "application/json, text/plain", ";"} {
		a := s.stranger().with("Content-Type", kind).send("POST", "/api/v1/holds", []byte(good))
		a.refuses(http.StatusUnsupportedMediaType, "unsupported", "")
	}
	long := `{"x":0,"y":0,"w":1,"h":1` + strings.Repeat(" ", 64<<10) + "}"
	s.stranger().post("/api/v1/holds", long).refuses(http.StatusRequestEntityTooLarge, "too_large", "")
	s.stranger().with("Content-Type", "application/json").send("POST", "/api/v1/holds", bytes.Repeat([]byte(" "), 8<<20)).
		refuses(http.StatusRequestEntityTooLarge, "too_large", "")
	if n := s.count(`SELECT count(*) FROM rentals`); n != 0 {
		t.Fatalf("%d rentals came of it", n)
	}
	for i, kind := range []string{"application/json", "Application/JSON; Charset=UTF-8"} {
		s.stranger().with("Content-Type", kind).send("POST", "/api/v1/holds", fmt.Appendf(nil, " \n{\"h\":1,\"w\":1,\"y\":0,\"x\":%d}\n", i)).wants(http.StatusCreated)
	}
}

func TestGoLiveTimes(t *testing.T) {
	s := newStack(t)
	h := s.hold(s.stranger(), rect{0, 0, 1, 1})
	for sql, ok := range map[string]bool{
		"date_trunc('hour', now()) + '1 hour'":             true,
		"date_trunc('hour', now()) + '14 days'":            true,
		"date_trunc('hour', now()) + '14 days 1 hour'":     false,
		"date_trunc('hour', now())":                        false,
		"date_trunc('hour', now()) + '2 hours 1 second'":   false,
		"date_trunc('hour', now()) + '2 hours 30 minutes'": false,
	} {
		var at string
		if err := s.pool.QueryRow(s.ctx(), `SELECT to_char(`+sql+`, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		want := buying(1)
		want["go_live_at"] = at
		a := s.checkout(h, want)
		if ok {
			a.wants(http.StatusOK)
			if got := s.look(h).GoLiveAt.Format("2006-01-02T15:04:05Z"); got != at {
				t.Errorf("%s became %s", at, got)
			}
			continue
		}
		a.refuses(http.StatusUnprocessableEntity, "invalid", "go_live_at")
	}
	// Another zone is the same hour.
	want := buying(1)
	want["go_live_at"] = "2026-01-01T00:00:00+05:30"
	s.checkout(h, want).refuses(http.StatusUnprocessableEntity, "invalid", "go_live_at")
}

func TestPricesThatCannotBePaid(t *testing.T) {
	s := newStack(t, func(u *setup) { u.rules.PricePerPixel = 1_000 })
	h := s.hold(s.stranger(), rect{0, 0, 25, 20}) // 500,000.00 a week
	s.checkout(h, buying(2)).refuses(http.StatusUnprocessableEntity, "invalid", "weeks")
	s.checkout(h, buying(1)).wants(http.StatusOK)
	s.stranger().post("/api/v1/holds", rect{0, 50, 50, 20}).refuses(http.StatusUnprocessableEntity, "invalid", "w")
}

func TestPricesThatAreTooSmall(t *testing.T) {
	s := newStack(t, func(u *setup) { u.rules.PricePerPixel, u.rules.Currency.Min = 1, 5_201 })
	s.stranger().post("/api/v1/holds", rect{0, 0, 1, 1}).refuses(http.StatusUnprocessableEntity, "invalid", "w")
}
