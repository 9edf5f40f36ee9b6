package web_test

import (
	"net/http"
	"testing"
	"time"

	"tuval/internal/capacity"
	"tuval/internal/market"
)

// A go-live hour that is full is said at its field, with what else was typed
// kept; the hold is none the worse.
func TestAFullHourIsSaidAtItsField(t *testing.T) {
	s := newStackUnder(t, func(r *market.Rules) { r.Launch = capacity.Limits{ReviewsPerHour: 1} })
	at := time.Now().UTC().Add(72 * time.Hour).Format("2006-01-02T15:00")
	first := s.browser()
	first.checkout(first.hold(1, 1, 2, 2), "go_live_at", at).wants(http.StatusSeeOther)
	b := s.browser()
	path := b.hold(20, 20, 2, 2)
	a := b.checkout(path, "go_live_at", at).wants(http.StatusConflict)
	a.marks("go_live_at").says("That hour is full")
	if a.value("go_live_at") != at {
		t.Errorf("the hour that was typed is lost: %q", a.value("go_live_at"))
	}
	b.checkout(path).wants(http.StatusSeeOther)
}
