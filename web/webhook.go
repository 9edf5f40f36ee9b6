package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"tuval/internal/fault"
	"tuval/internal/gateway"
	"tuval/internal/telemetry"
	"tuval/web/reply"
)

// webhookMax is the most one event may have.
const webhookMax = 1 << 20

// stripe takes an event: verified over the bytes as they came, stored with its
// job in one transaction, then acknowledged. Another copy is as welcome.
func (s *site) stripe(w http.ResponseWriter, r *http.Request) error {
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhookMax))
	if err != nil {
		if long := (*http.MaxBytesError)(nil); !errors.As(err, &long) {
			err = fault.New(fault.Malformed, "The event broke off.").Because(err)
		}
		reply.Fault(w, r, err)
		return nil
	}
	event, err := gateway.Verify(payload, r.Header.Get("Stripe-Signature"), s.Settings.WebhookSecrets)
	if err != nil {
		s.Metrics.Webhooks.WithLabelValues("other", "refused").Inc()
		s.webhookRefused(r.Context(), err)
		reply.Fault(w, r, err)
		return nil
	}
	if err := s.Market.Receive(r.Context(), event, payload); err != nil {
		s.Metrics.Webhooks.WithLabelValues(telemetry.KnownEvent(event.Type), "not stored").Inc()
		reply.Fault(w, r, err)
		return nil
	}
	s.Metrics.Webhooks.WithLabelValues(telemetry.KnownEvent(event.Type), "received").Inc()
	reply.JSON(w, r, http.StatusOK, map[string]bool{"received": true})
	return nil
}

// webhookRefused tells an admin of a delivery that was refused though it looks
// like one of Stripe's, once in a while: anybody can send such.
func (s *site) webhookRefused(ctx context.Context, err error) {
	var why error
	switch {
	case errors.Is(err, gateway.ErrClock):
		why = gateway.ErrClock
	case errors.Is(err, gateway.ErrSecret):
		why = gateway.ErrSecret
	default:
		return
	}
	if !s.refusals.open(time.Now()) {
		return
	}
	if err := s.Market.WebhookRefused(ctx, why.Error()); err != nil {
		s.Log.WarnContext(ctx, "a refused webhook could not be reported", "error", err)
	}
}
