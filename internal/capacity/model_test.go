package capacity_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tuval/internal/capacity"
)

var usual = capacity.Limits{ReviewsPerHour: 60, PixelsPerDay: 200_000, CheckoutsPer15M: 300}

func at(day, hour, minute int) time.Time {
	return time.Date(2027, 3, day, hour, minute, 0, 0, time.UTC)
}

func TestWindowsBeginAtWholeMultiplesInUTC(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("far", 5*3600+1800)
	for metric, want := range map[capacity.Metric]time.Time{
		capacity.ReviewImages: at(7, 23, 0), capacity.LaunchPixels: at(7, 0, 0), capacity.CheckoutStarts: at(7, 23, 45),
	} {
		if got := metric.Bucket(at(7, 23, 59).In(zone)); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", metric, got, want)
		}
	}
}

func TestWhatBindsAnHour(t *testing.T) {
	t.Parallel()
	m := capacity.NewModel()
	m.Order(at(7, 10, 0), 60, 1)    // an hour full of small ones
	m.Order(at(8, 10, 0), 1, 1_999) // a day that has 100 pixels left
	m.Order(at(8, 11, 0), 1, 3_000) // entered at an approval, beyond the limit
	m.Order(at(8, 11, 0), -1, 3_000)
	m.Order(at(9, 0, 0), 1, 4_000)
	slots := m.Slots(usual, 2, at(7, 9, 1), at(9, 1, 0))
	if n := len(slots); n != 40 || !slots[0].At.Equal(at(7, 10, 0)) || !slots[39].At.Equal(at(9, 1, 0)) {
		t.Fatalf("%d slots from %v", n, slots[0].At)
	}
	for _, c := range []struct {
		when   time.Time
		blocks int
		ok     bool
		binds  capacity.Metric
	}{
		{at(7, 10, 0), 1, false, capacity.ReviewImages},
		{at(7, 11, 0), 1, true, ""},
		{at(8, 10, 0), 1, true, ""}, // a rect too large for the rest blocks no small one
		{at(8, 23, 0), 2, false, capacity.LaunchPixels},
		{at(9, 1, 0), 1, false, capacity.LaunchPixels},
		{at(10, 0, 0), 2_000, true, ""},
		{at(10, 0, 0), 2_001, false, capacity.LaunchPixels},
	} {
		s := m.Slots(usual, c.blocks, c.when, c.when)[0]
		binds := capacity.Metric("")
		for _, u := range s.Limits {
			more := int64(1)
			if u.Metric == capacity.LaunchPixels {
				more = int64(c.blocks) * 100
			}
			if !u.Fits(more) {
				binds = u.Metric
			}
		}
		if s.Available != c.ok || binds != c.binds || len(s.Limits) != 2 {
			t.Errorf("%d blocks at %v: %+v", c.blocks, c.when, s)
		}
	}
	if over := m.Slots(usual, 1, at(9, 0, 0), at(9, 0, 0))[0].Limits[0]; !over.Over() || over.Used != 400_000 {
		t.Errorf("%+v", over)
	}
	if s := m.Slots(capacity.Limits{}, 9_999, at(9, 0, 0), at(9, 0, 0))[0]; !s.Available || len(s.Limits) != 0 {
		t.Errorf("without limits: %+v", s)
	}
	if s := m.Slots(usual, 1, at(9, 0, 1), at(9, 0, 59)); len(s) != 0 {
		t.Errorf("no hour is in it: %v", s)
	}
}

func TestForgetKeepsTheWindowsThatRun(t *testing.T) {
	t.Parallel()
	m := capacity.NewModel()
	m.Order(at(6, 23, 0), 1, 1)
	m.Order(at(7, 9, 0), 1, 1)
	m.Order(at(7, 11, 0), 1, 1)
	m.Forget(at(7, 11, 30))
	if n := m.Buckets(); n != 2 || m.Used(capacity.LaunchPixels, at(7, 0, 0)) != 200 || m.Used(capacity.ReviewImages, at(7, 11, 0)) != 1 {
		t.Errorf("%d windows, %d pixels", n, m.Used(capacity.LaunchPixels, at(7, 0, 0)))
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	m := capacity.NewModel()
	m.Order(at(7, 12, 0), 1, 3)
	m.Order(at(7, 11, 0), 2, 3)
	m.Order(at(7, 8, 0), 1, 1) // over
	m.Feed(capacity.Event{Metric: capacity.CheckoutStarts, Due: at(7, 10, 31), N: 5})
	all := m.Usage(usual, at(7, 10, 44))
	for i, want := range []struct {
		metric      capacity.Metric
		used, limit int64
		windows     int
		last        time.Time
	}{
		{capacity.ReviewImages, 0, 60, 3, at(7, 12, 0)},
		{capacity.LaunchPixels, 1_000, 200_000, 1, at(7, 0, 0)},
		{capacity.CheckoutStarts, 5, 300, 1, at(7, 10, 30)},
	} {
		u := all[i]
		if u.Metric != want.metric || u.Used != want.used || u.Limit != want.limit || len(u.Windows) != want.windows || !u.Windows[len(u.Windows)-1].At.Equal(want.last) {
			t.Errorf("%+v, want %+v", u, want)
		}
	}
}

// Whatever comes in whatever order: each window is the plain sum of its
// events, and what is given back leaves nothing behind.
func TestSumsAreTheEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := capacity.NewModel()
		images, pixels := map[time.Time]int64{}, map[time.Time]int64{}
		type order struct {
			due    time.Time
			blocks int64
		}
		var orders []order
		for i := range rapid.IntRange(0, 40).Draw(t, "orders") {
			o := order{at(1, rapid.IntRange(0, 60).Draw(t, fmt.Sprint("hour ", i)), 0), rapid.Int64Range(1, 1000).Draw(t, "blocks")}
			orders = append(orders, o)
			m.Order(o.due, 1, o.blocks)
			images[o.due]++
			pixels[o.due.Truncate(24*time.Hour)] += o.blocks * 100
		}
		for due, n := range images {
			if m.Used(capacity.ReviewImages, due.Add(59*time.Minute)) != n {
				t.Fatalf("%v: %d images", due, n)
			}
		}
		for day, n := range pixels {
			if m.Used(capacity.LaunchPixels, day.Add(23*time.Hour)) != n {
				t.Fatalf("%v: %d pixels", day, n)
			}
		}
		slices.Reverse(orders)
		for _, o := range orders {
			m.Order(o.due, -1, o.blocks)
		}
		if m.Buckets() != 0 {
			t.Fatalf("%d windows are left", m.Buckets())
		}
	})
}

// The promise is under 50 microseconds for any cart over 14 days of hours.
func BenchmarkSlots(b *testing.B) {
	m := capacity.NewModel()
	for hour := range 15 * 24 {
		m.Order(at(1, hour, 0), int64(hour%70), 3)
	}
	from, to := at(1, 0, 1), at(15, 0, 1)
	for b.Loop() {
		if len(m.Slots(usual, 40, from, to)) != 336 {
			b.Fatal("not 14 days")
		}
	}
}

// Events one by one, as they stand in the ledger.
func BenchmarkFeedMillion(b *testing.B) {
	for b.Loop() {
		m := capacity.NewModel()
		for i := range 500_000 { // an order is an event in two metrics
			m.Order(at(1, i%360, 0), 1, int64(1+i%1000))
		}
	}
}
