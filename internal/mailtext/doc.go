// Package mailtext writes the mails that Tuval sends: what each says, in plain
// text and in HTML, from the facts of one event.
//
// It is pure: no clock, no database, no network. Every mail is written once,
// as a letter (heading, paragraphs, facts, one action), and rendered twice, so
// that the text and the HTML part cannot say different things.
//
// It promises that a subject is one line without control characters, whatever
// a buyer typed into a title; that a text line stays far below the 998 bytes a
// mail may have; that everything people typed is escaped in HTML; and that the
// zone stands next to each time. Times are written in UTC. Encoding a subject
// for transport (RFC 2047) and addressing are the sender's work.
//
// A mail may be late: it names instants, never how far away they are. Each
// about a rental has its place, 1-based as pages say it, and its address. What
// goes wrong between us and the payment service (a refund that failed) is told
// to admins, not to buyers.
//
// No mail but the sign-in link carries authority: the other links are plain
// addresses of a rental's page, which asks for a sign-in when it must.
package mailtext
