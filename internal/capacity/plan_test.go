package capacity_test

import (
	"testing"
	"time"

	"tuval/internal/capacity"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	early, later, latest := at(7, 9, 0), at(7, 12, 0), at(8, 12, 0)
	place := func(due time.Time) capacity.Entry { return capacity.Entry{Due: due, Blocks: 24} }
	for name, c := range map[string]struct {
		have   []capacity.Entry
		change capacity.Change
		gives  []time.Time
		takes  *time.Time
	}{
		"the first choice":                       {nil, capacity.Change{Due: &later}, nil, &later},
		"the same choice":                        {[]capacity.Entry{place(later)}, capacity.Change{Due: &later}, nil, nil},
		"another choice":                         {[]capacity.Entry{place(later)}, capacity.Change{Due: &latest}, []time.Time{later}, &latest},
		"another choice once the first was used": {[]capacity.Entry{place(early)}, capacity.Change{Due: &latest}, nil, &latest},
		"no choice any more":                     {[]capacity.Entry{place(later)}, capacity.Change{}, []time.Time{later}, nil},
		"closed before the time":                 {[]capacity.Entry{place(early), place(later)}, capacity.Change{}, []time.Time{later}, nil},
		"closed at the time":                     {[]capacity.Entry{place(at(7, 10, 0))}, capacity.Change{}, nil, nil},
		"approved later than it was due":         {[]capacity.Entry{place(early)}, capacity.Change{Due: &latest, Unless: &early}, nil, nil},
		"approved without a place":               {nil, capacity.Change{Due: &latest, Unless: &early}, nil, &latest},
	} {
		c.change.At, c.change.Blocks = at(7, 10, 0), 24
		got := capacity.Plan(c.have, c.change)
		if len(got.Gives) != len(c.gives) || (got.Takes == nil) != (c.takes == nil) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, due := range c.gives {
			if !got.Gives[i].Due.Equal(due) || got.Gives[i].Blocks != 24 {
				t.Errorf("%s: gives %+v", name, got.Gives)
			}
		}
		if c.takes != nil && (!got.Takes.Due.Equal(*c.takes) || got.Takes.Blocks != 24) {
			t.Errorf("%s: takes %+v", name, got.Takes)
		}
	}
}

// A change is written as what it comes to: another hour of the same day leaves
// the day alone. Counters are touched in one order.
func TestDeltas(t *testing.T) {
	t.Parallel()
	moved := capacity.Planned{Gives: []capacity.Entry{{Due: at(7, 12, 0), Blocks: 24}}, Takes: &capacity.Entry{Due: at(7, 9, 0), Blocks: 24}}
	fresh := capacity.Planned{Takes: &capacity.Entry{Due: at(6, 9, 0), Blocks: 2}}
	want := []capacity.Delta{
		{Metric: capacity.LaunchPixels, Bucket: at(6, 0, 0), N: 200},
		{Metric: capacity.ReviewImages, Bucket: at(6, 9, 0), N: 1},
		{Metric: capacity.ReviewImages, Bucket: at(7, 9, 0), N: 1},
		{Metric: capacity.ReviewImages, Bucket: at(7, 12, 0), N: -1},
	}
	got := capacity.Deltas(moved, fresh)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, d := range got {
		if d != want[i] {
			t.Errorf("%d: %+v, want %+v", i, d, want[i])
		}
	}
}
