package workflow

import (
	"time"

	"tuval/internal/rental"
)

// tries shows at each step how its jobs fare.
func (d *drawing) tries() {
	for _, s := range d.g.Steps {
		d.worst(s.ID, func(j Job) bool { return j.Refund == 0 && d.stepOf(j) == s.ID })
	}
}

// worst gives a step the job that most needs a look, of those it has. What a
// job could not do somebody else may have done: at a step that is over only
// mails count.
func (d *drawing) worst(id string, its func(Job) bool) {
	s := d.step(id)
	over := s.State != Now && s.State != Waiting
	for _, j := range d.Jobs {
		if !its(j) || !j.begun() || j.completed() || over && j.Kind != mailKind {
			continue
		}
		if t := tries(j); s.Tries == nil || rank(t) > rank(s.Tries) {
			s.Tries = t
		}
	}
	if !over && s.Tries != nil && s.Tries.Dead {
		s.State = Failed
	}
}

func tries(j Job) *Tries {
	if !j.begun() || j.completed() {
		return nil
	}
	t := &Tries{Kind: j.Kind, Why: j.Why, Attempt: j.Attempt, Max: j.MaxAttempts, Error: j.LastError, Dead: j.dead()}
	if !t.Dead {
		t.Next = next(j)
	}
	return t
}

func next(j Job) *time.Time {
	if j.State == "running" || j.At.IsZero() {
		return nil
	}
	return &j.At
}

func rank(t *Tries) int {
	switch {
	case t.Dead:
		return 2
	case t.Error != "":
		return 1
	}
	return 0
}

// stepOf is the step that a job is about: nothing when it stands for a step of
// its own, or for none.
func (d *drawing) stepOf(j Job) string {
	switch j.Kind {
	case "settle":
		return d.deadline(j.Why)
	case mailKind:
		return d.last(mailed()[j.Why])
	}
	if j.Payment == 0 {
		return ""
	}
	if id, ok := d.of[j.Payment]; ok {
		return id
	}
	return string(Pay)
}

// deadline is the step that ends at a deadline, by the name the job carries.
func (d *drawing) deadline(why string) string {
	switch why {
	case "hold lapses":
		if d.Rental.State == rental.Held {
			return string(Hold)
		}
		return string(Pay)
	case "approval window closes":
		return string(Review)
	case "goes live":
		return string(GoLive)
	case "ends":
		return d.last(End)
	case "renewal window closes":
		return string(Release)
	}
	return ""
}

// last is the latest step of a kind.
func (d *drawing) last(kind Kind) string {
	id := ""
	for _, s := range d.g.Steps {
		if s.Kind == kind {
			id = s.ID
		}
	}
	return id
}

// mailed names the kind of step that a kind of mail tells of.
func mailed() map[string]Kind {
	return map[string]Kind{
		"paid": Receipt, "extended": Extend, "renewed": Renew, "refunded": Pay, "repaid": Pay, "payment failed": Pay, "approved": Review,
		"rejected": Review, "live": GoLive, "hidden": GoLive, "shortened": End, "ended": End, "over": Release, "cancelled": Release, "removed": Release,
	}
}
