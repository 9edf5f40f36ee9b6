package check

import "tuval/internal/capacity"

// open is every claim that is not over.
const open = `
WITH open AS (
    SELECT id, x, y, w, h, leased_until FROM rentals WHERE state <> 'closed'
    UNION ALL
    SELECT id, x, y, w, h, until FROM blocked_areas WHERE closed_at IS NULL
) `

func structure() []invariant {
	return []invariant{
		{"the grid has 10,000 blocks, each once", `
			SELECT format('%s rows', count(*)) FROM blocks HAVING count(*) <> 10000`},
		{"a claim that is not over owns exactly its rect", open + `
			SELECT format('claim %s owns %s of %s blocks', o.id, count(b.claim_id), o.w * o.h)
			FROM open o LEFT JOIN blocks b ON b.claim_id = o.id
			 AND b.x >= o.x AND b.x < o.x + o.w AND b.y >= o.y AND b.y < o.y + o.h
			GROUP BY o.id, o.w, o.h HAVING count(b.claim_id) <> o.w * o.h`},
		{"no block outside a rect belongs to its claim", open + `
			SELECT format('block %s,%s belongs to claim %s', b.x, b.y, b.claim_id)
			FROM blocks b JOIN open o ON o.id = b.claim_id
			WHERE NOT (b.x >= o.x AND b.x < o.x + o.w AND b.y >= o.y AND b.y < o.y + o.h)`},
		{"no block belongs to a claim that is over", open + `
			SELECT format('block %s,%s belongs to claim %s', b.x, b.y, b.claim_id)
			FROM blocks b WHERE b.claim_id IS NOT NULL AND NOT EXISTS (SELECT FROM open o WHERE o.id = b.claim_id)`},
		{"no block has a lease without a claim", `
			SELECT format('block %s,%s until %s', x, y, leased_until) FROM blocks WHERE claim_id IS NULL AND leased_until > 'epoch'`},
		{"blocks and rentals agree on the lease", open + `
			SELECT DISTINCT format('claim %s: %s and %s', o.id, o.leased_until, b.leased_until)
			FROM blocks b JOIN open o ON o.id = b.claim_id WHERE b.leased_until <> o.leased_until`},
		{"a lease is what its state says", `
			SELECT format('rental %s is %s until %s', id, state, leased_until) FROM rentals
			WHERE (state = 'paid' AND live_from IS NULL AND leased_until <> approve_by)
			   OR (live_from IS NOT NULL AND state IN ('paid', 'live') AND leased_until < ends_at)
			   OR (state = 'ended' AND leased_until < reserved_until)
			   OR (state = 'ended' AND leased_until > reserved_until + interval '1 day' AND NOT EXISTS (
			           SELECT FROM payments p WHERE p.rental_id = rentals.id AND p.state = 'processing'))
			   OR (state IN ('held', 'paying') AND leased_until > counted_from + interval '1 day' AND NOT EXISTS (
			           SELECT FROM payments p WHERE p.rental_id = rentals.id AND p.state = 'processing'))`},
		{"a first payment buys one rental", `
			SELECT format('rental %s has %s', rental_id, count(*)) FROM payments
			WHERE purpose = 'new' AND outcome = 'applied' GROUP BY rental_id HAVING count(*) > 1`},
		{"what went back in full does not count, and what counts has not gone back", `
			SELECT format('payment %s', p.id) FROM payments p LEFT JOIN refunds f ON f.payment_id = p.id AND f.state <> 'failed'
			WHERE p.outcome = 'applied' AND p.unwound_at IS NULL GROUP BY p.id HAVING COALESCE(sum(f.amount), 0) >= p.amount
			UNION ALL
			SELECT format('payment %s', p.id) FROM payments p LEFT JOIN refunds f ON f.payment_id = p.id
			WHERE p.unwound_at IS NOT NULL GROUP BY p.id HAVING COALESCE(sum(f.amount), 0) < p.amount`},
		{"the time of a rental is the weeks that count", `
			SELECT format('rental %s from %s to %s', r.id, r.live_from, r.ends_at) FROM rentals r
			WHERE r.live_from IS NOT NULL AND NOT EXISTS (
				SELECT FROM payments p WHERE p.rental_id = r.id AND (p.unwound_at IS NOT NULL OR p.purpose = 'renew' AND p.outcome = 'applied'))
			AND r.ends_at <> r.live_from + interval '168 hours' * (
				SELECT sum(p.weeks) FROM payments p WHERE p.rental_id = r.id AND p.outcome = 'applied')`},
		{"a rental is paid exactly when a payment bought it", `
			SELECT format('rental %s', r.id) FROM rentals r
			WHERE (r.paid_at IS NOT NULL) <> EXISTS (SELECT FROM payments p WHERE p.rental_id = r.id AND p.outcome = 'applied')`},
		{"money that bought nothing goes back in full", `
			SELECT format('payment %s', p.id) FROM payments p LEFT JOIN refunds f ON f.payment_id = p.id
			WHERE p.outcome = 'returned' GROUP BY p.id, p.amount HAVING COALESCE(sum(f.amount), 0) < p.amount`},
		{"money of a rental that was closed for our part goes back in full", `
			SELECT format('payment %s of rental %s (%s)', p.id, r.id, r.closed_reason)
			FROM payments p JOIN rentals r ON r.id = p.rental_id LEFT JOIN refunds f ON f.payment_id = p.id
			WHERE p.outcome = 'applied' AND r.closed_reason IN ('unapproved', 'cancelled', 'refunded')
			GROUP BY p.id, p.amount, r.id, r.closed_reason HAVING COALESCE(sum(f.amount), 0) < p.amount`},
		{"refunds do not exceed their payment", `
			SELECT format('payment %s: %s of %s', p.id, sum(f.amount), p.amount)
			FROM payments p JOIN refunds f ON f.payment_id = p.id AND f.state <> 'failed'
			GROUP BY p.id HAVING sum(f.amount) > p.amount`},
		{"refunds are in the currency of their payment", `
			SELECT format('refund %s', f.id) FROM refunds f JOIN payments p ON p.id = f.payment_id WHERE f.currency <> p.currency`},
		{"the ledger's blocks are the blocks taken", open + `
			SELECT format('claim %s: ledger %s, taken %s', l.claim_id, l.sum, COALESCE(o.w * o.h, 0))
			FROM (SELECT claim_id, sum(blocks) FROM ledger WHERE claim_id IS NOT NULL GROUP BY claim_id) l
			FULL JOIN open o ON o.id = l.claim_id WHERE COALESCE(l.sum, 0) <> COALESCE(o.w * o.h, 0)`},
		{"the ledger's money is the money kept", `
			SELECT format('payment %s: ledger %s, kept %s', COALESCE(l.payment_id, k.id), l.sum, k.kept)
			FROM (SELECT payment_id, sum(amount) FROM ledger WHERE amount <> 0 GROUP BY payment_id) l
			FULL JOIN (SELECT p.id, p.amount - COALESCE((SELECT sum(f.amount) FROM refunds f
			                                             WHERE f.payment_id = p.id AND f.state <> 'failed'), 0)
			                       - COALESCE((SELECT sum(d.amount) FROM disputes d WHERE d.payment_id = p.id AND d.state <> 'won'), 0) AS kept
			           FROM payments p WHERE p.state = 'paid') k ON k.id = l.payment_id
			WHERE COALESCE(l.sum, 0) <> COALESCE(k.kept, 0)`},
		{"nothing that is paid can be paid again by its first page", `
			SELECT format('payment %s of rental %s', p.id, r.id) FROM payments p JOIN rentals r ON r.id = p.rental_id
			WHERE p.state = 'open' AND p.purpose = 'new' AND r.paid_at IS NOT NULL`},
		{"a closed rental is not for sale, but one that lapsed until Stripe was asked", `
			SELECT format('payment %s of rental %s (%s)', p.id, r.id, r.closed_reason)
			FROM payments p JOIN rentals r ON r.id = p.rental_id
			WHERE p.state = 'open' AND r.state = 'closed' AND r.closed_reason <> 'expired'`},
		{"nothing is live without an approved picture", `
			SELECT format('rental %s', r.id) FROM rentals r
			WHERE r.live_from IS NOT NULL AND NOT EXISTS (SELECT FROM creatives c WHERE c.rental_id = r.id AND c.state = 'approved')`},
		{"no closed rental waits for a review", `
			SELECT format('rental %s', r.id) FROM rentals r JOIN creatives c ON c.rental_id = r.id
			WHERE r.state = 'closed' AND c.state = 'pending'`},
		{"every rental began with one hold", `
			SELECT format('rental %s: %s', r.id, count(l.id)) FROM rentals r
			LEFT JOIN ledger l ON l.claim_id = r.id AND l.kind = 'hold.placed' GROUP BY r.id HAVING count(l.id) <> 1`},
		{"what the ledger tells of is there", `
			SELECT format('event %s: claim %s, payment %s, refund %s', l.id, l.claim_id, l.payment_id, l.refund_id) FROM ledger l
			WHERE (l.claim_id IS NOT NULL AND NOT EXISTS (SELECT FROM rentals r WHERE r.id = l.claim_id)
			       AND NOT EXISTS (SELECT FROM blocked_areas a WHERE a.id = l.claim_id))
			   OR (l.payment_id IS NOT NULL AND NOT EXISTS (SELECT FROM payments p WHERE p.id = l.payment_id))
			   OR (l.refund_id IS NOT NULL AND NOT EXISTS (SELECT FROM refunds f WHERE f.id = l.refund_id))`},
		{"the counters of capacity are what is entered", `
			SELECT format('%s at %s: counted %s, entered %s', COALESCE(c.metric, s.metric), COALESCE(c.bucket, s.bucket), c.used, s.used)
			FROM capacity_counters c FULL JOIN (` + capacity.SumSQL + `) s ON s.metric = c.metric AND s.bucket = c.bucket
			WHERE COALESCE(c.used, 0) <> COALESCE(s.used, 0)`},
		{"what is entered in capacity is what the ledger says", `
			SELECT format('rental %s at %s: ledger %s, entered %s blocks', COALESCE(l.claim_id, e.rental_id), COALESCE(l.effective_at, e.due), l.sum, e.blocks)
			FROM (SELECT claim_id, effective_at, sum(w * h * CASE kind WHEN 'slot.taken' THEN 1 ELSE -1 END) FROM ledger
			      WHERE kind IN ('slot.taken', 'slot.returned') GROUP BY claim_id, effective_at) l
			FULL JOIN capacity_entries e ON e.rental_id = l.claim_id AND e.due = l.effective_at
			WHERE COALESCE(l.sum, 0) <> COALESCE(e.blocks, 0)`},
		{"a place in capacity is given back with its rental", `
			SELECT format('rental %s closed at %s, due at %s', r.id, r.closed_at, e.due)
			FROM capacity_entries e JOIN rentals r ON r.id = e.rental_id WHERE e.due = r.go_live_at AND e.due > r.closed_at`},
		{"a go-live time to come has its place", `
			SELECT format('rental %s at %s', r.id, r.go_live_at) FROM rentals r
			WHERE r.state <> 'closed' AND r.go_live_at > now() AND NOT EXISTS (
				SELECT FROM capacity_entries e WHERE e.rental_id = r.id AND e.due = r.go_live_at)`},
		{"the guards of the database are on", `
			SELECT g FROM unnest(ARRAY['blocks_are_fixed', 'claims_stay_whole', 'ledger_is_append_only', 'rentals_stay',
				'payments_stay', 'refunds_stay', 'disputes_stay', 'creatives_stay', 'events_stay', 'blocked_stay',
				'rentals_keep_their_rect', 'blocked_keep_their_rect']) AS g
			WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = g AND t.tgenabled IN ('O', 'A'))`},
	}
}
