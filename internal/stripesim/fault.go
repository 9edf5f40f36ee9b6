package stripesim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

// FaultKind is a way to misbehave.
type FaultKind string

// The first group changes how a call is answered. Of several that match a
// call the oldest applies, so that a list of them is played in order.
const (
	// FaultServerError answers 500 without acting. Like Stripe's own it is
	// kept under the idempotency key and replayed.
	FaultServerError FaultKind = "server_error"
	// FaultUnavailable refuses before anything begins, with 503 unless
	// Status (and Type, Code, Message) say otherwise. Nothing is kept.
	FaultUnavailable FaultKind = "unavailable"
	// FaultSlow waits for Delay and then goes on as usual, also when the
	// caller has given up by then.
	FaultSlow FaultKind = "slow"
	// FaultDropBefore closes the connection without acting.
	FaultDropBefore FaultKind = "drop_before"
	// FaultDropAfter acts and then closes the connection.
	FaultDropAfter FaultKind = "drop_after"
	// FaultErrorAfter acts and then answers 500, kept under the key.
	FaultErrorAfter FaultKind = "error_after"
	// FaultWebhookFirst acts and answers only when the first attempts at
	// the webhooks it caused are over (5 s at most).
	FaultWebhookFirst FaultKind = "webhook_first"
)

// The second group changes how the webhooks of an event are sent; one of each
// kind applies.
const (
	// FaultDuplicate sends Copies more of a webhook, at once.
	FaultDuplicate FaultKind = "duplicate"
	// FaultReorder sends the webhooks of one change last first.
	FaultReorder FaultKind = "reorder"
	// FaultHold keeps webhooks back until ReleaseWebhooks.
	FaultHold FaultKind = "hold"
	// FaultMute sends no webhooks; the events are in the list.
	FaultMute FaultKind = "mute"
)

// FaultRefundOutcome decides what becomes of a new refund: see Outcome.
const FaultRefundOutcome FaultKind = "refund_outcome"

// Outcome is what becomes of a refund when it is made.
type Outcome string

// The outcomes; without a fault it is OutcomeSucceeded.
const (
	OutcomeSucceeded Outcome = "succeeded"
	OutcomePending   Outcome = "pending" // until SucceedRefund or FailRefund
	OutcomeFailed    Outcome = "failed"  // at once
)

// first is the state in which a refund begins; one that fails does so after.
func (o Outcome) first() Outcome {
	if o == OutcomeFailed {
		return OutcomePending
	}
	return o
}

