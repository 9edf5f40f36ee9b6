package market

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/payment"
)

// Resolve notes that a person has dealt with an anomaly. It refuses with
// Conflict when somebody did before.
func (m *Market) Resolve(ctx context.Context, key, by string) error {
	return db.InTx(ctx, m.pool, "resolve", func(ctx context.Context, tx pgx.Tx) error {
		_, err := settleAnomaly(ctx, tx, key, by, "dealt with by hand")
		return err
	})
}

// Remedy does what Tuval can do about an anomaly, once: whoever comes second
// is refused with Conflict. It returns in words what was done.
func (m *Market) Remedy(ctx context.Context, key, by string) (string, error) {
	done := ""
	err := db.InTx(ctx, m.pool, "remedy", func(ctx context.Context, tx pgx.Tx) error {
		a, err := anomalyByKey(ctx, tx, key)
		if err != nil {
			return err
		}
		switch a.Remedy {
		case RetryJob:
			done, err = m.retryJob(ctx, tx, a)
		case RefundAgain:
			done, err = m.refundAgain(ctx, tx, a, by)
		case NoRemedy:
			return fault.New(fault.Conflict, "There is nothing that can be done about this by a button.")
		}
		if err != nil {
			return err
		}
		_, err = settleAnomaly(ctx, tx, key, by, done)
		return err
	})
	return done, err
}

func anomalyByKey(ctx context.Context, tx pgx.Tx, key string) (Anomaly, error) {
	as, err := anomalies(ctx, tx, `SELECT `+anomalyColumns+` WHERE a.key = $1`, key)
	if err != nil {
		return Anomaly{}, err
	}
	if len(as) == 0 {
		return Anomaly{}, fault.New(fault.NotFound, "There is no such anomaly.")
	}
	return as[0], nil
}

// settleAnomaly writes that it is over; one conditional statement decides who
// did it.
func settleAnomaly(ctx context.Context, tx pgx.Tx, key, by, done string) (Anomaly, error) {
	a, err := anomalyByKey(ctx, tx, key)
	if err != nil {
		return a, err
	}
	const sql = `UPDATE anomalies SET resolved_at = now(), resolved_by = $2, done = $3 WHERE key = $1 AND resolved_at IS NULL`
	tag, err := tx.Exec(ctx, sql, key, by, done)
	if err != nil {
		return a, db.Explain("market: resolve an anomaly", err)
	}
	if tag.RowsAffected() == 0 {
		return a, fault.New(fault.Conflict, "This was dealt with before: "+a.Done+".")
	}
	return a, nil
}

// retryJob gives a job that was given up one more round of tries.
func (m *Market) retryJob(ctx context.Context, tx pgx.Tx, a Anomaly) (string, error) {
	again, err := m.queue.Retry(ctx, tx, a.Job)
	if err != nil {
		return "", err
	}
	if !again {
		return "", fault.New(fault.Conflict, "The job is gone, or runs already.")
	}
	return "the job is tried again", nil
}

// refundAgain asks anew for a refund that failed, if as much is still left of
// its payment. Together with others it may now be the whole, which takes back
// what the payment bought.
func (m *Market) refundAgain(ctx context.Context, tx pgx.Tx, a Anomaly, by string) (string, error) {
	fx := &effects{}
	r, now, err := lockNow(ctx, tx, a.Rental)
	if err != nil {
		return "", err
	}
	ps, err := payment.LockOfRental(ctx, tx, a.Rental)
	if err != nil {
		return "", err
	}
	p, failed, err := refundThatFailed(ctx, tx, a)
	if err != nil {
		return "", err
	}
	unwound, err := m.refund(ctx, tx, p, failed.Amount.Amount, failed.Reason, by, fx)
	if err != nil {
		return "", err
	}
	if unwound {
		if err := m.takeBack(ctx, tx, r, p, ps, now, by, "", fx); err != nil {
			return "", err
		}
	}
	return "asked for again: " + failed.Amount.String(), m.write(ctx, tx, fx)
}

// refundThatFailed reads what an anomaly speaks of, if it is still owed.
func refundThatFailed(ctx context.Context, tx pgx.Tx, a Anomaly) (payment.Payment, payment.Refund, error) {
	p, err := payment.ByID(ctx, tx, a.Payment)
	if err != nil {
		return p, payment.Refund{}, err
	}
	failed, err := payment.RefundByID(ctx, tx, a.Refund)
	if err != nil {
		return p, failed, err
	}
	rs, err := refundable(ctx, tx, p)
	if err == nil && payment.LeftOf(p, rs) < failed.Amount.Amount {
		err = fault.New(fault.Conflict, "The money has gone back in another way meanwhile.")
	}
	return p, failed, err
}
