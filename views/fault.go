package views

// FaultPage is the answer when something cannot be done: every status from 400
// on that is not a form shown again. One component for all.
type FaultPage struct {
	Page
	Fault FaultView
}

// FaultView is what happened, in words. Title and Text may be empty: each
// status has words of its own.
type FaultView struct {
	Status    int
	Title     string
	Text      string // of the refusal; safe for a person
	RequestID string // to be quoted to us
	Retry     string // when to come back, "in 30 seconds"
	Next      []FaultLink
	Kept      *Kept // what was typed
}

// FaultLink is a way on.
type FaultLink struct {
	Href string
	Text string
}

// faultWords are the title and text of a status.
func faultWords(status int) (title, text string) {
	words := map[int][2]string{
		400: {"We do not understand this request", "Part of it is missing or broken. Go back, reload the page and try again."},
		401: {"Please sign in first", "This page belongs to somebody. Sign in, then come back."},
		403: {"This is not allowed", "Either the page belongs to somebody else, or the request came from another site. Nothing was changed."},
		404: {"There is nothing here", "The address may be mistyped, or what stood here is gone."},
		405: {"Not this way", "This address exists, but does not take that kind of request."},
		409: {"Things have moved on", "While this page was open, something changed. Nothing was done; look at how it stands now."},
		410: {"This is over", "It stood here, but its time is up."},
		413: {"That is too large", "A picture may have at most 10 MB. Nothing was stored."},
		415: {"We cannot read this kind of file", "Pictures can be PNG, JPEG, WebP or GIF. The content counts, not the name."},
		422: {"Something needs a look", "What was sent does not fit. Go back and check what you typed."},
		429: {"A little too fast", "That was more than one person usually does. Nothing is lost; wait a moment and try again."},
		500: {"Something went wrong on our side", "It is not your doing. Nothing is lost; try again, and tell us the number below if it stays."},
		503: {"Back in a moment", "Something we need does not answer just now. Nothing is lost and nothing was charged twice; try again shortly."},
	}
	w, ok := words[status]
	switch {
	case ok:
	case status >= 500:
		w = words[500]
	default:
		w = words[400]
	}
	return w[0], w[1]
}

func (f FaultView) title() string {
	title, _ := faultWords(f.Status)
	return or(f.Title, title)
}

func (f FaultView) text() string {
	_, text := faultWords(f.Status)
	return or(f.Text, text)
}
