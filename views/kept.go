package views

// Kept is a form that could not be sent as it was: what the person typed, shown
// and ready to be sent again once the reason is gone (signed in again, say).
// Files cannot be kept; say so in the text beside it.
type Kept struct {
	Action string
	Button string // "Send it again" when empty
	Fields []KeptField
}

// KeptField is one value. Without a label it is sent but not shown.
type KeptField struct {
	Name  string
	Label string
	Value string
}

func (k Kept) shown() []Fact {
	var facts []Fact
	for _, f := range k.Fields {
		if f.Label != "" && f.Value != "" {
			facts = append(facts, Fact{f.Label, f.Value})
		}
	}
	return facts
}

// firstKind makes the first of several ways on the main one.
func firstKind(i int) string {
	if i == 0 {
		return "primary"
	}
	return "quiet"
}
