package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"tuval/internal/capacity"
)

type slotAnswer struct {
	At        time.Time `json:"at"`
	Available bool      `json:"available"`
	Limits    []struct {
		Metric string `json:"metric"`
		Used   int64  `json:"used"`
		Limit  int64  `json:"limit"`
		Window string `json:"window"`
	} `json:"limits"`
}

func limited(reviews, pixels, checkouts int64) func(*setup) {
	return func(u *setup) {
		u.rules.Launch = capacity.Limits{ReviewsPerHour: reviews, PixelsPerDay: pixels, CheckoutsPer15M: checkouts, HeldBlocks: 3_000}
	}
}

func (s *stack) slots(query string) []slotAnswer {
	s.t.Helper()
	return as[struct{ Slots []slotAnswer }](s.stranger().get("/api/v1/slots?" + query).wants(http.StatusOK)).Slots
}

// at is a go-live hour so many days ahead.
func (s *stack) at(days int) time.Time {
	s.t.Helper()
	var now time.Time
	if err := s.pool.QueryRow(s.ctx(), `SELECT now()`).Scan(&now); err != nil {
		s.t.Fatal(err)
	}
	return now.UTC().Truncate(24 * time.Hour).Add(time.Duration(days)*24*time.Hour + 10*time.Hour)
}

func buyingAt(at time.Time) map[string]any {
	b := buying(1)
	b["go_live_at"] = at.Format(time.RFC3339)
	return b
}

// Which hours a cart could go live at, and what stands in the way, before and
// after others have chosen.
func TestSlots(t *testing.T) {
	s := newStack(t, limited(1, 3_000, 100))
	if n := len(s.slots("blocks=24")); n < 335 || n > 336 {
		t.Errorf("%d hours in two weeks", n)
	}
	at := s.at(2)
	span := func(blocks int) []slotAnswer {
		return s.slots(fmt.Sprintf("blocks=%d&from=%s&to=%s", blocks, at.Format(time.RFC3339), url.QueryEscape(at.Add(time.Hour).In(time.FixedZone("", 3600)).Format(time.RFC3339))))
	}
	if got := span(24); len(got) != 2 || !got[0].At.Equal(at) || !got[0].Available || !got[1].Available {
		t.Fatalf("%+v", got)
	}
	h := s.hold(s.stranger(), rect{1, 1, 6, 4})
	s.checkout(h, buyingAt(at)).wants(http.StatusOK)

	got := span(7)
	if got[0].Available || got[1].Available {
		t.Errorf("the hour is full and the day too small: %+v", got)
	}
	got = span(6)
	if got[0].Available || !got[1].Available {
		t.Errorf("another hour has room for a small one: %+v", got)
	}
	for _, l := range got[0].Limits {
		want := map[string]string{"launch.pixels": "2400 of 3000 in 1d", "review.images": "1 of 1 in 1h"}[l.Metric]
		if is := fmt.Sprintf("%d of %d in %s", l.Used, l.Limit, l.Window); is != want {
			t.Errorf("%s: %s, want %s", l.Metric, is, want)
		}
	}

	// What the answer said is what the checkout does.
	late := s.hold(s.stranger(), rect{20, 1, 3, 2})
	a := s.checkout(late, buyingAt(at))
	a.refuses(http.StatusConflict, "full", "go_live_at")
	details := as[struct {
		Error struct {
			Details struct {
				Metric string
				Used   int
				Limit  int
				At     time.Time
			}
		}
	}](a).Error.Details
	if details.Metric != "review.images" || details.Used != 1 || details.Limit != 1 || !details.At.Equal(at) {
		t.Errorf("%+v", details)
	}
	s.checkout(late, buyingAt(at.Add(time.Hour))).wants(http.StatusOK)
	s.bearer(h.Token).delete("/api/v1/holds/" + h.ID).wants(http.StatusNoContent)
	if got := span(24); !got[0].Available || got[1].Available {
		t.Errorf("the hour was given back: %+v", got)
	}
}

