package app

import (
	"context"
	"time"

	"tuval/internal/market"
	"tuval/internal/telemetry"
)

// wake finds out whether nobody was there for a while and does what must be
// done then before anybody is let in. From then on this process says that it
// is there.
func (s *server) wake(ctx context.Context, pay payments) error {
	m := s.Market(pay.settings)
	o, err := m.Wake(ctx)
	if err != nil {
		return err
	}
	if o.Was {
		s.Log.InfoContext(ctx, "back after an outage", "since", o.Since, "leases prolonged", o.Prolonged)
	}
	s.background(func(ctx context.Context) { s.beat(ctx, m) })
	return nil
}

func (s *server) beat(ctx context.Context, m *market.Market) {
	tick := time.NewTicker(market.BeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := m.Beat(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "no sign of life written", "error", err)
		}
	}
}

// measurePasses reads what reconciliation found.
func (s *server) measurePasses(ctx context.Context, into *telemetry.Market) error {
	var err error
	if into.Findings, err = market.OpenFindings(ctx, s.Pool); err != nil {
		return err
	}
	into.Reconciled, err = market.SinceReconciled(ctx, s.Pool)
	return err
}
