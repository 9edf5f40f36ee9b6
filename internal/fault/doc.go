// Package fault is how a refusal travels from the place that knows to the
// place that answers: a kind that decides the status, a code for programs, a
// message that is safe and useful for a person, and the cause for the log.
//
// A lost race is a fault like any other: named, never a 500. An error that is
// not a fault is Internal: its words stay in the log.
package fault
