package stripesim

import (
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scope reads the parameters below one place of a form. The first refusal
// stays and the rest reads as empty, so a reader of parameters is a list of
// lines and one look at the end.
type scope struct {
	path string
	n    *node
	err  **Error
}

func newScope(n *node) scope {
	var err *Error
	return scope{n: n, err: &err}
}

func (s scope) name(field string) string {
	if s.path == "" {
		return field
	}
	return s.path + "[" + field + "]"
}

func (s scope) refuse(field, code, format string, args ...any) {
	if *s.err == nil {
		*s.err = invalid(s.name(field), code, format, args...)
	}
}

// only refuses whatever is not in the list: the simulator does not pretend to
// have understood.
func (s scope) only(known ...string) {
	for _, name := range s.n.names {
		if !slices.Contains(known, name) {
			s.refuse(name, "parameter_unknown", "The payment simulator does not know the parameter %s.", s.name(name))
		}
	}
}

func (s scope) has(field string) bool { return s.n.fields[field] != nil }

func (s scope) in(field string) scope {
	inner := s.n.fields[field]
	if inner == nil {
		inner = &node{}
	}
	if inner.leaf && inner.value != "" {
		s.refuse(field, "", "Invalid object: %s", s.name(field))
	}
	return scope{path: s.name(field), n: inner, err: s.err}
}

// list reads a list of objects. Places are numbers, in any order they came.
func (s scope) list(field string) []scope {
	at := s.in(field)
	var all []scope
	for _, name := range at.n.names {
		if _, err := strconv.Atoi(name); err != nil {
			s.refuse(field, "", "Invalid array: %s", s.name(field))
		}
		all = append(all, at.in(name))
	}
	return all
}

// texts reads a list of words.
func (s scope) texts(field string) []string {
	at := s.in(field)
	var all []string
	for _, name := range at.n.names {
		all = append(all, at.text(name))
	}
	return all
}

// text reads a value; a missing one is empty.
func (s scope) text(field string) string {
	n := s.n.fields[field]
	if n == nil {
		return ""
	}
	if !n.leaf && len(n.names) > 0 {
		s.refuse(field, "", "Invalid string: %s", s.name(field))
	}
	if !utf8.ValidString(n.value) || strings.ContainsRune(n.value, 0) {
		s.refuse(field, "", "Invalid string: %s", s.name(field))
		return ""
	}
	return n.value
}

// optional is text, or nil where there is none.
func (s scope) optional(field string, longest int) *string {
	if !s.has(field) {
		return nil
	}
	v := s.text(field)
	if utf8.RuneCountInString(v) > longest {
		s.refuse(field, "", "Invalid string: %s must be at most %d characters", s.name(field), longest)
	}
	if v == "" {
		return nil
	}
	return &v
}

func (s scope) required(field string) string {
	v := s.text(field)
	switch {
	case !s.has(field):
		s.refuse(field, "parameter_missing", "Missing required param: %s.", s.name(field))
	case v == "":
		s.refuse(field, "parameter_invalid_empty", "You passed an empty string for %s.", s.name(field))
	}
	return v
}

// word reads one of a few words; missing is empty.
func (s scope) word(field string, words ...string) string {
	v := s.text(field)
	if s.has(field) && !slices.Contains(words, v) {
		s.refuse(field, "", "Invalid %s: must be one of %s", s.name(field), strings.Join(words, ", "))
	}
	return v
}

// integer reads digits with an optional sign; ok is false where there is none.
func (s scope) integer(field string) (value int64, ok bool) {
	if !s.has(field) {
		return 0, false
	}
	v, err := strconv.ParseInt(s.text(field), 10, 64)
	if err != nil {
		s.refuse(field, "parameter_invalid_integer", "Invalid integer: %s", s.name(field))
		return 0, false
	}
	return v, true
}

// between is an integer that must be there and in range.
func (s scope) between(field string, low, high int64) int64 {
	s.required(field)
	v, ok := s.integer(field)
	if ok && (v < low || v > high) {
		s.refuse(field, "parameter_invalid_integer", "%s must be between %d and %d.", s.name(field), low, high)
	}
	return v
}

// never accepts a switch only as "off": what it turns on is not simulated.
func (s scope) never(field string) {
	if s.has(field) && s.text(field) != "false" {
		s.refuse(field, "", "The payment simulator has %s only as false.", s.name(field))
	}
}

// The limits of metadata, in characters.
const (
	maxMetadata      = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// metadata reads key-value pairs; a pair with an empty value is dropped.
func (s scope) metadata(field string) map[string]string {
	at, data := s.in(field), map[string]string{}
	for _, key := range at.n.names {
		value := at.text(key)
		switch {
		case key == "" || utf8.RuneCountInString(key) > maxMetadataKey || !utf8.ValidString(key):
			s.refuse(field, "", "Metadata keys can have up to %d characters.", maxMetadataKey)
		case utf8.RuneCountInString(value) > maxMetadataValue:
			at.refuse(key, "", "Metadata values can have up to %d characters.", maxMetadataValue)
		case value != "":
			data[key] = value
		}
	}
	if len(data) > maxMetadata {
		s.refuse(field, "", "Metadata can have up to %d keys; this one has %d.", maxMetadata, len(data))
	}
	return data
}

// sessionPlaceholder stands in addresses for the session's id.
const sessionPlaceholder = "{CHECKOUT_SESSION_ID}"

// address reads an absolute http(s) address that a browser is sent to.
func (s scope) address(field string) string {
	const longest = 5000
	v := s.text(field)
	if v == "" {
		return ""
	}
	u, err := url.Parse(strings.ReplaceAll(v, sessionPlaceholder, "id"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || len(v) > longest {
		s.refuse(field, "url_invalid", "Not a valid URL: %s", s.name(field))
	}
	return v
}

// email reads one plain address.
func (s scope) email(field string) *string {
	v := s.optional(field, 512)
	if v == nil {
		return nil
	}
	at := strings.LastIndexByte(*v, '@')
	parsed, err := mail.ParseAddress(*v)
	if err != nil || parsed.Address != *v || !strings.Contains((*v)[at+1:], ".") {
		s.refuse(field, "email_invalid", "Invalid email address: %s", *v)
	}
	return v
}
