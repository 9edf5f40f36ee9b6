package reply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tuval/internal/fault"
	"tuval/internal/money"
	"tuval/views"
	"tuval/web/reply"
)

func request(htmx bool) *http.Request {
	r := httptest.NewRequest("POST", "/holds", nil)
	ctx, _ := reply.Begin(r.Context(), "req-1")
	if htmx {
		r.Header.Set("HX-Request", "true")
	}
	return r.WithContext(ctx)
}

func page() views.Page { return views.Page{Asset: func(s string) string { return "/assets/" + s }} }

func TestEveryKindHasItsStatus(t *testing.T) {
	want := map[fault.Kind]int{
		fault.Internal: 500, fault.Invalid: 422, fault.NotFound: 404, fault.Conflict: 409, fault.Gone: 410,
		fault.Forbidden: 403, fault.Unauthenticated: 401, fault.Limited: 429, fault.Unavailable: 503,
		fault.TooLarge: 413, fault.Unsupported: 415, fault.MethodNotAllowed: 405, fault.Malformed: 400,
	}
	for k := fault.Internal; k <= fault.Malformed; k++ {
		if got := reply.Status(k); got != want[k] {
			t.Errorf("kind %d: %d, want %d", k, got, want[k])
		}
	}
}

func TestFaultSaysTheErrorAsDocumented(t *testing.T) {
	err := fmt.Errorf("hold: %w", fault.New(fault.Conflict, "The price is 1.").With("amount", money.Money{Amount: 100, Currency: "usd"}))
	w, r := httptest.NewRecorder(), request(false)
	reply.Fault(w, r, err)
	const want = `{"error":{"code":"conflict","message":"The price is 1.","details":{"amount":{"amount":100,"currency":"usd"}}}}`
	if got := strings.TrimSpace(w.Body.String()); got != want || w.Code != 409 {
		t.Errorf("answered %d %s", w.Code, got)
	}
	if !errors.Is(reply.FactsOf(r.Context()).Err, err) {
		t.Error("the log does not hear of it")
	}
	w = httptest.NewRecorder()
	reply.Fault(w, request(false), fault.Field("w", "At most 1000."))
	if got := w.Body.String(); !strings.Contains(got, `"field":"w"`) || strings.Contains(got, "details") || w.Code != 422 {
		t.Errorf("answered %d %s", w.Code, got)
	}
}

func TestUnexpectedErrorsStayInTheLog(t *testing.T) {
	secret := errors.New(`pq: relation "rentals" does not exist`)
	for _, htmx := range []bool{false, true} {
		w := httptest.NewRecorder()
		reply.Page(w, request(htmx), page(), views.FaultView{}, secret)
		body := w.Body.String()
		if w.Code != 500 || strings.Contains(body, "rentals") || !strings.Contains(body, "req-1") {
			t.Errorf("htmx %v: answered %d %s", htmx, w.Code, body)
		}
		if whole := strings.Contains(body, "<html"); whole == htmx {
			t.Errorf("htmx %v: a whole page: %v", htmx, whole)
		}
	}
	w := httptest.NewRecorder()
	reply.Fault(w, request(false), secret)
	if strings.Contains(w.Body.String(), "rentals") || !strings.Contains(w.Body.String(), `"internal"`) {
		t.Errorf("answered %s", w.Body)
	}
}

func TestRefusalsSayWhenToComeBack(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		after  string
	}{
		{fault.Limit("Slowly.", 1500*time.Millisecond), 429, "2"},
		{fault.Away("Busy.", 0), 503, "1"},
		{fault.New(fault.Unavailable, "Busy."), 503, "1"},
		{context.DeadlineExceeded, 503, "1"},
		{fault.New(fault.Gone, "Over."), 410, ""},
		{&http.MaxBytesError{Limit: 64 << 10}, 413, ""},
	} {
		w := httptest.NewRecorder()
		reply.Fault(w, request(false), c.err)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.after {
			t.Errorf("%v: %d, Retry-After %q", c.err, w.Code, w.Header().Get("Retry-After"))
		}
	}
	for d, want := range map[time.Duration]string{0: "", time.Second: "in a second", 40 * time.Second: "in 40 seconds", 11*time.Minute + 1: "in 12 minutes", 3 * time.Hour: "in 3 hours"} {
		if got := reply.In(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestJSONThatCannotBeSaidIsAnError(t *testing.T) {
	w := httptest.NewRecorder()
	reply.JSON(w, request(false), 200, func() {})
	if w.Code != 500 || !json.Valid(w.Body.Bytes()) {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	reply.Fault(w, request(false), fault.New(fault.Conflict, "Taken.").With("bad", func() {}))
	if w.Code != 409 || !strings.Contains(w.Body.String(), "Taken.") {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

func TestFoundLeadsBrowsersAndScripts(t *testing.T) {
	w := httptest.NewRecorder()
	reply.Found(w, request(false), "https://pay.example/x")
	if w.Code != 303 || w.Header().Get("Location") != "https://pay.example/x" {
		t.Errorf("plain: %d %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	reply.Found(w, request(true), "https://pay.example/x")
	if w.Code != 200 || w.Header().Get("HX-Redirect") != "https://pay.example/x" || w.Header().Get("Location") != "" {
		t.Errorf("htmx: %d %v", w.Code, w.Header())
	}
}
