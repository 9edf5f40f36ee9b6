package form

import "tuval/internal/fault"

// Check gathers what is wrong with a form, so that a person hears of all of
// it at once. The zero value is ready.
type Check struct{ problems []*fault.Error }

// Text reads a field through a rule that cleans or refuses it. It returns the
// zero value of what did not pass.
func Text[T any](c *Check, f Form, name string, rule func(string) (T, error)) T {
	var none T
	s, err := f.Get(name)
	if err == nil {
		var v T
		if v, err = rule(s); err == nil {
			return v
		}
	}
	c.Add(name, err)
	return none
}

// Add notes a refusal. One that names no field is about the given one.
func (c *Check) Add(name string, err error) {
	f := fault.As(err)
	if f.Field == "" {
		named := *f
		named.Field = name
		f = &named
	}
	c.problems = append(c.problems, f)
}

// Err is the first problem, or nil.
func (c *Check) Err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return c.problems[0]
}

// Problems are all of them, in the order in which they were found.
func (c *Check) Problems() []*fault.Error { return c.problems }
