// Package jobs names what can be asked of the workers, and puts a request
// into the queue in the transaction that creates the reason for it.
//
// A job carries only ids. It looks at the present state before it acts and
// may find nothing to do; deadlines hold in SQL and never wait for a job. The
// consumers live in package workers, so that anything may enqueue. How often
// and how far apart a kind is tried stands in one table, in policy.go.
package jobs