// Fault is one misbehaviour, with where and how often it happens.
type Fault struct {
	ID   int64     `json:"id,omitempty"`
	Kind FaultKind `json:"kind"`

	// Endpoint limits it to one, written as in the routes: "POST /v1/refunds",
	// "GET /v1/checkout/sessions/{id}", "POST /c/pay/{id}". Empty: any of the
	// API and the pay page; the test controls never misbehave.
	Endpoint string `json:"endpoint,omitempty"`

	// Event limits a webhook fault to one type. Empty: any.
	Event string `json:"event,omitempty"`

	// Count is how often it happens; 0: until ClearFaults.
	Count int `json:"count,omitempty"`

	Delay   Delay   `json:"delay,omitempty"`   // before the call is looked at; any of the first group
	Copies  int     `json:"copies,omitempty"`  // FaultDuplicate; 0 means 1
	Outcome Outcome `json:"outcome,omitempty"` // FaultRefundOutcome

	Status  int    `json:"status,omitempty"` // FaultUnavailable
	Type    string `json:"type,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Delay is a duration that JSON writes as "1.5s".
type Delay time.Duration

// MarshalText writes "1.5s".
func (d Delay) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads "1.5s".
func (d *Delay) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Delay(v)
	return err
}

func callFaults() []FaultKind {
	return []FaultKind{FaultServerError, FaultUnavailable, FaultSlow, FaultDropBefore, FaultDropAfter, FaultErrorAfter, FaultWebhookFirst}
}

func webhookFaults() []FaultKind {
	return []FaultKind{FaultDuplicate, FaultReorder, FaultHold, FaultMute}
}

// longestDelay bounds Delay: an answer later than that is no answer.
const longestDelay = 2 * time.Minute

func (f Fault) check() error {
	known := slices.Concat(callFaults(), webhookFaults(), []FaultKind{FaultRefundOutcome})
	switch {
	case !slices.Contains(known, f.Kind):
		return invalid("kind", "", "Unknown fault: %q; there are %q.", f.Kind, known)
	case f.Kind == FaultRefundOutcome && !slices.Contains([]Outcome{OutcomeSucceeded, OutcomePending, OutcomeFailed}, f.Outcome):
		return invalid("outcome", "", "A refund's outcome is succeeded, pending or failed.")
	case f.Count < 0 || f.Copies < 0 || f.Copies > 1000:
		return invalid("count", "", "Counts are not negative, and copies at most 1000.")
	case f.Delay < 0 || time.Duration(f.Delay) > longestDelay:
		return invalid("delay", "", "A delay is from 0 to %s.", longestDelay)
	case f.Kind == FaultSlow && f.Delay == 0:
		return invalid("delay", "", "How slow? Set delay.")
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return invalid("status", "", "A status is from 400 to 599.")
	}
	return nil
}

// refusal is what FaultUnavailable answers.
func (f Fault) refusal() *Error {
	e := trouble(http.StatusServiceUnavailable)
	if f.Status != 0 {
		e.Status = f.Status
	}
	if f.Status != 0 && f.Status < 500 {
		e.Type = invalidRequest
	}
	if f.Type != "" {
		e.Type = f.Type
	}
	if f.Message != "" {
		e.Message = f.Message
	}
	e.Code = f.Code
	return e
}

// AddFault sets a fault and returns its id. It is in the database: every
// process that runs the simulator misbehaves, Count times in all.
func (s *Sim) AddFault(ctx context.Context, f Fault) (int64, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	const insert = `
		INSERT INTO stripesim.faults (kind, endpoint, event, remaining, settings)
		VALUES (@kind, @endpoint, @event, @remaining, @settings) RETURNING id`
	err := s.o.Pool.QueryRow(ctx, insert, pgx.StrictNamedArgs{
		"kind": f.Kind, "endpoint": f.Endpoint, "event": f.Event, "remaining": orNil(f.Count), "settings": f,
	}).Scan(&f.ID)
	return f.ID, wrap("stripesim: add fault", err)
}

// ClearFaults takes all faults away. Webhooks that are held stay held.
func (s *Sim) ClearFaults(ctx context.Context) error {
	_, err := s.o.Pool.Exec(ctx, `DELETE FROM stripesim.faults`)
	return wrap("stripesim: clear faults", err)
}

// Faults lists the faults that have not been used up.
func (s *Sim) Faults(ctx context.Context) ([]Fault, error) {
	const left = `SELECT id, COALESCE(remaining, 0), settings FROM stripesim.faults WHERE remaining IS NULL OR remaining > 0 ORDER BY id`
	rows, err := s.o.Pool.Query(ctx, left)
	if err != nil {
		return nil, wrap("stripesim: list faults", err)
	}
	faults, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (f Fault, err error) {
		var id int64
		var count int
		var settings json.RawMessage
		if err := r.Scan(&id, &count, &settings); err != nil {
			return f, err
		}
		err = json.Unmarshal(settings, &f)
		f.ID, f.Count = id, count
		return f, err
	})
	return faults, wrap("stripesim: list faults", err)
}

// takeFault uses up one of the oldest fault of these kinds that matches, and
// returns it; the zero Fault means that there is none.
const takeFault = `
	UPDATE stripesim.faults SET remaining = remaining - 1
	WHERE id = (SELECT id FROM stripesim.faults
		WHERE kind = ANY (@kinds) AND (remaining IS NULL OR remaining > 0)
			AND (endpoint = '' OR endpoint = @endpoint) AND (event = '' OR event = @event)
		ORDER BY id LIMIT 1 FOR UPDATE)
	RETURNING settings`

func takeFaultOf(ctx context.Context, q db.Querier, endpoint, event string, kinds ...FaultKind) (Fault, error) {
	type row struct{ Settings Fault }
	taken, err := one[row](ctx, q, takeFault, pgx.StrictNamedArgs{"kinds": kinds, "endpoint": endpoint, "event": event})
	if err != nil {
		return Fault{}, fmt.Errorf("take fault: %w", err)
	}
	if taken == nil {
		return Fault{}, nil
	}
	return taken.Settings, nil
}

func takeOutcome(ctx context.Context, q db.Querier) (Outcome, error) {
	f, err := takeFaultOf(ctx, q, "POST /v1/refunds", "", FaultRefundOutcome)
	if err != nil || f.Kind == "" {
		return OutcomeSucceeded, err
	}
	return f.Outcome, nil
}
