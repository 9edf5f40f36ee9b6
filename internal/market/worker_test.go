package market_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/market"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// sign signs a payload as Stripe does.
func sign(payload []byte, secret string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), payload)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// job is one that somebody works.
type job struct {
	ID      int64
	Kind    string
	Args    json.RawMessage
	Attempt int
}

// work works off every job that is due, as workers do, until none is; failed
// ones are tried again when a second has passed. Only mails stay where they
// are. It returns what failed.
func (w *world) work() []error {
	w.t.Helper()
	var failed []error
	for {
		done, err := w.workOne(w.ctx(), w.m)
		if err != nil {
			failed = append(failed, err)
		}
		if !done {
			return failed
		}
	}
}

// settled works off every job and fails the test if one fails.
func (w *world) settled() {
	w.t.Helper()
	for _, err := range w.work() {
		w.t.Error(err)
	}
}

const takeJob = `
	UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now(), max_attempts = GREATEST(max_attempts, attempt + 1)
	WHERE id = (SELECT id FROM river_job WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= now() AND kind <> 'send_mail'
		ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
	RETURNING id, kind, args, attempt`

// workOne takes one job that is due and does it. It reports whether there was
// one, and how it failed.
func (w *world) workOne(ctx context.Context, m *market.Market) (bool, error) {
	var j job
	err := w.pool.QueryRow(ctx, takeJob).Scan(&j.ID, &j.Kind, &j.Args, &j.Attempt)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take a job: %w", err)
	}
	err = do(ctx, m, j)
	const (
		completed = `UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = $1`
		snoozed   = `UPDATE river_job SET state = 'scheduled', attempt = attempt - 1, scheduled_at = now() + $2 WHERE id = $1`
		retryable = `UPDATE river_job SET state = 'retryable', scheduled_at = now() + interval '1 second' WHERE id = $1`
	)
	var early market.NotYet
	switch {
	case err == nil:
		_, err = w.pool.Exec(ctx, completed, j.ID)
	case errors.As(err, &early):
		_, err = w.pool.Exec(ctx, snoozed, j.ID, early.Wait+time.Millisecond)
	default:
		_, writeErr := w.pool.Exec(ctx, retryable, j.ID)
		err = errors.Join(fmt.Errorf("%s %s: %w", j.Kind, j.Args, err), writeErr)
	}
	return true, err
}

// do is what package workers does with a job.
func do(ctx context.Context, m *market.Market, j job) error {
	var a struct {
		Rental, Payment, Refund, Area int64
		Event, Why                    string
		Intent                        string `json:"payment_intent"`
	}
	if err := json.Unmarshal(j.Args, &a); err != nil {
		return err
	}
	switch j.Kind {
	case "settle":
		return m.Settle(ctx, rental.ID(a.Rental))
	case "remind":
		return m.Remind(ctx, rental.ID(a.Rental), a.Why)
	case "end_checkout":
		return m.EndCheckout(ctx, payment.ID(a.Payment), j.Attempt)
	case "expire_session":
		return m.ExpireSession(ctx, payment.ID(a.Payment), j.Attempt)
	case "make_refund":
		return m.MakeRefund(ctx, payment.RefundID(a.Refund))
	case "sync_refunds":
		return m.SyncRefunds(ctx, a.Intent)
	case "unblock":
		return m.BlockOver(ctx, a.Area)
	case "apply_event":
		_, _, err := m.ApplyEvent(ctx, a.Event)
		return err
	}
	return fmt.Errorf("nobody works %s", j.Kind)
}
