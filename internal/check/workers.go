package check

// punctuality is what is true while workers run: nothing is overdue by more
// than a quarter of an hour.
func punctuality() []invariant {
	return []invariant{
		{"no deadline is overdue by more than 15 minutes", `
			SELECT format('rental %s is still %s', id, state) FROM rentals
			WHERE (state IN ('held', 'paying', 'ended') AND leased_until < now() - interval '15 minutes')
			   OR (state = 'paid' AND COALESCE(live_from, approve_by) < now() - interval '15 minutes')
			   OR (state = 'live' AND ends_at < now() - interval '15 minutes')`},
		{"no blocked area is overdue by more than 15 minutes", `
			SELECT format('blocked area %s', id) FROM blocked_areas
			WHERE closed_at IS NULL AND until < now() - interval '15 minutes'`},
	}
}

// waiting is the jobs that will still run.
const waiting = `
WITH waiting AS (
    SELECT kind, args FROM river_job WHERE state IN ('available', 'scheduled', 'retryable', 'running', 'pending')
) `

// workload is that every state that needs a job has one.
func workload() []invariant {
	return []invariant{
		{"every rental that time will move has a job for it", waiting + `
			SELECT format('rental %s (%s)', r.id, r.state) FROM rentals r
			WHERE r.state <> 'closed' AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'settle' AND (args ->> 'rental')::bigint = r.id)`},
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
			WHERE m.sent_at IS NULL AND NOT EXISTS (
				SELECT FROM waiting WHERE kind = 'send_mail' AND (args ->> 'mail')::bigint = m.id)`},
	}
}
