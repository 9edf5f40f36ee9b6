// Package mail is the outbox: what must be mailed is a row of the table mails,
// written in the transaction of the event it tells of, and sent later by a
// job.
//
// Once. A row stands for one fact ("paid:42") and is written at most once,
// however often the event is reported. It is sent by whoever gets its lease,
// and marked when the server has taken it:
//
//	waiting --lease--> sending --taken--> sent
//	 |  ^                 |  \__ refused for good --> dropped (refused)
//	 |  |__ trouble, or __|
//	 |      the lease ran out
//	 \__ its time is over --> dropped (stale)
//
// Between the server's answer and our note a crash can make a mail go out a
// second time, and nothing can be done about it from here: the server has
// taken it and nobody wrote that down. It happens only in that instant (while
// the database is away, the note is tried again for a few seconds), and not
// before the lease of the first attempt is over. The second copy carries the
// same Message-ID, by which servers and mail programs recognise a repetition.
//
// In time. A mail may wait: a server that is down, or 40,000 others before
// it, delay it. Therefore a reminder has an instant (Message.StaleAt) after
// which it is dropped and not sent, judged by the database's clock when its
// turn comes, in the same statement that begins the attempt. MakeStale does it
// to mails that wait when what they tell of has changed. Whoever sends
// must hold neither a transaction nor a connection while waiting for its
// turn; the pace is kept by package workers.
//
// Safe. Headers are encoded (RFC 2047), so no text of a buyer's can add a
// header or a recipient; each mail has exactly one recipient. International
// domains are in their ASCII form already when they come here (package text).
// Mails with a sign-in link lose their words when they are sent or stale.
//
// What mails say is written by package mailtext.
package mail
