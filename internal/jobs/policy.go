package jobs

import (
	"math/rand/v2"
	"time"

	"github.com/riverqueue/river"
)

// The queues, so that slow outside calls never hold up what frees blocks, and
// thousands of deadlines at one instant never hold up money that arrived.
const (
	QueueClock  = "clock"
	QueueMarket = river.QueueDefault
	QueueStripe = "stripe"
	QueueMail   = "mail"
)

// Policy says how often a kind is tried, how long the first gap is and how
// far gaps grow. The job layer is the only owner of retries: the clients the
// jobs use make one try each.
type Policy struct {
	Queue    string
	Attempts int
	Gap, Max time.Duration
}

func policies() map[string]Policy {
	return map[string]Policy{
		"settle":         {QueueClock, 12, time.Second, 5 * time.Minute},
		"remind":         {QueueClock, 12, 5 * time.Second, 10 * time.Minute},
		"end_checkout":   {QueueStripe, 14, 2 * time.Second, 10 * time.Minute},
		"expire_session": {QueueStripe, 14, 2 * time.Second, 10 * time.Minute},
		"apply_event":    {QueueMarket, 14, time.Second, 10 * time.Minute},
		"make_refund":    {QueueStripe, 14, 5 * time.Second, time.Hour},
		"sync_refunds":   {QueueStripe, 14, 2 * time.Second, 10 * time.Minute},
		"unblock":        {QueueClock, 12, time.Second, 5 * time.Minute},
		"send_mail":      {QueueMail, 125, 5 * time.Second, time.Hour},
		"upkeep":         {QueueMarket, 3, time.Second, time.Minute},
		"reconcile":      {QueueStripe, 3, time.Minute, 5 * time.Minute},
	}
}

func policyOf(kind string) Policy { return policies()[kind] }

func (p Policy) opts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: p.Attempts, Queue: p.Queue}
}

// Kinds lists every kind with its policy.
func Kinds() map[string]Policy { return policies() }

// After is the gap before the next try when this many have failed: it
// doubles up to the maximum, and varies by a quarter so that many jobs that
// failed together do not come back together.
func (p Policy) After(failed int) time.Duration {
	gap := p.Gap
	for i := 1; i < failed && gap < p.Max; i++ {
		gap *= 2
	}
	gap = min(gap, p.Max)
	return gap + time.Duration(rand.Int64N(int64(gap)/2+1)) - gap/4
}

// After is the gap before a job of the given kind is tried again.
func After(kind string, failed int) time.Duration { return policyOf(kind).After(failed) }
