package views

// TimelineView is a rental's life for its buyer, in plain words: what
// happened, what is now, what comes next.
type TimelineView struct {
	Items []TimelineItem
}

// TimelineItem is one thing of it.
type TimelineItem struct {
	State string // done, now, next or failed
	Title string
	Lead  string // before the moment: "until"
	At    Moment
	Open  string // why the moment is not fixed, or why there is none yet
	Note  string
}

// word names the state for those who do not see its sign.
func (i TimelineItem) word() string {
	return map[string]string{"done": "done", "now": "now", "failed": "needs a look"}[i.State]
}
