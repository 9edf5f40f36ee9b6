// Package workers consumes the jobs: it takes a job's ids, calls the market or
// sends a mail, and says how it came out.
//
// It owns no rule of the market. It is the only owner of retries: how often
// and how far apart stands in package jobs; an error that trying again cannot
// heal stops the job at once. A job that used up its attempts, or was stopped,
// becomes an anomaly for an admin. A worker that dies is taken over after
// about a minute; what it half did does not matter, since every effect is
// conditional on the state it finds.
//
// Mails go out at a bounded rate a process, from a queue of their own. A job
// that waits for its turn, or for a mail server that is slow or down, holds
// neither a connection to the database nor a place that other jobs need.
package workers
