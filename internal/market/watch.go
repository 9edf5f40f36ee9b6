package market

import "tuval/internal/fault"

// Watch makes begin be called before every attempt to take blocks, and what
// it returns when it has come out: won, or the code of the refusal. It is for
// counting and timing and is set before the first attempt.
func (m *Market) Watch(begin func() func(outcome string)) { m.watch = begin }

// attempted begins watching one attempt.
func (m *Market) attempted() func(error) {
	if m.watch == nil {
		return func(error) {}
	}
	done := m.watch()
	return func(err error) {
		if err == nil {
			done("won")
			return
		}
		if f := fault.As(err); f.Kind != fault.Invalid { // those never asked for blocks
			done(f.Code)
		}
	}
}
