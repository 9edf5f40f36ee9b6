package capacity

import "time"

// Planned is a plan for tests.
type Planned struct {
	Gives []Entry
	Takes *Entry
}

// Plan compares a change with the places of its rental.
func Plan(have []Entry, c Change) Planned {
	s := plan(have, c)
	return Planned{s.gives, s.takes}
}

// Delta is what is added to one counter.
type Delta struct {
	Metric Metric
	Bucket time.Time
	N      int64
}

// Deltas are what plans come to.
func Deltas(plans ...Planned) (all []Delta) {
	var steps []step
	for _, p := range plans {
		steps = append(steps, step{p.Gives, p.Takes})
	}
	for _, d := range deltas(steps) {
		all = append(all, Delta{d.metric, d.bucket, d.n})
	}
	return all
}
