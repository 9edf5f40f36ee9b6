// Package reply is the one place that turns outcomes into answers: a fault
// into its status, page, fragment or JSON; a value into JSON; a component into
// a page; a finished form into a redirect that plain browsers and htmx both
// follow.
//
// It promises that nothing is written before it is complete (everything is
// rendered into memory first), that no word of an unexpected error reaches a
// person (they get the request's id, the log gets the words), and that 429
// and 503 always say when to come back.
//
// It does not log. What went wrong is noted in the request's [Facts], and
// whoever made those (package web) writes it down once, at the end.
package reply
