package app

import (
	"context"
	"time"

	"tuval/internal/capacity"
	"tuval/internal/market"
)

// How the memory of capacity is kept: looked after every second while somebody
// asks, and dropped when nobody has for ten minutes. Should looking fail, an
// answer is at most five seconds old before a question looks by itself.
const (
	capacityEvery = time.Second
	capacityFresh = 5 * time.Second
	capacityIdle  = 10 * time.Minute
)

// capacity makes the process's memory of the limits, which judges new payment
// pages, and keeps it until the process stops.
func (s *server) capacity(m *market.Market) *capacity.Memory {
	c := capacity.NewMemory(s.Pool, m.Rules().Launch, capacity.Options{Clock: time.Now, Fresh: capacityFresh, Idle: capacityIdle})
	m.Measure(c)
	s.background(func(ctx context.Context) {
		tick := time.NewTicker(capacityEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := c.Keep(ctx); err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "the limits of capacity could not be looked after", "error", err)
			}
		}
	})
	return c
}
