package market

import (
	"context"
	"fmt"
	"slices"

	"tuval/internal/db"
	"tuval/internal/payment"
)

// touchedPerPass bounds how much of the ledger one pass goes through; the rest
// is for the next.
const touchedPerPass = 40 * batch

// sqlTouched reads on in the ledger, below every transaction that still runs:
// ids alone would pass by what commits late.
const sqlTouched = `
	SELECT l.xid::text, l.id, COALESCE(l.claim_id, 0), COALESCE(l.payment_id, 0) FROM ledger l
	WHERE (l.xid, l.id) > ($1::text::xid8, $2) AND l.xid < pg_snapshot_xmin(pg_current_snapshot())
	ORDER BY l.xid, l.id LIMIT $3`

type touched struct {
	Xid     string
	ID      int64
	Claim   int64
	Payment int64
}

// sums compares blocks, rentals, payments and ledger of everything that
// something happened to since the last pass, and of what did not agree then.
// What differs is a fault and is never mended by itself: a person looks.
func (p *pass) sums(ctx context.Context) error {
	at, err := p.position(ctx)
	if err != nil {
		return err
	}
	claims, payments, err := p.stillOpen(ctx)
	if err != nil {
		return err
	}
	for read := 0; ; read += batch {
		ts, err := list[touched](ctx, p.pool, sqlTouched, at.Xid, at.ID, batch)
		if err != nil {
			return err
		}
		for _, t := range ts {
			claims, payments = append(claims, t.Claim), append(payments, t.Payment)
		}
		if err := p.compare(ctx, claims, payments); err != nil {
			return err
		}
		if len(ts) == 0 || read >= touchedPerPass {
			return nil
		}
		at, claims, payments = ts[len(ts)-1], nil, nil
		const keep = `UPDATE reconcile_position SET ledger_xid = $1::text::xid8, ledger_id = $2`
		if _, err := p.pool.Exec(ctx, keep, at.Xid, at.ID); err != nil {
			return db.Explain("reconcile: keep the position", err)
		}
	}
}

// position is where the last pass ended in the ledger. Transactions are
// numbered anew in a database that was restored: then all is read again.
func (p *pass) position(ctx context.Context) (touched, error) {
	const sql = `SELECT CASE WHEN ledger_xid < pg_snapshot_xmax(pg_current_snapshot()) THEN ledger_xid ELSE '0' END::text, ledger_id FROM reconcile_position`
	var at touched
	err := p.pool.QueryRow(ctx, sql).Scan(&at.Xid, &at.ID)
	return at, db.Explain("reconcile: read the position", err)
}

// stillOpen is what did not agree at the last pass.
func (p *pass) stillOpen(ctx context.Context) (claims, payments []int64, err error) {
	const sql = `SELECT COALESCE(claim_id, 0), COALESCE(payment_id, 0) FROM findings WHERE over_at IS NULL AND kind = ANY($1) ORDER BY id LIMIT 1000`
	type ids struct{ Claim, Payment int64 }
	open, err := list[ids](ctx, p.pool, sql, []string{findBlocks, findLedgerBlocks, findLedgerMoney})
	for _, o := range open {
		claims, payments = append(claims, o.Claim), append(payments, o.Payment)
	}
	return claims, payments, err
}

