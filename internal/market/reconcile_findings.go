package market

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// What can be found. Above zero for long, each means a fault in the main path,
// but for those that say otherwise.
const (
	findEvents       = "events not received"     // the webhook is not set up, or did not reach us
	findUnfinished   = "payment not ended"       // open long after its page's end
	findProcessing   = "payment processing long" // the bank takes more than eight days
	findUnpaid       = "unpaid lease over"       // by more than 15 min, like the next five
	findApproval     = "approval window over"    //
	findGoLive       = "go-live missed"          //
	findEnd          = "end missed"              //
	findRenewal      = "renewal window over"     //
	findBlocked      = "blocked area over"       //
	findRefundWaits  = "refund waits"            // at Stripe, for more than an hour; some banks take days
	findRefundFailed = "refund outstanding"      // until somebody resolves its anomaly
	findJob          = "job missing"             //
	findUnapplied    = "event not applied"       // and no job will
	findBlocks       = "blocks differ"           // from the rental's state
	findLedgerBlocks = "ledger's blocks differ"  // from the blocks taken
	findLedgerMoney  = "ledger's money differs"  // from payments and refunds
	findCounter      = "capacity counter differs"
)

// Finding is a fact that reconciliation found. It is over when a later pass
// did not find it any more.
type Finding struct {
	Kind       string
	Fact       string
	Rental     rental.ID
	RentalKey  string
	Payment    payment.ID
	PaymentKey string
	Refund     payment.RefundID
	RefundKey  string
	Done       string
	Times      int // in how many passes in a row
	FirstSeen  time.Time
	LastSeen   time.Time
	Over       *time.Time
}

// Findings lists what was found, the newest first.
func (m *Market) Findings(ctx context.Context, limit int) ([]Finding, error) {
	const sql = `
		SELECT f.kind, f.fact, COALESCE(f.claim_id, 0), COALESCE(r.key, ''), COALESCE(f.payment_id, 0), COALESCE(p.key, ''),
		       COALESCE(f.refund_id, 0), COALESCE(b.key, ''), f.done, f.times, f.first_seen, f.last_seen, f.over_at
		FROM (SELECT * FROM findings ORDER BY last_seen DESC, id DESC LIMIT $1) f
		LEFT JOIN rentals r ON r.id = f.claim_id LEFT JOIN payments p ON p.id = f.payment_id LEFT JOIN refunds b ON b.id = f.refund_id
		ORDER BY f.last_seen DESC, f.id DESC`
	rows, err := m.pool.Query(ctx, sql, limit)
	if err != nil {
		return nil, db.Explain("market: list findings", err)
	}
	fs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Finding, error) {
		var f Finding
		return f, row.Scan(&f.Kind, &f.Fact, &f.Rental, &f.RentalKey, &f.Payment, &f.PaymentKey, &f.Refund, &f.RefundKey,
			&f.Done, &f.Times, &f.FirstSeen, &f.LastSeen, &f.Over)
	})
	return fs, db.Explain("market: list findings", err)
}

// OpenFindings counts by kind what the last passes found and what is not over.
// Every kind is there, also with 0.
func OpenFindings(ctx context.Context, q db.Querier) (map[string]int, error) {
	counts := map[string]int{}
	for _, s := range steps() {
		for _, kind := range s.kinds {
			counts[kind] = 0
		}
	}
	rows, err := q.Query(ctx, `SELECT kind, count(*) FROM findings WHERE over_at IS NULL GROUP BY kind`)
	if err != nil {
		return nil, db.Explain("market: count findings", err)
	}
	var kind string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&kind, &n}, func() error { counts[kind] = n; return nil })
	return counts, db.Explain("market: count findings", err)
}

// found is a fact of a pass and what is to be done about it.
type found struct {
	kind, fact string
	claim      int64
	payment    payment.ID
	refund     payment.RefundID
	// repair does something about it and says what, in words. nil: nothing can
	// be done, and done says why.
	repair  func(ctx context.Context) (string, error)
	done    string
	patient bool // no fault of ours: nobody is told, however long it takes
}

// inVain is how often in a row a repair is tried at each pass; after that once
// a day, and a person is told.
const inVain = 5

