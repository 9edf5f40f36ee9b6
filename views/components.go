package views

import (
	"strconv"

	"github.com/a-h/templ"
)

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func buttonClass(kind string, wide bool) string {
	class := "btn"
	if kind != "" {
		class += " btn-" + kind
	}
	if wide {
		class += " btn-wide"
	}
	return class
}

func (f FieldView) id() string { return or(f.ID, f.Name) }

// attrs are those that input, textarea and select have in common. Hint and
// error are read out with the field; a wrong field says so.
func (f FieldView) attrs() templ.Attributes {
	a := templ.Attributes{"id": f.id(), "name": f.Name}
	for name, value := range map[string]string{
		"inputmode": f.InputMode, "autocomplete": f.Autocomplete, "placeholder": f.Placeholder,
		"min": f.Min, "max": f.Max, "step": f.Step, "aria-describedby": f.describedBy(),
	} {
		if value != "" {
			a[name] = value
		}
	}
	if f.MaxLength > 0 {
		a["maxlength"] = strconv.Itoa(f.MaxLength)
	}
	if f.Required {
		a["required"] = true
	}
	if f.Error != "" {
		a["aria-invalid"] = "true"
	}
	for name, value := range f.Attrs {
		a[name] = value
	}
	return a
}

func (f FieldView) describedBy() string {
	switch {
	case f.Hint != "" && f.Error != "":
		return f.id() + "-error " + f.id() + "-hint"
	case f.Error != "":
		return f.id() + "-error"
	case f.Hint != "":
		return f.id() + "-hint"
	}
	return ""
}

func noticeRole(kind string) string {
	if kind == "error" {
		return "alert"
	}
	return "status"
}

func noticeIcon(kind string) string {
	switch kind {
	case "error", "warning":
		return "alert"
	case "success":
		return "check"
	}
	return "info"
}

func problemsTitle(n int) string {
	if n == 1 {
		return "One thing needs a look"
	}
	return strconv.Itoa(n) + " things need a look"
}

// markOf maps a state of an area, rental, payment, refund or creative to the
// mark it is shown with.
func markOf(state string) string {
	switch state {
	case "free", "held", "reserved", "taken", "live", "blocked", "mine", "conflict":
		return state
	case "paying", "paid":
		return map[string]string{"paying": "held", "paid": "taken"}[state]
	case "ended":
		return "reserved"
	case "approved", "succeeded", "ok":
		return "ok"
	case "pending", "processing", "open", "review":
		return "wait"
	case "rejected", "failed":
		return "bad"
	}
	return "off"
}
