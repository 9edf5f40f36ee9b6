package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/form"
)

// Listed is an event as Stripe's list shows it: what its webhook carried or
// would have carried. Err says why it cannot be read; then only the rest that
// could be is there.
type Listed struct {
	Event
	Payload []byte
	Created time.Time // by Stripe's clock, whole seconds
	Err     error
}

// eventsPerPage is the most that Stripe gives at once.
const eventsPerPage = 100

// eventList is one page of Stripe's list with each event as it came.
type eventList struct {
	stripe.APIResource
	HasMore bool              `json:"has_more"`
	Data    []json.RawMessage `json:"data"`
}

// Events lists the events that change anything here (see Handled) and that
// happened from an instant on, until before another or, when that is zero,
// until now: all pages, the oldest first. Stripe knows those of the last 30
// days. Each page is asked for once.
func (c *Client) Events(ctx context.Context, from, to time.Time) ([]Listed, error) {
	var all []Listed
	after := ""
	for {
		page, err := c.eventsPage(ctx, from, to, after)
		if err != nil {
			return nil, explain("list events", err)
		}
		for _, raw := range page.Data {
			all = append(all, listed(raw))
		}
		if !page.HasMore || len(page.Data) == 0 {
			slices.Reverse(all) // Stripe has the newest first
			return all, nil
		}
		if after = all[len(all)-1].ID; after == "" {
			return nil, explain("list events", errors.New("an event without an id"))
		}
	}
}

func (c *Client) eventsPage(ctx context.Context, from, to time.Time, after string) (*eventList, error) {
	params := &stripe.EventListParams{
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: from.Unix()},
		Types:        stripe.StringSlice(handled()),
	}
	if !to.IsZero() {
		params.CreatedRange.LesserThan = to.Unix()
	}
	if after != "" {
		params.StartingAfter = stripe.String(after)
	}
	params.Context = ctx
	params.Limit = stripe.Int64(eventsPerPage)
	body := &form.Values{}
	form.AppendTo(body, params)
	page := &eventList{}
	err := c.sessions.B.CallRaw(http.MethodGet, "/v1/events", c.sessions.Key, body, params.GetParams(), page)
	return page, err
}

// listed reads one event of the list. One that cannot be read is no reason to
// miss the others.
func listed(raw json.RawMessage) Listed {
	var head struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Created int64  `json:"created"`
	}
	err := json.Unmarshal(raw, &head)
	l := Listed{Event: Event{ID: head.ID, Type: head.Type}, Payload: raw, Created: time.Unix(head.Created, 0).UTC(), Err: err}
	if err != nil {
		return l
	}
	e, err := Parse(raw)
	if err != nil {
		l.Err = fmt.Errorf("gateway: event %s: %w", head.ID, err)
		return l
	}
	l.Event = e
	return l
}
