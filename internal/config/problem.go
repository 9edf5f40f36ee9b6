package config

import (
	"slices"
	"strings"
)

// Problem is one setting that is wrong or missing.
type Problem struct {
	Name string // the environment variable
	What string // what is wrong with it, and what would be right
}

// Error lists every setting that is wrong or missing, one a line.
type Error struct{ Problems []Problem }

// Error writes one line a setting, each beginning with its name.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Name + ": " + p.What
	}
	return strings.Join(lines, "\n")
}

// problem returns what was gathered as an error, or nil.
func (r *reader) problem() error {
	if len(r.problems) == 0 {
		return nil
	}
	order := func(name string) int {
		return slices.IndexFunc(r.settings, func(s Setting) bool { return s.Name == name })
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return order(a.Name) - order(b.Name) })
	return &Error{r.problems}
}
