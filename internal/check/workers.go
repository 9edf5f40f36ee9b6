package check

// lived is false for a while after all data was moved into the past (package
// age): what is overdue then became so at that moment.
const lived = ` AND NOT EXISTS (SELECT FROM clock_shifts WHERE at > now() - interval '15 minutes')`

// punctuality is what is true while workers run: nothing is overdue by more
// than a quarter of an hour.
func punctuality() []invariant {
	return []invariant{
		{"no deadline is overdue by more than 15 minutes", `
			SELECT format('rental %s is still %s', id, state) FROM rentals
			WHERE ((state IN ('held', 'paying', 'ended') AND leased_until < now() - interval '15 minutes')
			   OR (state = 'paid' AND COALESCE(live_from, approve_by) < now() - interval '15 minutes')
			   OR (state = 'live' AND ends_at < now() - interval '15 minutes'))` + lived},
		{"no blocked area is overdue by more than 15 minutes", `
			SELECT format('blocked area %s', id) FROM blocked_areas
			WHERE closed_at IS NULL AND until < now() - interval '15 minutes'` + lived},
	}
}

// waiting is the jobs that will still run.
const waiting = `
WITH waiting AS (
    SELECT kind, args, state, scheduled_at FROM river_job WHERE state IN ('available', 'scheduled', 'retryable', 'running', 'pending')
) `

// workload is that every state that needs a job has one.
func workload() []invariant {
	return []invariant{
		{"every rental that time will move has a job for that time", waiting + `
			SELECT format('rental %s (%s, %s)', r.id, r.state, r.due) FROM (
				SELECT id, state, CASE state WHEN 'paid' THEN COALESCE(live_from, approve_by) WHEN 'live' THEN ends_at ELSE leased_until END AS due
				FROM rentals WHERE state <> 'closed') r
			WHERE NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'settle' AND (args ->> 'rental')::bigint = r.id
				AND scheduled_at <= GREATEST(r.due, now()) + interval '15 minutes' AND (scheduled_at >= r.due OR state <> 'scheduled'))`},
		{"every blocked area has a job for its end", waiting + `
			SELECT format('blocked area %s', a.id) FROM blocked_areas a
			WHERE a.closed_at IS NULL AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'unblock' AND (args ->> 'area')::bigint = a.id)`},
		{"every open payment page has a job for its end", waiting + `
			SELECT format('payment %s', p.id) FROM payments p
			WHERE p.state = 'open' AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'end_checkout' AND (args ->> 'payment')::bigint = p.id)`},
		{"every refund that Stripe does not know yet has a job", waiting + `
			SELECT format('refund %s', f.id) FROM refunds f
			WHERE f.state = 'pending' AND f.stripe_id IS NULL AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'make_refund' AND (args ->> 'refund')::bigint = f.id)`},
		{"every event that is not applied yet has a job", waiting + `
			SELECT format('event %s', e.id) FROM stripe_events e
			WHERE e.applied_at IS NULL AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'apply_event' AND args ->> 'event' = e.id)`},
		{"every mail that is not sent yet has a job", waiting + `
			SELECT format('mail %s', m.id) FROM mails m
			WHERE m.sent_at IS NULL AND m.dropped_at IS NULL AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'send_mail' AND (args ->> 'mail')::bigint = m.id)`},
	}
}
