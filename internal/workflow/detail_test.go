package workflow_test

import (
	"slices"
	"testing"
	"time"

	"tuval/internal/creative"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/workflow"
)

func step(t *testing.T, g workflow.Graph, id string) workflow.Step {
	t.Helper()
	s, ok := g.Step(id)
	if !ok {
		t.Fatalf("no %s in %s", id, list(g))
	}
	return s
}

// Dates are the rental's own. What was only wished for is not fixed.
func TestDatesOfSteps(t *testing.T) {
	wished := held().paid()
	wished.Rental.GoLiveAt = at(9 * day)
	for name, c := range map[string]struct {
		of    *life
		step  string
		at    *time.Time
		due   *time.Time
		fixed bool
	}{
		"hold":               {held(), "hold", at(0), at(10 * time.Minute), true},
		"payment page":       {held().paying(payment.Open), "pay", nil, at(36 * time.Minute), true},
		"bank":               {held().paying(payment.Processing), "pay", nil, at(46 * time.Minute), true},
		"paid":               {held().paid(), "pay", at(2 * time.Minute), nil, true},
		"receipt":            {held().paid(), "receipt", at(3 * time.Minute), nil, false},
		"picture needed":     {held().paid(), "image", nil, at(30 * day), true},
		"review":             {held().paid().picture(creative.Pending, day), "review", nil, at(30 * day), true},
		"no date for it yet": {held().paid(), "go live", nil, nil, false},
		"wished start":       {wished, "go live", nil, at(9 * day), false},
		"end of the wish":    {wished, "end", nil, at(9*day + 28*day), false},
		"live":               {held().live(), "go live", at(day), nil, false},
		"end":                {held().live(), "end", nil, at(29 * day), true},
		"lease":              {held().live(), "release", nil, at(31 * day), true},
		"reserved":           {held().live().ended(29 * day), "renew", nil, at(31 * day), true},
		"over":               {held().live().ended(29 * day), "end", at(29 * day), nil, true},
		"released":           {held().closed(rental.Expired, time.Hour), "release", at(time.Hour), nil, true},
	} {
		s := step(t, workflow.Of(c.of.Facts), c.step)
		if !same(s.At, c.at) || !same(s.Due, c.due) || s.Due != nil && s.Fixed != c.fixed {
			t.Errorf("%s: at %v, due %v, fixed %v; want %v, %v, %v", name, s.At, s.Due, s.Fixed, c.at, c.due, c.fixed)
		}
	}
}

func same(a, b *time.Time) bool { return a == nil && b == nil || a != nil && b != nil && a.Equal(*b) }

// Each step says what it follows; compensations are marked.
func TestEdges(t *testing.T) {
	early := held().live().unwound(1).closed(rental.Removed, 2*day).refund(1, 1, payment.RefundSucceeded)
	twice := held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).payment(3, payment.Extend, 1, payment.Paid, 4*day)
	for name, c := range map[string]struct {
		of    *life
		step  string
		after []string
	}{
		"receipt and picture":          {held().paid(), "image", []string{"pay"}},
		"receipt":                      {held().paid(), "receipt", []string{"pay"}},
		"end after both":               {twice, "end", []string{"go live", "extend", "extend 2"}},
		"renew or release":             {held().live(), "renew", []string{"end"}},
		"release":                      {held().live(), "release", []string{"end"}},
		"removed: from the last thing": {early, "release", []string{"end", "go live"}},
		"refund: from its payment":     {early, "refund", []string{"pay"}},
	} {
		if got := workflow.Of(c.of.Facts).After(c.step); !slices.Equal(got, c.after) {
			t.Errorf("%s: %v, want %v", name, got, c.after)
		}
	}
	for _, e := range workflow.Of(early.Facts).Edges {
		back := e.To == "refund" || e.To == "release" && e.From == "go live"
		if e.Back != back {
			t.Errorf("%s -> %s: back %v", e.From, e.To, e.Back)
		}
	}
}

// A job that fails shows at its step, the one that needs a look most; one
// whose work somebody else did does not.
func TestTries(t *testing.T) {
	retry := workflow.Job{Kind: "make_refund", State: "retryable", At: *at(31 * day), Attempt: 3, MaxAttempts: 14, LastError: "timeout", Refund: 1, Payment: 1}
	refunding := func() *life {
		return held().paid().unwound(1).closed(rental.Unapproved, 30*day).refund(1, 1, payment.RefundPending)
	}
	s := step(t, workflow.Of(refunding().job(retry).Facts), "refund")
	if s.State != workflow.Now || s.Tries == nil || s.Tries.Attempt != 3 || s.Tries.Max != 14 || s.Tries.Error != "timeout" || s.Tries.Dead || !same(s.Tries.Next, at(31*day)) {
		t.Errorf("retried: %s %+v", s.State, s.Tries)
	}
	given := retry
	given.State = "discarded"
	for _, both := range []*life{refunding().job(given).job(retry), refunding().job(retry).job(given)} {
		if s := step(t, workflow.Of(both.Facts), "refund"); s.State != workflow.Failed || s.Tries == nil || !s.Tries.Dead || s.Tries.Next != nil {
			t.Errorf("given up: %s %+v", s.State, s.Tries)
		}
	}
	if s := step(t, workflow.Of(held().live().job(dead("settle", "goes live")).Facts), "go live"); s.State != workflow.Done || s.Tries != nil {
		t.Errorf("done all the same: %s %+v", s.State, s.Tries)
	}
	if s := step(t, workflow.Of(held().live().job(dead("settle", "ends")).Facts), "end"); s.State != workflow.Failed {
		t.Errorf("nobody ends it: %s", s.State)
	}
	if s := step(t, workflow.Of(held().live().job(dead("send_mail", "approved")).Facts), "review"); s.State != workflow.Done || s.Tries == nil || !s.Tries.Dead {
		t.Errorf("approved, and the mail did not go: %s %+v", s.State, s.Tries)
	}
	told := held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).job(dead("send_mail", "extended"))
	if s := step(t, workflow.Of(told.Facts), "extend"); s.Tries == nil {
		t.Error("the extension's mail did not go, and nothing says so")
	}
	waits := workflow.Job{Kind: "settle", Why: "ends", State: "scheduled", At: *at(29 * day), MaxAttempts: 12}
	if s := step(t, workflow.Of(held().live().job(waits).Facts), "end"); s.Tries != nil {
		t.Errorf("a job that only waits: %+v", s.Tries)
	}
}

func TestWeeksAreThoseThatCount(t *testing.T) {
	l := held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day).payment(3, payment.Extend, 1, payment.Paid, 4*day).unwound(3)
	if g := workflow.Of(l.Facts); g.Weeks != 6 {
		t.Errorf("%d weeks, want 6", g.Weeks)
	}
}

// The facts are read, not changed, whatever order they come in.
func TestFactsStay(t *testing.T) {
	l := held().live().payment(2, payment.Extend, 2, payment.Paid, 3*day)
	slices.Reverse(l.Payments)
	workflow.Of(l.Facts)
	if l.Payments[0].ID != 2 {
		t.Error("the caller's payments were sorted")
	}
}
