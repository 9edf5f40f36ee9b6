// Package web is the site: every address it answers, for browsers, Stripe and
// machines that look after it.
//
// All routes stand in routes.go, one line each, in groups. A group is what its
// routes cannot forget: whether a session is read, whether requests of other
// sites are refused, who may come in, and how long an answer may be kept. A
// handler parses, makes one call into the market and renders; it returns what
// goes wrong as an error, and one place (package reply) answers that.
//
// Forms work without scripts (POST, then 303, then GET). Scripts of our pages
// send the same forms with HX-Request and get the changed part of the page.
// A form that was refused comes back with what was typed.
//
// Pages are of the present state, never of an event: a page that was left open
// may be sent at any time, and hears politely how things stand.
package web
