// Package mail is the outbox: what must be mailed is a row of the table mails,
// written in the transaction of the event it tells of, and sent later by a
// job.
//
// Once. A row stands for one fact ("paid:42") and is written at most once,
// however often the event is reported. It is sent by whoever gets its lease,
// and marked when the server has taken it:
//
//	waiting --lease--> sending --taken--> sent
//	   ^                  |
//	   |__ refused, or ___|
//	       the lease ran out
//
// Between the server's answer and our mark a crash can make a mail go out a
// second time. It then carries the same Message-ID, by which mail programs
// and servers recognise a repetition.
//
// Safe. Headers are encoded (RFC 2047), so no text of a buyer's can add a
// header or a recipient; each mail has exactly one recipient. International
// domains are in their ASCII form already when they come here (package text).
// Mails with a sign-in link lose their words when they are sent.
//
// What mails say is written by package mailtext.
package mail
