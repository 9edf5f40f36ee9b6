package drawn

import (
	"fmt"
	"strconv"
	"time"

	"tuval/internal/rental"
	"tuval/internal/workflow"
	"tuval/views"
)

// Picture is a rental's graph for the admin.
func Picture(g workflow.Graph) views.WorkflowView {
	v := views.WorkflowView{Title: "Steps of this rental", Desc: summary(g)}
	for _, s := range g.Steps {
		v.Steps = append(v.Steps, step(g, s))
	}
	return v
}

// summary says in one sentence how the rental stands.
func summary(g workflow.Graph) string {
	text := "The rental is " + string(g.Rental.State)
	if g.Rental.State == rental.Closed && g.Rental.ClosedReason != nil {
		text += " (" + spaced(string(*g.Rental.ClosedReason)) + ")"
	}
	counts := map[workflow.State]int{}
	for _, s := range g.Steps {
		counts[s.State]++
	}
	text += "."
	for _, s := range []workflow.State{workflow.Done, workflow.Now, workflow.Failed, workflow.Undone, workflow.Waiting, workflow.Skipped} {
		if n := counts[s]; n > 0 {
			text += fmt.Sprintf(" %s: %d.", stateWord(s), n)
		}
	}
	return text
}

func step(g workflow.Graph, s workflow.Step) views.WorkflowStep {
	v := views.WorkflowStep{ID: s.ID, Title: title(s), State: string(s.State), Word: stateWord(s.State), Side: s.Branch, Note: note(s)}
	v.Lead, v.When, v.Brief = when(s, g.Now)
	if s.Kind == workflow.Release && s.Due != nil && g.Rental.EndsAt == nil {
		v.Lead = "else" // only if nothing happens until then
	}
	if t := s.Tries; t != nil {
		v.Tries, v.Count, v.Error = tries(*t), fmt.Sprintf("try %d/%d", t.Attempt, t.Max), t.Error
	}
	for _, e := range g.Edges {
		if e.To == s.ID {
			from, _ := g.Step(e.From)
			v.After = append(v.After, views.WorkflowEdge{ID: e.From, Title: title(from), Back: e.Back})
		}
	}
	return v
}

// title names a step, short enough for its box.
func title(s workflow.Step) string {
	name := map[workflow.Kind]string{
		workflow.Hold: "Hold", workflow.Pay: "Payment", workflow.Receipt: "Receipt", workflow.Image: "Picture sent",
		workflow.Review: "Review", workflow.Replace: "New picture", workflow.GoLive: "Goes live", workflow.Remind: "Reminder",
		workflow.Extend: "Extension", workflow.End: "End", workflow.Renew: "Renewal", workflow.Release: "Blocks free",
		workflow.Refund: "Refund",
	}[s.Kind]
	if s.N > 1 {
		name += " " + strconv.Itoa(s.N)
	}
	return name
}

func stateWord(s workflow.State) string {
	if s == workflow.Now {
		return "under way"
	}
	return string(s)
}

// note is what the list says about a step.
func note(s workflow.Step) string {
	text := ""
	if s.Amount.Amount > 0 {
		text = s.Amount.String()
	}
	if s.Weeks > 0 {
		text += " for " + counted(s.Weeks, "week")
	}
	if s.Note == "" {
		return text
	}
	if text == "" {
		return s.Note
	}
	return text + ": " + s.Note
}

// when is the moment that matters of a step: when it happened, or comes.
func when(s workflow.Step, now time.Time) (lead string, at views.Moment, brief string) {
	switch {
	case s.At != nil:
		return "at", views.MomentOf(*s.At), short(*s.At, now)
	case s.Due == nil:
		return "", views.Moment{}, ""
	}
	brief = short(*s.Due, now)
	if !s.Fixed {
		brief = s.Due.UTC().Format(dayForm)
	}
	return dueWord(s), views.MomentOf(*s.Due), brief
}

// dueWord says what comes at the step's instant: the step itself, or the end
// of the time for it.
func dueWord(s workflow.Step) string {
	switch {
	case !s.Fixed:
		return "wished"
	case s.Kind == workflow.GoLive || s.Kind == workflow.End || s.Kind == workflow.Release || s.Kind == workflow.Remind:
		return "on"
	}
	return "until"
}

// short writes an instant for the picture, which has little room: of another
// year the day alone.
func short(t, now time.Time) string {
	if t.UTC().Year() != now.UTC().Year() {
		return t.UTC().Format(dayForm)
	}
	return t.UTC().Format("2 Jan 15:04 UTC")
}

const dayForm = "2 Jan 2006"

func tries(t workflow.Tries) string {
	text := fmt.Sprintf("try %d of %d", t.Attempt, t.Max)
	if t.Dead {
		text += ", given up"
	}
	return text
}