func TestSlotsForImpossibleCarts(t *testing.T) {
	s := newStack(t, limited(60, 200_000, 300))
	soon, past, far := s.at(2).Format(time.RFC3339), s.at(-2).Format(time.RFC3339), s.at(20).Format(time.RFC3339)
	for query, field := range map[string]string{
		"": "blocks", "blocks=": "blocks", "blocks=0": "blocks", "blocks=-1": "blocks", "blocks=1001": "blocks", "blocks=1.0": "blocks",
		"blocks=%2B1": "blocks", "blocks=01": "blocks", "blocks=9999999999999999999999": "blocks", "blocks=1&blocks=2": "blocks", "blocks=x": "blocks",
		"blocks=1&from=tomorrow": "from", "blocks=1&to=2027-01-31": "to", "blocks=1&from=" + far: "from", "blocks=1&to=" + past: "to",
		"blocks=1&from=" + far + "&to=" + soon: "to", "blocks=1&from=9999-12-31T23:59:59-05:00": "from", "blocks=1&from=0001-01-01T00:00:00Z": "from",
	} {
		s.stranger().get("/api/v1/slots?"+query).refuses(http.StatusUnprocessableEntity, "invalid", field)
	}
	if n := len(s.slots("blocks=1000&from=" + past + "&to=" + far)); n < 335 {
		t.Errorf("what can be chosen of a longer span: %d", n)
	}
}

type capacityAnswer struct {
	Metrics []struct {
		Metric  string
		Hard    bool
		Limit   int64
		Used    int64
		Over    bool
		Windows []struct {
			At   time.Time
			Used int64
			Over bool
		}
	}
}

// Limits below what is used are shown as over; nothing is cancelled.
func TestCapacityForAdmins(t *testing.T) {
	s := newStack(t, limited(1, 1_000, 100))
	s.stranger().get("/api/v1/admin/capacity").refuses(http.StatusUnauthorized, "unauthorized", "")
	for i := range 2 { // no time chosen: not bound, and counted at the approval
		s.live(rect{20 * i, 1, 6, 4}, 1)
	}
	h := s.hold(s.stranger(), rect{80, 80, 3, 2})
	at := s.at(3)
	s.checkout(h, buyingAt(at)).wants(http.StatusOK)
	got := as[capacityAnswer](s.admin().get("/api/v1/admin/capacity").wants(http.StatusOK))
	seen := map[string]string{}
	for _, m := range got.Metrics {
		last := ""
		if n := len(m.Windows); n > 1 && m.Windows[n-1].At.After(at.Add(-24*time.Hour)) {
			last = fmt.Sprintf(", then %d %t", m.Windows[n-1].Used, m.Windows[n-1].Over)
		}
		seen[m.Metric] = fmt.Sprintf("%d/%d %t %t%s", m.Used, m.Limit, m.Hard, m.Over, last)
	}
	for metric, want := range map[string]string{
		"review.images": "2/1 true true, then 1 false", "launch.pixels": "4800/1000 true true, then 600 false",
		"checkout.starts": "3/100 false false", "hold.blocks": "6/3000 false false",
	} {
		if seen[metric] != want {
			t.Errorf("%s: %s, want %s", metric, seen[metric], want)
		}
	}
}

func TestVeryManyCheckouts(t *testing.T) {
	s := newStack(t, limited(0, 0, 1))
	if got := s.slots("blocks=1000")[0]; !got.Available || len(got.Limits) != 0 {
		t.Errorf("without limits: %+v", got)
	}
	// One in the next quarter of an hour, too: which of the two it is does not matter.
	s.count(`WITH e AS (INSERT INTO ledger (kind, effective_at, recorded_at, currency, actor)
		SELECT 'checkout.begun', now(), now() + q * interval '15 min', 'usd', 'buyer' FROM generate_series(0, 1) AS q RETURNING 1) SELECT count(*) FROM e`)
	a := s.checkout(s.hold(s.stranger(), rect{1, 1, 2, 2}), buying(1))
	a.refuses(http.StatusTooManyRequests, "limit", "")
	if a.header.Get("Retry-After") == "" {
		t.Error("no word about when to come back")
	}
}
