package text

import (
	"fmt"
	"strconv"
	"strings"

	"tuval/internal/fault"
)

// Number describes one input for a whole number.
type Number struct {
	Field    string // name of the input, for the fault
	Label    string // what people call it, at the start of a sentence; empty: Field
	Min, Max int    // both allowed
}

// Int reads a whole number from min to max out of the form field of that name.
func Int(field, s string, min, max int) (int, error) {
	return Number{Field: field, Min: min, Max: max}.Read(s)
}

// Read takes what somebody typed: ASCII digits with an optional minus, blanks
// around them allowed, nothing else, so that "1.5", "1e1", "+3", "1,000" and
// digits of other scripts are refused instead of guessed at. The fault is of
// kind Invalid and names the field and the range.
func (n Number) Read(s string) (int, error) {
	s = strings.Trim(s, " \t\r\n")
	digits := strings.TrimPrefix(s, "-")
	if s == "" {
		return 0, n.refuse("is missing: please write a whole number from %d to %d.")
	}
	if digits == "" || strings.ContainsFunc(digits, func(c rune) bool { return c < '0' || c > '9' }) {
		return 0, n.refuse("must be a whole number from %d to %d, written with the digits 0 to 9.")
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < n.Min || v > n.Max {
		return 0, n.refuse("must be from %d to %d.")
	}
	return v, nil
}

func (n Number) refuse(format string) error {
	label := n.Label
	if label == "" {
		label = n.Field
	}
	return fault.Field(n.Field, label+" "+fmt.Sprintf(format, n.Min, n.Max))
}
