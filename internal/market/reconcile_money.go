package market

import (
	"context"
	"fmt"
	"time"

	"tuval/internal/db"
	"tuval/internal/jobs"
	"tuval/internal/payment"
)

// sqlOpenPayments walks the payments that can be paid. An hour after the job
// of a page's end was given up, Stripe is asked again.
func sqlOpenPayments() string {
	return `
	SELECT p.id, p.rental_id, p.expires_at, p.expires_at < ` + late + `, ` +
		jobsAbout("end_checkout", "payment", "p.id", unworked+` OR `+dead+` AND j.finalized_at > now() - interval '1 hour'`) + ` = 0
	FROM (SELECT id, rental_id, expires_at FROM payments WHERE state IN ('open', 'processing') AND state = 'open' AND (expires_at, id) > ($1, $2)
	      ORDER BY expires_at, id LIMIT $3) p ORDER BY p.expires_at, p.id`
}

type openPayment struct {
	ID      int64
	Claim   int64
	Expires time.Time
	Late    bool
	Missing bool // the job for the end of its page
}

// payments sees to it that every open payment comes to an end, and looks at
// those whose money is under way.
func (p *pass) payments(ctx context.Context) error {
	last := openPayment{Expires: time.Unix(0, 0)}
	for {
		ps, err := list[openPayment](ctx, p.pool, sqlOpenPayments(), last.Expires, last.ID, batch)
		if err != nil {
			return err
		}
		if len(ps) == 0 {
			return p.processing(ctx)
		}
		last = ps[len(ps)-1]
		for _, o := range ps {
			if !o.Late && !o.Missing {
				continue
			}
			if err := p.note(ctx, p.unended(o)); err != nil {
				return err
			}
		}
	}
}

// unended is a payment that is open for too long, or will be.
func (p *pass) unended(o openPayment) found {
	f := found{
		kind: findJob, fact: fmt.Sprintf("job missing:end_checkout:%d", o.ID), claim: o.Claim, payment: payment.ID(o.ID),
		done: "a job is at it",
	}
	if o.Late {
		f.kind, f.fact = findUnfinished, fmt.Sprintf("%s:%d", findUnfinished, o.ID)
	}
	if o.Missing {
		f.repair = func(ctx context.Context) (string, error) {
			at := o.Expires.Add(p.rules.askAfter())
			return "a job asks Stripe", p.putIn(ctx, jobs.Request{Args: jobs.EndCheckout{Payment: o.ID}, At: at})
		}
	}
	return f
}

// askedPerPass is how many payments under way one pass asks Stripe for.
const askedPerPass = 20

const sqlProcessing = `
	SELECT id, rental_id, created_at < now() - interval '8 days' FROM payments
	WHERE state IN ('open', 'processing') AND state = 'processing' AND expires_at < now() - interval '1 hour' ORDER BY expires_at, id LIMIT $1`

type underWay struct {
	ID      int64
	Claim   int64
	TooLong bool
}