const (
	sqlFind = `
		INSERT INTO findings (fact, kind, claim_id, payment_id, refund_id, pass)
		VALUES (@fact, @kind, NULLIF(@claim, 0::bigint), NULLIF(@payment, 0::bigint), NULLIF(@refund, 0::bigint), @pass)
		ON CONFLICT (fact) DO UPDATE SET last_seen = now(), pass = @pass, over_at = NULL,
		       first_seen  = CASE WHEN findings.over_at IS NULL THEN findings.first_seen ELSE now() END,
		       times       = CASE WHEN findings.over_at IS NULL THEN findings.times + 1 ELSE 1 END,
		       repaired_at = CASE WHEN findings.over_at IS NULL THEN findings.repaired_at END
		RETURNING id, times, COALESCE(repaired_at < now() - interval '1 day', true)`

	sqlDid = `UPDATE findings SET done = $2, repaired_at = CASE WHEN $3 THEN now() ELSE repaired_at END WHERE id = $1`
)

// note stores what was found and repairs it, one by one, and counts. A repair
// that fails does not keep the next from being tried.
func (p *pass) note(ctx context.Context, fs ...found) error {
	for _, f := range fs {
		var id int64
		var times int
		var rested bool
		err := p.pool.QueryRow(ctx, sqlFind, pgx.NamedArgs{
			"fact": f.fact, "kind": f.kind, "claim": f.claim, "payment": int64(f.payment), "refund": int64(f.refund), "pass": p.id,
		}).Scan(&id, &times, &rested)
		if err != nil {
			return db.Explain("reconcile: note a finding", err)
		}
		tried := f.repair != nil && (times <= inVain || rested)
		if tried {
			f.done = p.repaired(ctx, f)
		}
		p.tally(f)
		if f.repair != nil && times > inVain && !f.patient {
			if err := p.givenUp(ctx, f, times); err != nil {
				return err
			}
		}
		if f.repair != nil && !tried {
			continue // what was done before stands
		}
		if _, err := p.pool.Exec(ctx, sqlDid, id, f.done, tried); err != nil {
			return db.Explain("reconcile: note what was done", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (p *pass) repaired(ctx context.Context, f found) string {
	done, err := f.repair(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "repair failed", "finding", f.fact, "error", err)
		return "could not be repaired yet"
	}
	return done
}

// givenUp tells a person of what repairs did not heal.
func (p *pass) givenUp(ctx context.Context, f found, times int) error {
	return again(ctx, p.pool, Anomaly{
		Kind: "repair in vain", Fact: "repair in vain:" + f.fact, Rental: p.rentalOnly(ctx, f.claim), Payment: f.payment, Refund: f.refund,
		Message: fmt.Sprintf("Reconciliation has found this %d times in a row, though it was repaired: %s.", times, f.kind),
		Action:  "See the jobs of it and the log for the cause. It is tried once a day.",
	})
}

// rentalOnly is the claim when it is a rental's, and 0 when not.
func (p *pass) rentalOnly(ctx context.Context, claim int64) rental.ID {
	var id rental.ID
	if err := p.pool.QueryRow(ctx, `SELECT id FROM rentals WHERE id = $1`, claim).Scan(&id); err != nil {
		return 0
	}
	return id
}

// tally counts a finding; of different things that were done about one kind
// the last stands.
func (p *pass) tally(f found) {
	for i := range p.tallies {
		if t := &p.tallies[i]; t.Kind == f.kind {
			t.Count++
			if f.done != "" {
				t.Done = f.done
			}
			return
		}
	}
	p.tallies = append(p.tallies, Tally{Kind: f.kind, Count: 1, Done: f.done})
}

// over marks what this pass did not find any more.
func (p *pass) over(ctx context.Context, kinds []string) error {
	const sql = `UPDATE findings SET over_at = now() WHERE over_at IS NULL AND kind = ANY($1) AND pass < $2`
	_, err := p.pool.Exec(ctx, sql, kinds, p.id)
	return db.Explain("reconcile: mark what is over", err)
}

// again reports an anomaly that opens anew when it is found again after
// somebody resolved it.
func again(ctx context.Context, q db.Querier, a Anomaly) error {
	if err := reportTx(ctx, q, a); err != nil {
		return err
	}
	const open = `UPDATE anomalies SET resolved_at = NULL, resolved_by = '', done = '', message = $2
		WHERE fact = $1 AND (resolved_at IS NOT NULL OR message <> $2)`
	_, err := q.Exec(ctx, open, a.Fact, a.Message)
	return db.Explain("market: open an anomaly again", err)
}
