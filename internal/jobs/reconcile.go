package jobs

import "github.com/riverqueue/river"

// Reconcile compares what should be with what is. By says who asked for it.
type Reconcile struct {
	By string `json:"by"`
}

// Kind names the job in the queue.
func (Reconcile) Kind() string { return "reconcile" }

// InsertOpts give it its attempts and its queue.
func (Reconcile) InsertOpts() river.InsertOpts { return policyOf("reconcile").opts() }
