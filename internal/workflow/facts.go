package workflow

import (
	"time"

	"tuval/internal/creative"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Facts are what is known of a rental at Now. Lists may come in any order.
type Facts struct {
	Rental    rental.Rental // as it is at Now (rental.At)
	Now       time.Time
	Payments  []payment.Payment
	Refunds   []payment.Refund
	Creatives []creative.Creative
	Events    []Event
	Jobs      []Job
}

// Event is one line of the rental's ledger.
type Event struct {
	Kind ledger.Kind
	At   time.Time // when it took effect
}

// Job is one job about the rental, or one mail to its buyer: those are jobs of
// the kind "send_mail" whose Why is the kind of mail. The fields are those of
// the market's JobFact, so that one converts into the other.
type Job struct {
	Kind, Why            string
	State                string    // River's: scheduled, available, running, retryable, completed, discarded, cancelled
	At                   time.Time // when it is to be worked, or tried again
	DoneAt               *time.Time
	Attempt, MaxAttempts int
	LastError            string
	Payment              payment.ID       // 0: not about one
	Refund               payment.RefundID // 0: not about one
}

// dead reports whether nobody will try the job again though it did not succeed.
func (j Job) dead() bool {
	return j.State == "discarded" || j.State == "cancelled" && j.LastError != ""
}

func (j Job) completed() bool { return j.State == "completed" }

// begun reports whether the job has begun to be tried.
func (j Job) begun() bool { return j.Attempt > 0 || j.LastError != "" }

// state is that of a step which is nothing but this job.
func (j Job) state() State {
	switch {
	case j.completed():
		return Done
	case j.dead():
		return Failed
	case j.State == "cancelled":
		return Skipped
	case j.State == "scheduled" && !j.begun():
		return Waiting
	}
	return Now
}
