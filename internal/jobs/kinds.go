package jobs

import "github.com/riverqueue/river"

// Settle brings a rental to the state that time has given it. It is put in
// for each deadline of a rental, with the deadline's name in Why.
type Settle struct {
	Rental int64  `json:"rental"`
	Why    string `json:"why"`
}

// The deadlines for which a rental is settled.
const (
	HoldLapses     = "hold lapses"
	ApprovalCloses = "approval window closes"
	GoesLive       = "goes live"
	Ends           = "ends"
	RenewalCloses  = "renewal window closes"
)

// Remind mails a renter before a deadline, if there still is something to
// remind of.
type Remind struct {
	Rental int64  `json:"rental"`
	Why    string `json:"why"`
}

// EndCheckout asks Stripe what became of a payment whose time is over, and
// books it, or expires it and frees the blocks.
type EndCheckout struct {
	Payment int64 `json:"payment"`
}

// ExpireSession makes an abandoned payment page unpayable at Stripe.
type ExpireSession struct {
	Payment int64 `json:"payment"`
}

// ApplyEvent applies a stored event of Stripe's.
type ApplyEvent struct {
	Event string `json:"event"`
}

// MakeRefund sends a refund to Stripe.
type MakeRefund struct {
	Refund int64 `json:"refund"`
}

// SyncRefunds books what Stripe lists as refunds of a payment.
type SyncRefunds struct {
	PaymentIntent string `json:"payment_intent"`
}

// Unblock frees a blocked area whose time is over.
type Unblock struct {
	Area int64 `json:"area"`
}

// SendMail sends one mail of the outbox. An urgent one goes before those that
// many deadlines at once have left: somebody is waiting for it.
type SendMail struct {
	Mail   int64 `json:"mail"`
	Urgent bool  `json:"urgent,omitempty"`
}

// Upkeep refreshes the statistics of the queue's tables and clears what has
// an age: remembered answers, sessions, sign-in links.
type Upkeep struct{}

// Kind names the job in the queue.
func (Settle) Kind() string        { return "settle" }
func (Remind) Kind() string        { return "remind" }
func (EndCheckout) Kind() string   { return "end_checkout" }
func (ExpireSession) Kind() string { return "expire_session" }
func (ApplyEvent) Kind() string    { return "apply_event" }
func (MakeRefund) Kind() string    { return "make_refund" }
func (SyncRefunds) Kind() string   { return "sync_refunds" }
func (Unblock) Kind() string       { return "unblock" }
func (SendMail) Kind() string      { return "send_mail" }
func (Upkeep) Kind() string        { return "upkeep" }

// InsertOpts give each kind its attempts and its queue.
func (Settle) InsertOpts() river.InsertOpts        { return policyOf("settle").opts() }
func (Remind) InsertOpts() river.InsertOpts        { return policyOf("remind").opts() }
func (EndCheckout) InsertOpts() river.InsertOpts   { return policyOf("end_checkout").opts() }
func (ExpireSession) InsertOpts() river.InsertOpts { return policyOf("expire_session").opts() }
func (ApplyEvent) InsertOpts() river.InsertOpts    { return policyOf("apply_event").opts() }
func (MakeRefund) InsertOpts() river.InsertOpts    { return policyOf("make_refund").opts() }
func (SyncRefunds) InsertOpts() river.InsertOpts   { return policyOf("sync_refunds").opts() }
func (Unblock) InsertOpts() river.InsertOpts       { return policyOf("unblock").opts() }
func (j SendMail) InsertOpts() river.InsertOpts {
	opts := policyOf("send_mail").opts()
	if !j.Urgent {
		opts.Priority = 2
	}
	return opts
}
func (Upkeep) InsertOpts() river.InsertOpts { return policyOf("upkeep").opts() }
