package capacity

import (
	"math"
	"slices"
	"time"
)

// Event is one fact that counts in a metric: N at its due time. What is given
// back is an event with the same due time and -N.
type Event struct {
	Metric Metric
	Due    time.Time
	N      int64
}

// Model is what the events come to, per metric and window. It is not safe for
// use by several at once. The zero value is not usable; see NewModel.
type Model struct {
	sums map[Metric]map[int64]int64 // by the bucket's beginning, in seconds
}

// NewModel makes a model that has seen no events.
func NewModel() *Model {
	return &Model{sums: map[Metric]map[int64]int64{ReviewImages: {}, LaunchPixels: {}, CheckoutStarts: {}}}
}

// Feed counts an event, in any order. Windows whose events neutralise each
// other take no room.
func (m *Model) Feed(e Event) {
	sums := m.sums[e.Metric]
	if sums == nil {
		return
	}
	at := e.Metric.Bucket(e.Due).Unix()
	if sums[at] += e.N; sums[at] == 0 {
		delete(sums, at)
	}
}

// Order counts an order of so many blocks in the hard metrics, n times; a
// negative n gives it back.
func (m *Model) Order(due time.Time, n, blocks int64) {
	for _, metric := range hard() {
		e := Event{Metric: metric, Due: due, N: n}
		if metric == LaunchPixels {
			e.N = n * blocks * LaunchPixels.weight(1)
		}
		m.Feed(e)
	}
}

// Used is what is used of a metric in the window that an instant is in.
func (m *Model) Used(metric Metric, at time.Time) int64 {
	if metric.Window() == 0 {
		return 0
	}
	return m.sums[metric][metric.Bucket(at).Unix()]
}

// Forget drops the windows that ended before an instant.
func (m *Model) Forget(before time.Time) {
	for metric, sums := range m.sums {
		oldest := metric.Bucket(before).Unix()
		for at := range sums {
			if at < oldest {
				delete(sums, at)
			}
		}
	}
}

// Buckets is how many windows have something in them.
func (m *Model) Buckets() int {
	n := 0
	for _, sums := range m.sums {
		n += len(sums)
	}
	return n
}

// Slot is a go-live hour: how its limits stand, and whether a cart fits.
type Slot struct {
	At        time.Time
	Available bool
	Limits    []Use
}

// Slots answers for a cart of so many blocks at which hours, from one instant
// to another, both included, it could go live.
func (m *Model) Slots(limits Limits, blocks int, from, to time.Time) []Slot {
	first := from.UTC().Truncate(time.Hour)
	if first.Before(from) {
		first = first.Add(time.Hour)
	}
	if to.Before(first) {
		return nil
	}
	n := int(to.Sub(first)/time.Hour) + 1
	windows := m.windows(limits, blocks)
	slots, uses := make([]Slot, n), make([]Use, 0, n*len(windows))
	for i := range slots {
		at := first.Add(time.Duration(i) * time.Hour)
		ok, begun := true, len(uses)
		for w := range windows {
			u, fits := windows[w].at(at.Unix())
			uses, ok = append(uses, u), ok && fits
		}
		slots[i] = Slot{At: at, Available: ok, Limits: uses[begun:len(uses):len(uses)]}
	}
	return slots
}

// window reads the sums of one metric in the order of time. It remembers the
// last, since a day is asked for once an hour.
type window struct {
	sums   map[int64]int64
	length int64 // seconds
	more   int64 // what the cart counts
	last   int64
	use    Use
}

func (m *Model) windows(limits Limits, blocks int) (all []window) {
	for _, metric := range hard() {
		if limit := limits.Of(metric); limit != 0 {
			all = append(all, window{
				sums: m.sums[metric], length: int64(metric.Window() / time.Second), more: metric.weight(blocks),
				last: math.MinInt64, use: Use{Metric: metric, Limit: limit},
			})
		}
	}
	return all
}

func (w *window) at(second int64) (Use, bool) {
	if bucket := second - second%w.length; bucket != w.last {
		w.last, w.use.Used = bucket, w.sums[bucket]
	}
	return w.use, w.use.Fits(w.more)
}

// Usage is how a metric stands: the window that runs, and those to come that
// have something in them.
type Usage struct {
	Metric  Metric
	Limit   int64 // 0: none
	Used    int64 // now
	Windows []Window
}

// Window is one window of a metric.
type Window struct {
	At   time.Time // when it begins
	Used int64
}

// Usage tells how the metrics with windows stand, the earliest window first.
func (m *Model) Usage(limits Limits, now time.Time) []Usage {
	var all []Usage
	for _, metric := range [...]Metric{ReviewImages, LaunchPixels, CheckoutStarts} {
		running := metric.Bucket(now)
		u := Usage{Metric: metric, Limit: limits.Of(metric), Used: m.Used(metric, now), Windows: []Window{{running, m.Used(metric, now)}}}
		for at, used := range m.sums[metric] {
			if begins := time.Unix(at, 0).UTC(); begins.After(running) {
				u.Windows = append(u.Windows, Window{begins, used})
			}
		}
		slices.SortFunc(u.Windows, func(a, b Window) int { return a.At.Compare(b.At) })
		all = append(all, u)
	}
	return all
}
