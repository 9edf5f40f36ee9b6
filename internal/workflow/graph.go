package workflow

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Of draws the graph of a rental from what is known of it.
func Of(f Facts) Graph {
	d := &drawing{Facts: sorted(f), of: map[payment.ID]string{}}
	d.g = Graph{Rental: f.Rental, Now: f.Now, Weeks: d.weeks()}
	d.hold()
	d.pay()
	d.receipt()
	d.pictures()
	d.goLive()
	d.rounds()
	d.reminders()
	d.release()
	d.refunds()
	d.tries()
	d.inOrder()
	return d.g
}

// drawing is a graph in the making. main is the last step of the main way so
// far, of the step that stands for a payment.
type drawing struct {
	Facts
	g    Graph
	main string
	of   map[payment.ID]string
}

func sorted(f Facts) Facts {
	f.Payments = slices.SortedFunc(slices.Values(f.Payments), func(a, b payment.Payment) int { return cmp.Compare(a.ID, b.ID) })
	f.Refunds = slices.SortedFunc(slices.Values(f.Refunds), func(a, b payment.Refund) int { return cmp.Compare(a.ID, b.ID) })
	f.Jobs = slices.SortedStableFunc(slices.Values(f.Jobs), func(a, b Job) int { return a.At.Compare(b.At) })
	return f
}

// add puts a step into the graph after the given ones.
func (d *drawing) add(s Step, after ...string) string {
	s.N = 1
	for _, other := range d.g.Steps {
		if other.Kind == s.Kind {
			s.N++
		}
	}
	s.ID = string(s.Kind)
	if s.N > 1 {
		s.ID += " " + strconv.Itoa(s.N)
	}
	d.g.Steps = append(d.g.Steps, s)
	for _, from := range after {
		d.link(from, s.ID, false)
	}
	return s.ID
}

// next adds a step to the main way.
func (d *drawing) next(s Step) {
	if d.main == "" {
		d.main = d.add(s)
		return
	}
	d.main = d.add(s, d.main)
}

func (d *drawing) link(from, to string, back bool) {
	d.g.Edges = append(d.g.Edges, Edge{From: from, To: to, Back: back})
}

func (d *drawing) step(id string) *Step {
	for i := range d.g.Steps {
		if d.g.Steps[i].ID == id {
			return &d.g.Steps[i]
		}
	}
	return nil
}

// closed reports whether the rental is over.
func (d *drawing) closed() bool { return d.Rental.State == rental.Closed }

// waits is the state of a step whose turn has not come: it may, unless the
// rental is over.
func (d *drawing) waits() State {
	if d.closed() {
		return Skipped
	}
	return Waiting
}

// reached reports whether an instant came while the rental was not over.
func (d *drawing) reached(at *time.Time) bool {
	if at == nil || at.After(d.Now) {
		return false
	}
	return d.Rental.ClosedAt == nil || !at.After(*d.Rental.ClosedAt)
}

func (d *drawing) closedFor(reasons ...rental.Reason) bool {
	return d.closed() && d.Rental.ClosedReason != nil && slices.Contains(reasons, *d.Rental.ClosedReason)
}

// weeks are those that were bought and have not gone back.
func (d *drawing) weeks() int {
	weeks := 0
	for _, p := range d.Payments {
		if p.Counts() {
			weeks += p.Weeks
		}
	}
	return weeks
}

// inOrder puts each step behind all that it follows; what stands beside the
// main way comes as early as it can.
func (d *drawing) inOrder() {
	left, placed := slices.Clone(d.g.Steps), map[string]bool{}
	d.g.Steps = nil
	for len(left) > 0 {
		i := d.readiest(left, placed)
		d.g.Steps = append(d.g.Steps, left[i])
		placed[left[i].ID] = true
		left = slices.Delete(left, i, i+1)
	}
}

// readiest is the next step of those left. There always is one that is ready:
// no edge leads to a step that was added earlier, but for those that lead from
// the side to an end.
func (d *drawing) readiest(left []Step, placed map[string]bool) int {
	first := -1
	for i, s := range left {
		if slices.ContainsFunc(d.g.After(s.ID), func(from string) bool { return !placed[from] }) {
			continue
		}
		if s.Branch {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return max(first, 0)
}
