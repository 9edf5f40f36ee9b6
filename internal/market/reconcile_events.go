package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/gateway"
)

// How Stripe's events are read: from a while before the newest that was read,
// since they may be listed late; the first time for a few days, as long as
// Stripe tries to deliver; after an outage in windows, so that what was read
// stays read.
const (
	eventOverlap = 30 * time.Minute
	firstLook    = 3 * 24 * time.Hour
	eventWindow  = 12 * time.Hour
	// A webhook may still be on its way for so long: it is received here all
	// the same, but is no finding.
	webhookLag = 5 * time.Minute
)

// eventsMissed receives what happened at Stripe and did not reach us. Its
// effects come by the jobs of the events, as those of a webhook do.
func (p *pass) eventsMissed(ctx context.Context) error {
	const sql = `SELECT COALESCE(events_read - @overlap::interval, now() - @first::interval), now() FROM reconcile_position`
	var from, now time.Time
	err := p.pool.QueryRow(ctx, sql, pgx.NamedArgs{"overlap": eventOverlap, "first": firstLook}).Scan(&from, &now)
	if err != nil {
		return db.Explain("reconcile: read the position", err)
	}
	missed := 0
	for err == nil && from.Before(now) {
		to := from.Add(eventWindow)
		var n int
		if to.Before(now) {
			n, err = p.eventsBetween(ctx, from, to, now)
		} else {
			n, err = p.eventsBetween(ctx, from, time.Time{}, now) // to the end, by whatever clock
		}
		missed, from = missed+n, to
	}
	return errors.Join(err, p.noteMissed(ctx, missed, now))
}

// eventsBetween reads one window, to its end when to is zero, and remembers
// that it was read. It counts those that a webhook should have brought.
func (p *pass) eventsBetween(ctx context.Context, from, to, now time.Time) (missed int, err error) {
	all, err := p.stripe.Events(ctx, from, to)
	if err != nil {
		return 0, err
	}
	known, err := p.knownEvents(ctx, all)
	if err != nil {
		return 0, err
	}
	for _, e := range all {
		if known[e.ID] {
			continue
		}
		if err := p.receiveListed(ctx, e); err != nil {
			return missed, err
		}
		if e.Created.Before(now.Add(-webhookLag)) {
			missed++
		}
	}
	read := now.Add(-time.Hour) // our clock and Stripe's may differ
	if !to.IsZero() {
		read = to
	} else if len(all) > 0 {
		read = latest(read, all[len(all)-1].Created)
	}
	_, err = p.pool.Exec(ctx, `UPDATE reconcile_position SET events_read = GREATEST(events_read, $1)`, read)
	return missed, db.Explain("reconcile: keep the position", err)
}

func (p *pass) knownEvents(ctx context.Context, all []gateway.Listed) (map[string]bool, error) {
	known := map[string]bool{}
	for len(all) > 0 {
		n := min(len(all), batch)
		ids := make([]string, n)
		for i, e := range all[:n] {
			ids[i] = e.ID
		}
		rows, err := p.pool.Query(ctx, sqlKnownEvents, ids)
		if err != nil {
			return nil, db.Explain("reconcile: look for events", err)
		}
		var id string
		if _, err := pgx.ForEachRow(rows, []any{&id}, func() error { known[id] = true; return nil }); err != nil {
			return nil, db.Explain("reconcile: look for events", err)
		}
		all = all[n:]
	}
	return known, nil
}

const sqlKnownEvents = `SELECT e.id FROM unnest($1::text[]) AS l(id) CROSS JOIN LATERAL (
	SELECT id FROM stripe_events WHERE id = l.id OFFSET 0) e`

func (p *pass) receiveListed(ctx context.Context, e gateway.Listed) error {
	if e.Err == nil {
		return p.Receive(ctx, e.Event, e.Payload)
	}
	p.log.ErrorContext(ctx, "event of Stripe's cannot be read", "event", e.ID, "error", e.Err)
	return p.Report(ctx, Anomaly{
		Kind: "event unreadable", Fact: "event unreadable:" + e.ID,
		Message: fmt.Sprintf("Stripe lists an event of type %s that cannot be read. It was left out.", e.Type),
		Action:  "Look at the event at Stripe, and book by hand what it tells of.",
	})
}

// noteMissed makes one finding a day of all events that were missed.
func (p *pass) noteMissed(ctx context.Context, missed int, now time.Time) error {
	if missed == 0 {
		return nil
	}
	p.log.WarnContext(ctx, "events were not received by webhook", "count", missed)
	return p.note(ctx, found{
		kind: findEvents, fact: findEvents + ":" + now.UTC().Format(time.DateOnly),
		done: fmt.Sprintf("%d fetched from Stripe", missed),
	})
}
