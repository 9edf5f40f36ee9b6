package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting describes one environment variable, for help.
type Setting struct {
	Name    string
	Default string // as it would be written; empty: none
	Help    string
}

// reader takes settings one by one and gathers what is wrong with them.
type reader struct {
	lookup   func(string) (string, bool)
	settings []Setting
	problems []Problem
}

// raw returns the value of a setting, or its default. Blanks around a value
// come from files and mean nothing.
func (r *reader) raw(name, def, help string) string {
	r.settings = append(r.settings, Setting{name, def, help})
	value, _ := r.lookup(name)
	if value = strings.TrimSpace(value); value == "" {
		return def
	}
	return value
}

// given reports whether a setting has a value of its own.
func (r *reader) given(name string) bool {
	value, _ := r.lookup(name)
	return strings.TrimSpace(value) != ""
}

func (r *reader) wrong(name, format string, args ...any) {
	r.problems = append(r.problems, Problem{name, fmt.Sprintf(format, args...)})
}

// fine reports whether nothing is wrong with a setting so far, so that one
// mistake is not reported twice.
func (r *reader) fine(names ...string) bool {
	return !slices.ContainsFunc(r.problems, func(p Problem) bool { return slices.Contains(names, p.Name) })
}

func (r *reader) text(name, def, help string) string { return r.raw(name, def, help) }

func (r *reader) secret(name, help string) Secret { return NewSecret(r.raw(name, "", help)) }

func (r *reader) choice(name, def, help string, choices ...string) string {
	value := strings.ToLower(r.raw(name, def, help+" ("+strings.Join(choices, "|")+")"))
	if !slices.Contains(choices, value) {
		r.wrong(name, "must be %s, not %q", strings.Join(choices, " or "), value)
		return def
	}
	return value
}

func (r *reader) onOff(name, def, help string) bool {
	return r.choice(name, def, help, "on", "off") == "on"
}

// duration reads a Go duration of at least min. Short ones are welcome: a
// test lives through an hour in a second.
func (r *reader) duration(name, def, help string, least time.Duration) time.Duration {
	value := r.raw(name, def, help)
	d, err := time.ParseDuration(value)
	switch {
	case err != nil:
		r.wrong(name, "must be a duration like 90s, 10m or 48h, not %q", value)
	case d < least:
		r.wrong(name, "must be at least %s, not %s", least, value)
	case d > longest:
		r.wrong(name, "must be at most %s, not %s", longest, value)
	}
	return d
}

// longest keeps every instant that is computed from a setting inside what
// PostgreSQL and Go can hold.
const longest = 10 * 365 * 24 * time.Hour

func (r *reader) whole(name, def, help string, least, most int64) int64 {
	value := r.raw(name, def, help)
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		r.wrong(name, "must be a whole number from %d to %d, not %q", least, most, value)
	}
	return n
}

// count reads a number of things, at least one.
func (r *reader) count(name, def, help string) int {
	return int(r.whole(name, def, help, 1, 1_000_000_000))
}

func (r *reader) share(name, def, help string) float64 {
	value := r.raw(name, def, help)
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f > 0 && f <= 1) { // written so that NaN fails
		r.wrong(name, "must be a number above 0 and up to 1, not %q", value)
	}
	return f
}
