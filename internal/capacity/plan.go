package capacity

import (
	"cmp"
	"slices"
	"time"
)

// Entry is an order's place: what it counts, and when it is due.
type Entry struct {
	Due    time.Time
	Blocks int
}

// Change says what becomes of a rental's place. Its rental is locked by the
// caller.
type Change struct {
	Rental int64
	Blocks int
	// Due is the place the rental has from now on; nil: none.
	Due *time.Time
	// At is when the change counts. Places due later are given back; what was
	// due by then was used.
	At time.Time
	// Unless names the due time of a place that, if the rental has it, makes the
	// change void: an approval moves nothing that was entered before.
	Unless *time.Time
	// Limited changes take nothing beyond a limit. The others are entered
	// whatever is used.
	Limited bool
}

// step is what a change does to the entries of its rental.
type step struct {
	gives []Entry
	takes *Entry
}

// plan compares a change with the places that the rental has.
func plan(have []Entry, c Change) (s step) {
	if c.Unless != nil && has(have, *c.Unless) {
		return s
	}
	for _, e := range have {
		if e.Due.After(c.At) && (c.Due == nil || !e.Due.Equal(*c.Due)) {
			s.gives = append(s.gives, e)
		}
	}
	if c.Due != nil && !has(have, *c.Due) {
		s.takes = &Entry{Due: *c.Due, Blocks: c.Blocks}
	}
	return s
}

func has(have []Entry, due time.Time) bool {
	return slices.ContainsFunc(have, func(e Entry) bool { return e.Due.Equal(due) })
}

// delta is what is added to one counter.
type delta struct {
	metric Metric
	bucket time.Time
	n      int64
}

// deltas are what steps come to for each counter, in the one order in which
// counters are ever written. What comes to nothing is not touched.
func deltas(steps []step) []delta {
	type key struct {
		metric Metric
		bucket int64
	}
	sums := map[key]int64{}
	add := func(e Entry, sign int64) {
		for _, m := range hard() {
			sums[key{m, m.Bucket(e.Due).Unix()}] += sign * m.weight(e.Blocks)
		}
	}
	for _, s := range steps {
		for _, e := range s.gives {
			add(e, -1)
		}
		if s.takes != nil {
			add(*s.takes, 1)
		}
	}
	var all []delta
	for k, n := range sums {
		if n != 0 {
			all = append(all, delta{k.metric, time.Unix(k.bucket, 0).UTC(), n})
		}
	}
	slices.SortFunc(all, func(a, b delta) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), a.bucket.Compare(b.bucket))
	})
	return all
}
