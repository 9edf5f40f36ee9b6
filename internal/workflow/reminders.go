package workflow

import (
	"strings"
	"time"

	"tuval/internal/rental"
)

// reminders are those to come, by their jobs, and those that were sent, by
// their mails: of a job that is done nothing is left but what it wrote.
func (d *drawing) reminders() {
	latest := map[string]int{}
	for i, j := range d.Jobs {
		if j.Kind == "remind" {
			latest[j.Why] = i // an end that moved has left older ones
		}
	}
	for i, j := range d.Jobs {
		switch {
		case j.Kind == mailKind && remindedOf(j.Why) != "":
			d.remind(j)
		case j.Kind == "remind" && latest[j.Why] == i && !j.completed() && d.stillReminds(j):
			d.remind(j)
		}
	}
}

// remindedOf is the deadline that a reminder is about, as the step that it
// ends: review, end or renew. Nothing: it is no reminder. The words are those of
// the jobs' reasons and of the mails' kinds.
func remindedOf(why string) Kind {
	switch {
	case strings.Contains(why, "approval deadline") || strings.HasPrefix(why, "upload"):
		return Review
	case strings.HasSuffix(why, "to the end") || why == "ends soon":
		return End
	case strings.HasSuffix(why, "to renew") || why == "renewal closes":
		return Renew
	}
	return ""
}

// stillReminds reports whether what a job reminds of is still to come.
func (d *drawing) stillReminds(j Job) bool {
	r := d.Rental
	switch remindedOf(j.Why) {
	case Review:
		return r.State == rental.Paid && r.LiveFrom == nil
	case End:
		return r.State == rental.Paid || r.State == rental.Live
	case Renew:
		return r.State == rental.Ended
	default:
		return false
	}
}

// remind adds a reminder, before the picture, before the end or after it.
func (d *drawing) remind(j Job) {
	s := Step{Kind: Remind, State: j.state(), At: j.DoneAt, Note: j.Why, Tries: tries(j), Branch: true}
	if s.State == Waiting {
		s.Due, s.Fixed = &j.At, true
	}
	switch end := d.endAfter(j.At); remindedOf(j.Why) {
	case Review:
		d.add(s, string(Pay))
	case Renew:
		d.add(s, d.last(End))
	default:
		d.link(d.add(s, d.g.After(end)[0]), end, false)
	}
}

// endAfter is the end that a reminder at an instant came before.
func (d *drawing) endAfter(at time.Time) string {
	for _, s := range d.g.Steps {
		if s.Kind == End && (s.At == nil || at.Before(*s.At)) {
			return s.ID
		}
	}
	return d.last(End)
}
