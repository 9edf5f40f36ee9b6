package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76/webhook"

	"tuval/internal/fault"
)

// Event is a signed word of Stripe's. Object holds only the fields that every
// API version has.
type Event struct {
	ID       string
	Type     string
	Livemode bool
	Object   Object
}

// Object is what the events we handle have in common.
type Object struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Status        string            `json:"status"`
	PaymentStatus string            `json:"payment_status"`
	Reference     string            `json:"client_reference_id"`
	Metadata      map[string]string `json:"metadata"`
	Intent        reference         `json:"payment_intent"`
	Charge        reference         `json:"charge"`
	AmountTotal   int64             `json:"amount_total"`
	Amount        int64             `json:"amount"`
	Received      int64             `json:"amount_received"`
	Currency      string            `json:"currency"`
	Reason        string            `json:"reason"`
	Failure       string            `json:"failure_reason"`
}

// reference is an id, or the object that has it when it was expanded.
type reference string

// UnmarshalJSON takes a string, null or an object with an id.
func (r *reference) UnmarshalJSON(b []byte) error {
	var id string
	if json.Unmarshal(b, &id) == nil {
		*r = reference(id)
		return nil
	}
	var o struct{ ID string }
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	*r = reference(o.ID)
	return nil
}

// tolerance is how old a signature may be.
const tolerance = 5 * time.Minute

var (
	// ErrClock says that the signature is right but its time is not ours: the
	// clock of this server is wrong, or the delivery is a very old copy.
	ErrClock = errors.New("the signature is right, but too old by our clock")
	// ErrSecret says that a signature is well made with a secret we do not
	// know: a wrong one is configured, or somebody tries.
	ErrSecret = errors.New("the signature was not made with a configured secret")
)

// Verify checks the signature over the raw bytes against each secret and
// reads the event, of any API version. Everything else is Malformed; it wraps
// ErrClock or ErrSecret when the delivery looks like one of Stripe's.
func Verify(payload []byte, header string, secrets []string) (Event, error) {
	var last error
	for _, secret := range secrets {
		err := webhook.ValidatePayloadWithTolerance(payload, header, secret, tolerance)
		if err == nil {
			return Parse(payload)
		}
		if genuine := webhook.ValidatePayloadIgnoringTolerance(payload, header, secret); genuine == nil {
			last = fmt.Errorf("%w: %w", ErrClock, err)
			break
		}
		if last = err; errors.Is(err, webhook.ErrNoValidSignature) {
			last = fmt.Errorf("%w: %w", ErrSecret, err)
		}
	}
	return Event{}, fault.New(fault.Malformed, "The signature does not match.").Because(last)
}

// Parse reads an event that was verified before.
func Parse(payload []byte) (Event, error) {
	var e struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Livemode bool   `json:"livemode"`
		Data     struct {
			Object json.RawMessage `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(payload, &e); err != nil || e.ID == "" || e.Type == "" {
		return Event{}, fault.New(fault.Malformed, "This is not an event.").Because(err)
	}
	out := Event{ID: e.ID, Type: e.Type, Livemode: e.Livemode}
	if !Handled(e.Type) {
		return out, nil
	}
	if err := json.Unmarshal(e.Data.Object, &out.Object); err != nil {
		return Event{}, fault.New(fault.Malformed, "The event's object cannot be read.").Because(fmt.Errorf("gateway: %w", err))
	}
	return out, nil
}

// handled are the types of events that change anything here: at most 20, as
// many as Stripe's list of events filters by.
func handled() []string {
	return []string{
		"checkout.session.completed", "checkout.session.expired", "checkout.session.async_payment_succeeded",
		"checkout.session.async_payment_failed", "payment_intent.succeeded", "charge.refunded", "refund.created",
		"refund.updated", "refund.failed", "charge.refund.updated", "charge.dispute.created", "charge.dispute.closed",
	}
}

// Handled reports whether events of this type change anything here.
func Handled(kind string) bool { return slices.Contains(handled(), kind) }