func (p *pass) compare(ctx context.Context, claims, payments []int64) error {
	for ids := range slices.Chunk(distinct(claims), batch) {
		if err := p.compareClaims(ctx, ids); err != nil {
			return err
		}
	}
	for ids := range slices.Chunk(distinct(payments), batch) {
		if err := p.comparePayments(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// distinct sorts ids and leaves out copies and 0, which is nothing.
func distinct(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > 0 && ids[0] == 0 {
		ids = ids[1:]
	}
	return ids
}

// sqlClaims says of claims what they should possess, what they do possess and
// what the ledger says. One statement sees one instant. OFFSET 0 keeps the
// planner from reading whole tables to join them.
const sqlClaims = `
	WITH taken AS MATERIALIZED (
		SELECT claim_id, count(*)::bigint AS n, min(leased_until) AS since, max(leased_until) AS until FROM blocks
		WHERE claim_id = ANY($1) GROUP BY claim_id)
	SELECT c.id, COALESCE(o.n, 0), COALESCE(t.n, 0), COALESCE(l.n, 0),
	       COALESCE(t.n > 0 AND (t.since <> t.until OR t.until IS DISTINCT FROM o.leased_until), false)
	FROM unnest($1::bigint[]) AS c(id)
	LEFT JOIN LATERAL (
		SELECT CASE WHEN state = 'closed' THEN 0 ELSE w * h END::bigint AS n, leased_until FROM rentals WHERE id = c.id
		UNION ALL
		SELECT CASE WHEN closed_at IS NULL THEN w * h ELSE 0 END::bigint, CASE WHEN closed_at IS NULL THEN until END FROM blocked_areas WHERE id = c.id
		OFFSET 0) o ON true
	LEFT JOIN taken t ON t.claim_id = c.id
	LEFT JOIN LATERAL (SELECT sum(blocks)::bigint AS n FROM ledger WHERE claim_id = c.id OFFSET 0) l ON true
	ORDER BY c.id`

type claimSum struct {
	ID                    int64
	Should, Taken, Ledger int64
	OtherLease            bool
}

func (p *pass) compareClaims(ctx context.Context, ids []int64) error {
	cs, err := list[claimSum](ctx, p.pool, sqlClaims, ids)
	if err != nil {
		return err
	}
	for _, c := range cs {
		switch {
		case c.Should != c.Taken:
			err = p.differs(ctx, found{kind: findBlocks, claim: c.ID}, fmt.Sprintf("It should possess %d blocks and possesses %d.", c.Should, c.Taken))
		case c.OtherLease:
			err = p.differs(ctx, found{kind: findBlocks, claim: c.ID}, "Its blocks are leased for another time than it is.")
		case c.Should != c.Ledger:
			err = p.differs(ctx, found{kind: findLedgerBlocks, claim: c.ID}, fmt.Sprintf("It possesses %d blocks; the ledger says %d.", c.Taken, c.Ledger))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sqlPayments says of payments what is kept of them, by payments and refunds
// and by the ledger. Disputes are accounts of their own.
const sqlPayments = `
	SELECT p.id, COALESCE(p.rental_id, 0), COALESCE(p.kept, 0), COALESCE(l.n, 0)
	FROM unnest($1::bigint[]) AS c(id)
	CROSS JOIN LATERAL (
		SELECT id, rental_id, CASE WHEN state = 'paid' THEN amount - (
			SELECT COALESCE(sum(f.amount), 0) FROM refunds f WHERE f.payment_id = c.id AND f.state <> 'failed') END::bigint AS kept
		FROM payments WHERE id = c.id OFFSET 0) p
	LEFT JOIN LATERAL (
		SELECT sum(amount)::bigint AS n FROM ledger WHERE payment_id = c.id AND kind NOT LIKE 'dispute.%' OFFSET 0) l ON true
	WHERE COALESCE(p.kept, 0) <> COALESCE(l.n, 0) OR p.kept < 0 ORDER BY p.id`

type paymentSum struct{ ID, Claim, Kept, Ledger int64 }

func (p *pass) comparePayments(ctx context.Context, ids []int64) error {
	ps, err := list[paymentSum](ctx, p.pool, sqlPayments, ids)
	if err != nil {
		return err
	}
	for _, s := range ps {
		f := found{kind: findLedgerMoney, claim: s.Claim, payment: payment.ID(s.ID)}
		words := fmt.Sprintf("Of this payment %d minor units are kept; the ledger says %d.", s.Kept, s.Ledger)
		if err := p.differs(ctx, f, words); err != nil {
			return err
		}
	}
	return nil
}

// differs notes what does not agree and tells a person.
func (p *pass) differs(ctx context.Context, f found, words string) error {
	f.fact = fmt.Sprintf("%s:%d", f.kind, f.claim)
	if f.payment != 0 {
		f.fact = fmt.Sprintf("%s:%d", f.kind, f.payment)
	}
	f.done = "an admin was told"
	if err := p.note(ctx, f); err != nil {
		return err
	}
	a := Anomaly{
		Kind: f.kind, Fact: f.fact, Rental: p.rentalOnly(ctx, f.claim), Payment: f.payment, Message: words,
		Action: "Nothing was changed. Keep a copy of the database and look for what wrote this; run tuval check for the whole picture.",
	}
	return again(ctx, p.pool, a)
}
