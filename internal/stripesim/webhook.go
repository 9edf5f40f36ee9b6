package stripesim

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
)

// webhookPlan decides how the webhooks of one change are sent, by the faults
// that are set.
type webhookPlan struct {
	asked bool
	batch *string // set when the change's webhooks go last first
	rank  int
}

// send writes the webhooks of one event.
func (p *webhookPlan) send(ctx context.Context, q db.Querier, event, kind string) error {
	if err := p.reorder(ctx, q, event, kind); err != nil {
		return err
	}
	copies, held := 1, false
	for _, k := range []FaultKind{FaultMute, FaultDuplicate, FaultHold} {
		f, err := takeFaultOf(ctx, q, "", kind, k)
		switch {
		case err != nil:
			return err
		case f.Kind == FaultMute:
			return nil
		case f.Kind == FaultDuplicate:
			copies += max(f.Copies, 1)
		case f.Kind == FaultHold:
			held = true
		}
	}
	return insertDeliveries(ctx, q, event, copies, held, p.batch, p.rank)
}

// reorder asks once a change, and from then on counts ranks down.
func (p *webhookPlan) reorder(ctx context.Context, q db.Querier, event, kind string) error {
	p.rank--
	if p.asked {
		return nil
	}
	p.asked = true
	f, err := takeFaultOf(ctx, q, "", kind, FaultReorder)
	if f.Kind == FaultReorder {
		p.batch = &event // any name that no other change has
	}
	return err
}

func insertDeliveries(ctx context.Context, q db.Querier, event string, copies int, held bool, batch *string, rank int) error {
	const insert = `
		INSERT INTO stripesim.deliveries (event, held, batch, rank, next_attempt_at)
		SELECT @event, @held, @batch, @rank, now() FROM generate_series(1, @copies)`
	_, err := q.Exec(ctx, insert, pgx.StrictNamedArgs{"event": event, "held": held, "batch": batch, "rank": rank, "copies": copies})
	return err
}

// delivery is one webhook that this process has taken upon itself to send.
type delivery struct {
	ID       int64
	Event    string
	Attempts int
	Payload  string
	At       time.Time // database time, for the signature
}

// sendLease is how long a webhook belongs to who took it; after a crash
// another process sends it.
const sendLease = 30 * time.Second

// takeDeliveries takes webhooks that are due. One of a batch waits until
// those before it have been tried.
const takeDeliveries = `
	WITH due AS (
		SELECT d.id FROM stripesim.deliveries d
		WHERE d.delivered_at IS NULL AND NOT d.held AND d.next_attempt_at <= now()
			AND (d.sending_until IS NULL OR d.sending_until <= now())
			AND (d.batch IS NULL OR NOT EXISTS (SELECT FROM stripesim.deliveries b
				WHERE b.batch = d.batch AND b.rank < d.rank AND b.attempts = 0))
		ORDER BY d.next_attempt_at, d.id LIMIT @limit FOR UPDATE SKIP LOCKED
	), taken AS (
		UPDATE stripesim.deliveries d SET sending_until = now() + @lease::interval FROM due WHERE d.id = due.id
		RETURNING d.id, d.event, d.attempts
	)
	SELECT t.id, t.event, t.attempts, e.payload, now() AS at
	FROM taken t JOIN stripesim.events e ON e.id = t.event ORDER BY e.seq, t.id`

func (s *Sim) takeDeliveries(ctx context.Context, limit int) ([]*delivery, error) {
	taken, err := many[delivery](ctx, s.o.Pool, takeDeliveries, pgx.StrictNamedArgs{"limit": limit, "lease": sendLease})
	return taken, wrap("stripesim: take webhooks", err)
}

// deliver makes one attempt and writes down how it went.
func (s *Sim) deliver(ctx context.Context, d *delivery) {
	status, err := s.post(ctx, d)
	if err != nil && ctx.Err() != nil {
		return // stopping: the lease ends and another process sends it
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	if err := s.attempted(ctx, d, status, err); err != nil {
		s.o.Logger.Warn("stripesim: could not note a webhook", "event", d.Event, "error", err)
	}
}

// post sends the payload. An error or a status other than 2xx is a failure.
func (s *Sim) post(ctx context.Context, d *delivery) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.WebhookURL, strings.NewReader(d.Payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Tuval-Payment-Simulator/1.0")
	req.Header.Set("Stripe-Signature", Sign([]byte(d.Payload), d.At, s.o.WebhookSecrets...))
	res, err := s.o.HTTPClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // lets the connection be used again
	if res.StatusCode/100 != 2 {
		return res.StatusCode, fmt.Errorf("answered %s", res.Status)
	}
	return res.StatusCode, nil
}

func (s *Sim) attempted(ctx context.Context, d *delivery, status int, failure error) error {
	const update = `
		UPDATE stripesim.deliveries SET attempts = attempts + 1, sending_until = NULL, last_status = @status, last_error = @error,
			delivered_at = CASE WHEN @failed THEN NULL ELSE now() END, next_attempt_at = now() + @gap::interval
		WHERE id = @id AND attempts = @attempts AND delivered_at IS NULL`
	var message *string
	if failure != nil {
		text := printable(failure.Error())
		message = &text
	}
	_, err := s.o.Pool.Exec(ctx, update, pgx.StrictNamedArgs{
		"id": d.ID, "attempts": d.Attempts, "status": orNil(status), "error": message,
		"failed": failure != nil, "gap": s.o.RetryGap(d.Attempts + 1),
	})
	return err
}

// Sign makes the value of the Stripe-Signature header: the time in unix
// seconds and, for each secret, the HMAC-SHA256 over "time.payload".
func Sign(payload []byte, at time.Time, secrets ...string) string {
	t := strconv.FormatInt(at.Unix(), 10)
	header := "t=" + t
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(t + "."))
		mac.Write(payload)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return header
}
