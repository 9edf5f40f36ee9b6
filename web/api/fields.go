package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tuval/internal/fault"
	"tuval/internal/grid"
)

// fields are the values of a body, not judged yet. The first that is wrong is
// kept, so that all can be asked for before anybody looks.
type fields struct {
	values map[string]json.RawMessage
	err    error
}

func (f *fields) wrong(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *fields) has(name string) bool { return f.values[name] != nil }

// number is a required whole number, written with digits alone: 1e1 and 1.0
// are whole as well, but nobody who means a number of blocks writes it so.
func (f *fields) number(name string, least, most int64) int64 {
	raw := string(f.values[name])
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < least || n > most {
		limits := fmt.Sprintf("from %d to %d", least, most)
		if most == math.MaxInt64 {
			limits = fmt.Sprintf("of at least %d", least)
		}
		f.wrong(fault.Field(name, fmt.Sprintf("%s must be a whole number %s", name, limits)))
	}
	return n
}

// flag is a required true or false.
func (f *fields) flag(name string) bool {
	switch string(f.values[name]) {
	case "true":
		return true
	case "false":
	default:
		f.wrong(fault.Field(name, name+" must be true or false"))
	}
	return false
}

// text is a text; one that was not sent is empty.
func (f *fields) text(name string) string {
	raw, sent := f.values[name]
	if !sent {
		return ""
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		f.wrong(fault.Field(name, name+" must be a text, in double quotes"))
		return ""
	}
	// The decoder mends escapes that stand for no character.
	meant := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	if strings.Count(s, "\uFFFD") > meant {
		f.wrong(fault.Field(name, name+" holds something that is no character"))
	}
	return s
}

// instant is an instant as RFC 3339 writes it, in any zone; nil when it was not
// sent.
func (f *fields) instant(name string) *time.Time {
	if !f.has(name) {
		return nil
	}
	var t time.Time
	// Year 10000, which a zone can make of 9999, has no RFC 3339 form.
	if err := t.UnmarshalText([]byte(f.text(name))); err != nil || t.UTC().Year() > 9999 {
		f.wrong(fault.Field(name, name+" must be an instant of RFC 3339, as in 2027-01-31T15:00:00Z"))
		return nil
	}
	t = t.UTC()
	return &t
}

// rule reads a text through a rule that cleans or refuses it. A refusal that
// names no field is about this one.
func rule[T any](f *fields, name string, clean func(string) (T, error)) T {
	s := f.text(name)
	v, err := clean(s)
	if err != nil {
		refusal := fault.As(err)
		if refusal.Field == "" {
			named := *refusal
			named.Field, refusal = name, &named
		}
		f.wrong(refusal)
	}
	return v
}

// rectFields are the names of a rect's fields.
var rectFields = []string{"x", "y", "w", "h"}

// rect is a rect that lies on the canvas whole.
func (f *fields) rect() grid.Rect {
	x, y := f.number("x", 0, grid.Cols-1), f.number("y", 0, grid.Rows-1)
	w, h := f.number("w", 1, grid.Cols), f.number("h", 1, grid.Rows)
	if f.err != nil {
		return grid.Rect{}
	}
	r, err := grid.New(int(x), int(y), int(w), int(h))
	if err != nil {
		f.wrong(err)
	}
	return r
}
