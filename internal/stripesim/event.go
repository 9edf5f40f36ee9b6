package stripesim

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Event is what a webhook carries and what the list of events shows.
type Event struct {
	ID              string       `json:"id"`
	Object          string       `json:"object"`
	APIVersion      string       `json:"api_version"`
	Created         int64        `json:"created"`
	Data            EventData    `json:"data"`
	Livemode        bool         `json:"livemode"`
	PendingWebhooks int          `json:"pending_webhooks"`
	Request         EventRequest `json:"request"`
	Type            string       `json:"type"`
}

// EventData is the object as it was when the event happened.
type EventData struct {
	Object             json.RawMessage `json:"object"`
	PreviousAttributes map[string]any  `json:"previous_attributes,omitempty"`
}

// EventRequest is the call that caused the event, if one did.
type EventRequest struct {
	ID             *string `json:"id"`
	IdempotencyKey *string `json:"idempotency_key"`
}

type pendingEvent struct {
	kind     string
	object   json.RawMessage
	previous map[string]any
}

// emit takes a snapshot of the object; the event is written with the others
// at the end of the work. previous may say what changed.
func (w *work) emit(kind string, object any, previous map[string]any) error {
	snapshot, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("snapshot for %s: %w", kind, err)
	}
	w.events = append(w.events, pendingEvent{kind, snapshot, previous})
	return nil
}

// eventsLock makes events appear in the order of their numbers: an id that
// commits late would be missed by whoever pages through the list.
const eventsLock = 0x7475_7661_6c5f_6576

// writeEvents stores the events and their webhooks. It comes last in the
// transaction, so that nothing waits for a row while it holds the lock.
func (w *work) writeEvents(ctx context.Context) error {
	if len(w.events) == 0 {
		return nil
	}
	if _, err := w.tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(eventsLock)); err != nil {
		return err
	}
	plan := webhookPlan{}
	for _, e := range w.events {
		id, err := w.writeEvent(ctx, e)
		if err != nil {
			return err
		}
		w.sent = append(w.sent, id)
		if w.sim.o.WebhookURL == "" {
			continue
		}
		if err := plan.send(ctx, w.tx, id, e.kind); err != nil {
			return err
		}
	}
	return nil
}

const insertEvent = `INSERT INTO stripesim.events (id, created, type, payload) VALUES (@id, @created, @type, @payload)`

func (w *work) writeEvent(ctx context.Context, p pendingEvent) (id string, err error) {
	e := Event{
		ID: newID("evt_"), Object: "event", APIVersion: w.sim.o.APIVersion, Created: w.now.Unix(), Type: p.kind,
		Data: EventData{p.object, p.previous}, PendingWebhooks: w.sim.endpoints(), Request: w.origin.request(),
	}
	payload, err := json.MarshalIndent(e, "", "  ") // Stripe's are indented, too
	if err != nil {
		return "", err
	}
	_, err = w.tx.Exec(ctx, insertEvent, pgx.StrictNamedArgs{
		"id": e.ID, "created": w.now, "type": e.Type, "payload": string(payload),
	})
	return e.ID, err
}

func (s *Sim) endpoints() int {
	if s.o.WebhookURL == "" {
		return 0
	}
	return 1
}

func (o origin) request() EventRequest {
	var r EventRequest
	if o.requestID != "" {
		r.ID = &o.requestID
	}
	if o.key != "" {
		r.IdempotencyKey = &o.key
	}
	return r
}

// storedEvent is a row of the list.
type storedEvent struct {
	ID      string
	Payload string
}

// listEvents is GET /v1/events: the last 30 days, newest first, by created,
// type or types, and delivery_success. A type may end in a star.
func (s *Sim) listEvents(ctx context.Context, c *call) (any, error) {
	p := newScope(c.form)
	p.only("created", "delivery_success", "ending_before", "limit", "starting_after", "type", "types")
	page, created := readPage(p), readCreated(p)
	kinds := p.texts("types")
	if p.has("type") {
		kinds = append(kinds, p.text("type"))
	}
	if p.has("type") && p.has("types") || len(kinds) > 20 {
		p.refuse("types", "", "Pass either type or types, and at most 20 of them.")
	}
	delivered := p.word("delivery_success", "true", "false")
	if *p.err != nil {
		return nil, *p.err
	}
	rows, more, err := list[storedEvent](ctx, s.o.Pool, listing{
		what: "event", table: "stripesim.events", columns: "id, payload", page: page,
		where: `created > now() - interval '30 days' AND (@all OR type LIKE ANY (@kinds))
			AND (@delivered = '' OR (@delivered = 'false') = EXISTS (
				SELECT FROM stripesim.deliveries d WHERE d.event = t.id AND d.delivered_at IS NULL)) AND ` + createdFilter,
		args: created.args(pgx.StrictNamedArgs{"all": len(kinds) == 0, "kinds": likes(kinds), "delivered": delivered}),
	})
	if err != nil {
		return nil, err
	}
	return listOf("/v1/events", more, rows, func(e *storedEvent) (any, error) { return json.RawMessage(e.Payload), nil })
}

// likes turns charge.* into a pattern, with everything else taken literally.
func likes(kinds []string) []string {
	literal := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	patterns := []string{}
	for _, k := range kinds {
		if prefix, wild := strings.CutSuffix(k, "*"); wild {
			patterns = append(patterns, literal.Replace(prefix)+"%")
			continue
		}
		patterns = append(patterns, literal.Replace(k))
	}
	return patterns
}

func (s *Sim) retrieveEvent(ctx context.Context, c *call) (any, error) {
	id := c.r.PathValue("id")
	e, err := one[storedEvent](ctx, s.o.Pool, `SELECT id, payload FROM stripesim.events WHERE id = @id`, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, missing("event", id, "id")
	}
	return json.RawMessage(e.Payload), nil
}
