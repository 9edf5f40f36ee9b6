package stripesim

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

// How long a session can be, from its creation; Stripe's limits.
const (
	shortestSession = 30 * time.Minute
	longestSession  = 24 * time.Hour
)

// sessionColumns reads a session as it is at this instant: one that nobody
// has got round to expiring is expired all the same.
const sessionColumns = `id, amount_total, cancel_url, client_reference_id,
	floor(extract(epoch FROM created))::bigint AS created, currency, customer_email,
	floor(extract(epoch FROM expires_at))::bigint AS expires_at, locale, metadata, payment_intent, payment_method_types,
	payment_status, CASE WHEN status = 'open' AND expires_at <= now() THEN 'expired' ELSE status END AS status,
	submit_type, success_url, payer_email, line_items, intent_metadata, intent_description, decline_message`

const insertSession = `
	INSERT INTO stripesim.sessions (id, created, expires_at, status, payment_status, amount_total, currency,
		client_reference_id, customer_email, metadata, intent_metadata, intent_description, line_items,
		payment_method_types, success_url, cancel_url, locale, submit_type)
	VALUES (@id, @created, @expires_at, 'open', 'unpaid', @amount_total, @currency,
		@client_reference_id, @customer_email, @metadata, @intent_metadata, @intent_description, @line_items,
		@payment_method_types, @success_url, @cancel_url, @locale, @submit_type)
	RETURNING ` + sessionColumns

// createSession is POST /v1/checkout/sessions.
func (s *Sim) createSession(c *call) (action, *Error) {
	n, err := readNewSession(newScope(c.form))
	if err != nil {
		return nil, err
	}
	if err := checkExpand(n.expand, sessionExpansions()); err != nil {
		return nil, err
	}
	return func(ctx context.Context, w *work) (any, error) {
		created, err := w.createSession(ctx, n)
		if err != nil {
			return nil, err
		}
		return created, expandSession(ctx, w.tx, created, n.expand)
	}, nil
}

func (w *work) createSession(ctx context.Context, n newSession) (*Session, error) {
	expires := w.now.Add(longestSession)
	if n.expiresAt != nil {
		expires = *n.expiresAt
	}
	if err := checkExpiry(w.now, expires); err != nil {
		return nil, err
	}
	items, err := json.Marshal(n.items)
	if err != nil {
		return nil, err
	}
	made, err := one[Session](ctx, w.tx, insertSession, pgx.StrictNamedArgs{
		"id": newSessionID(), "created": w.now, "expires_at": expires, "amount_total": n.amount, "currency": n.currency.Code,
		"client_reference_id": n.clientReferenceID, "customer_email": n.customerEmail, "metadata": n.metadata,
		"intent_metadata": n.intentMetadata, "intent_description": n.intentDescription, "line_items": json.RawMessage(items),
		"payment_method_types": n.paymentMethodTypes, "success_url": n.successURL, "cancel_url": n.cancelURL,
		"locale": n.locale, "submit_type": n.submitType,
	})
	if err != nil {
		return nil, err
	}
	return made.complete(w.origin.base), nil
}

// checkExpiry holds the end of a session against its creation, both in whole
// seconds.
func checkExpiry(created, expires time.Time) error {
	switch {
	case expires.Before(created.Add(shortestSession)):
		return invalid("expires_at", "", "The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.")
	case expires.After(created.Add(longestSession)):
		return invalid("expires_at", "", "The `expires_at` timestamp must be at most 24 hours from Checkout Session creation.")
	}
	return nil
}

// findSession reads a session; there is a refusal when it does not exist.
func findSession(ctx context.Context, q db.Querier, id, base string) (*Session, error) {
	found, err := one[Session](ctx, q, `SELECT `+sessionColumns+` FROM stripesim.sessions WHERE id = @id`, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, missing("checkout.session", id, "id")
	}
	return found.complete(base), nil
}

// retrieveSession is GET /v1/checkout/sessions/{id}.
func (s *Sim) retrieveSession(ctx context.Context, c *call) (any, error) {
	paths, err := readExpand(c.form, sessionExpansions())
	if err != nil {
		return nil, err
	}
	found, oops := findSession(ctx, s.o.Pool, c.r.PathValue("id"), c.base)
	if oops != nil {
		return nil, oops
	}
	return found, expandSession(ctx, s.o.Pool, found, paths)
}

// listSessions is GET /v1/checkout/sessions, by payment_intent, status and
// created.
func (s *Sim) listSessions(ctx context.Context, c *call) (any, error) {
	p := newScope(c.form)
	p.only("created", "ending_before", "expand", "limit", "payment_intent", "starting_after", "status")
	page, created := readPage(p), readCreated(p)
	status := p.word("status", statusOpen, statusComplete, statusExpired)
	intent, paths := p.text("payment_intent"), readListExpand(p, sessionExpansions())
	if *p.err != nil {
		return nil, *p.err
	}
	rows, more, err := list[Session](ctx, s.o.Pool, listing{
		what: "checkout.session", table: "stripesim.sessions", columns: sessionColumns, page: page,
		where: `(@intent = '' OR payment_intent = @intent) AND (@status = '' OR @status = CASE
			WHEN status = 'open' AND expires_at <= now() THEN 'expired' ELSE status END) AND ` + createdFilter,
		args: created.args(pgx.StrictNamedArgs{"intent": intent, "status": status}),
	})
	if err != nil {
		return nil, err
	}
	return listOf("/v1/checkout/sessions", more, rows, func(found *Session) (any, error) {
		return found.complete(c.base), expandSession(ctx, s.o.Pool, found, paths)
	})
}

const expireSession = `
	UPDATE stripesim.sessions SET status = 'expired'
	WHERE id = @id AND status = 'open' AND expires_at > now()
	RETURNING ` + sessionColumns

// expireSession is POST /v1/checkout/sessions/{id}/expire.
func (s *Sim) expireSession(c *call) (action, *Error) {
	paths, err := readExpand(c.form, sessionExpansions())
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("id")
	return func(ctx context.Context, w *work) (any, error) {
		ended, err := w.expire(ctx, id)
		if err != nil {
			return nil, err
		}
		return ended, expandSession(ctx, w.tx, ended, paths)
	}, nil
}

func (w *work) expire(ctx context.Context, id string) (*Session, error) {
	ended, err := one[Session](ctx, w.tx, expireSession, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return nil, err
	}
	if ended == nil {
		found, err := findSession(ctx, w.tx, id, w.origin.base)
		if err != nil {
			return nil, err
		}
		return nil, refused("", "", "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of `%s`.", found.Status)
	}
	ended.complete(w.origin.base)
	return ended, w.emit("checkout.session.expired", ended, nil)
}

const expireDue = `
	UPDATE stripesim.sessions SET status = 'expired'
	WHERE id IN (SELECT id FROM stripesim.sessions WHERE status = 'open' AND expires_at <= now()
		ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)
	RETURNING ` + sessionColumns

// expireDue ends the sessions whose time is over, with their events, and
// reports whether there may be more.
func (s *Sim) expireDue(ctx context.Context) (bool, error) {
	n, err := act(ctx, s, "expire sessions", origin{}, func(ctx context.Context, w *work) (int, error) {
		due, err := many[Session](ctx, w.tx, expireDue, pgx.StrictNamedArgs{})
		if err != nil {
			return 0, err
		}
		for _, ended := range due {
			if err := w.emit("checkout.session.expired", ended.complete(w.origin.base), nil); err != nil {
				return 0, err
			}
		}
		return len(due), nil
	})
	return n == 100, err
}
