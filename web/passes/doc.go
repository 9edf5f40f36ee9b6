// Package passes runs a comparison of what should be with what is for
// somebody who asked for it and waits, though not for ever.
package passes
