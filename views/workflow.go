package views

import "strings"

// WorkflowView is a rental's steps, formatted: as a picture, and the same in
// words.
type WorkflowView struct {
	Title string // what the picture is called: "Steps of this rental"
	Desc  string // how it stands, in one sentence
	Steps []WorkflowStep
}

// WorkflowStep is one step. Steps follow those they name in After, which stand
// before them in the list.
type WorkflowStep struct {
	ID    string
	Title string // short: at most some 20 letters are drawn
	State string // done, now, waiting, failed, skipped or undone
	Word  string // the state in words
	Lead  string // before the moment: "until", "at"
	When  Moment
	Brief string // the moment for the picture: "7 Dec, 13:52 UTC"
	Note  string
	Tries string // how often the job was tried: "try 3 of 14"
	Count string // the same for the picture: "try 3/14"
	Error string // what it said last
	After []WorkflowEdge
	Side  bool // beside the main way
}

// WorkflowEdge leads from an earlier step.
type WorkflowEdge struct {
	ID    string
	Title string
	Back  bool // a compensation
}

// follows lists in words what a step follows.
func (s WorkflowStep) follows() string {
	var names []string
	for _, e := range s.After {
		names = append(names, e.Title)
	}
	return strings.Join(names, ", ")
}

// said is the state in words, and what stands before its moment.
func (s WorkflowStep) said() string {
	if !s.When.Set() {
		return s.Word
	}
	return s.Word + ", " + s.Lead + " "
}

// second and third are the lines under a step's title in the picture.
func (s WorkflowStep) second() string {
	if s.Count == "" {
		return s.Word
	}
	return s.Word + ", " + s.Count
}

func (s WorkflowStep) third() string {
	if s.Brief == "" {
		return ""
	}
	return strings.TrimSpace(s.Lead + " " + s.Brief)
}

// stateMark is a sign for each state, drawn on a grid of 14 x 14, so that
// colour never speaks alone.
func stateMark(state string) string {
	switch state {
	case "done":
		return "M2 7.5l3.5 3.5L12 3.5"
	case "now":
		return "M3.5 2l8 5-8 5z"
	case "failed":
		return "M3 3l8 8M11 3l-8 8"
	case "skipped":
		return "M2.5 7h9"
	case "undone":
		return "M5.5 2.5L2.5 5.5l3 3M2.5 5.5H8a3 3 0 0 1 0 6H5"
	}
	return "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9"
}