// processing asks Stripe for payments whose money is under way: a webhook
// about its end may have been lost for longer than events are listed.
func (p *pass) processing(ctx context.Context) error {
	us, err := list[underWay](ctx, p.pool, sqlProcessing, askedPerPass)
	if err != nil {
		return err
	}
	for _, u := range us {
		outcome, err := p.ask(ctx, payment.ID(u.ID))
		if err != nil {
			return err
		}
		f := found{kind: findProcessing, fact: fmt.Sprintf("%s:%d", findProcessing, u.ID), claim: u.Claim, payment: payment.ID(u.ID)}
		switch {
		case outcome == Booked || outcome == Returned:
			f.done = "was paid, and is booked"
		case u.TooLong:
			f.done = "still under way at Stripe"
			if err := p.bankTakesLong(ctx, f); err != nil {
				return err
			}
		default:
			continue
		}
		if err := p.note(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) ask(ctx context.Context, id payment.ID) (BookOutcome, error) {
	pay, err := payment.ByID(ctx, p.pool, id)
	if err != nil || pay.SessionID == nil {
		return "", err
	}
	s, err := p.stripe.Get(ctx, *pay.SessionID)
	if err != nil || !s.Paid() {
		return "", err
	}
	return p.Book(ctx, proofOf(s))
}

func (p *pass) bankTakesLong(ctx context.Context, f found) error {
	return p.Report(ctx, Anomaly{
		Kind: findProcessing, Fact: f.fact, Rental: p.rentalOnly(ctx, f.claim), Payment: f.payment,
		Message: "A bank has been making this payment for more than eight days. Its blocks were not kept for longer.",
		Action:  "Look at the payment at Stripe. If it failed there, nothing is owed; if it succeeds, it is booked by itself.",
	})
}

// Refunds that Stripe has and that are not through after an hour are asked
// for. Those without Stripe's id wait for their own job (see missingJobs).
func sqlRefundsWaiting() string {
	return `
	SELECT f.id, p.id, p.rental_id, COALESCE(p.payment_intent, ''), ` + jobsAbout("sync_refunds", "payment_intent", "p.payment_intent", unworked) + ` = 0
	FROM (SELECT id, payment_id FROM refunds WHERE state IN ('pending', 'failed') AND state = 'pending' AND stripe_id IS NOT NULL
	      AND created_at < now() - interval '1 hour' AND id > $1 ORDER BY id LIMIT $2) f JOIN payments p ON p.id = f.payment_id ORDER BY f.id`
}

type waitingRefund struct {
	ID      int64
	Payment int64
	Claim   int64
	Intent  string
	Missing bool // the job that asks
}

func (p *pass) refunds(ctx context.Context) error {
	last := int64(0)
	for {
		rs, err := list[waitingRefund](ctx, p.pool, sqlRefundsWaiting(), last, batch)
		if err != nil {
			return err
		}
		if len(rs) == 0 {
			return p.outstanding(ctx)
		}
		for _, r := range rs {
			last = r.ID
			f := found{
				kind: findRefundWaits, fact: fmt.Sprintf("%s:%d", findRefundWaits, r.ID), claim: r.Claim, patient: true,
				payment: payment.ID(r.Payment), refund: payment.RefundID(r.ID), done: "a job is at it",
			}
			if r.Missing && r.Intent != "" {
				f.repair = func(ctx context.Context) (string, error) {
					return "a job asks Stripe", p.putIn(ctx, jobs.Request{Args: jobs.SyncRefunds{PaymentIntent: r.Intent}})
				}
			}
			if err := p.note(ctx, f); err != nil {
				return err
			}
		}
	}
}

// outstanding lists refunds that failed and that nobody has dealt with, and
// brings their anomalies up again daily.
func (p *pass) outstanding(ctx context.Context) error {
	const sql = `SELECT a.fact, COALESCE(a.rental_id, 0), COALESCE(a.payment_id, 0), COALESCE(a.refund_id, 0) FROM anomalies a
		WHERE a.kind = 'refund failed' AND a.resolved_at IS NULL ORDER BY a.id LIMIT 1000`
	type failed struct {
		Fact                   string
		Claim, Payment, Refund int64
	}
	fs, err := list[failed](ctx, p.pool, sql)
	if err != nil {
		return err
	}
	for _, f := range fs {
		err := p.note(ctx, found{
			kind: findRefundFailed, fact: findRefundFailed + ":" + f.Fact, claim: f.Claim,
			payment: payment.ID(f.Payment), refund: payment.RefundID(f.Refund), done: "waits for an admin",
		})
		if err != nil {
			return err
		}
	}
	const daily = `UPDATE anomalies SET last_seen = now()
		WHERE kind = 'refund failed' AND resolved_at IS NULL AND last_seen < now() - interval '1 day'`
	_, err = p.pool.Exec(ctx, daily)
	return db.Explain("reconcile: refunds outstanding", err)
}
