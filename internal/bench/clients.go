package main

import (
	"context"
	"fmt"
	"strings"
)

const clientsText = `The turnstile from one client to %d, on the three loads, each client with a connection of its own. The first look is part of
a decision, giving back what was won is not. %s cells, PostgreSQL %s.

%s![decisions a second by number of clients](benchmarks-clients.svg)
`

// clientsSection measures the turnstile with few and many clients.
func clientsSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	counts := []int{1, 2, 4, 8, 16, 32, 64, 128, maxClients}
	chart := lines{title: "Decisions a second by number of clients", unit: "/s", xs: counts}
	var text strings.Builder
	for _, l := range loads() {
		rs, err := b.climb(ctx, s, l, counts)
		if err != nil {
			return part{}, err
		}
		fmt.Fprintf(&text, "**%s**\n\n| clients | decisions/s | won/s | p50 | p99 |\n|---|---|---|---|---|\n", l.title)
		curve := line{name: l.title}
		for i, r := range rs {
			fmt.Fprintf(&text, "| %d | %s | %s | %s | %s |\n", counts[i], thousands(r.decisions), thousands(r.winners), duration(r.p50), duration(r.p99))
			curve.ys = append(curve.ys, r.decisions)
		}
		text.WriteString("\n")
		chart.lines = append(chart.lines, curve)
	}
	return part{
		title:  "From 1 to 256 clients",
		text:   fmt.Sprintf(clientsText, maxClients, b.cell/2, s.version, text.String()),
		charts: map[string]string{"benchmarks-clients.svg": chart.svg()},
	}, nil
}

func (b *bench) climb(ctx context.Context, s *server, l load, counts []int) ([]result, error) {
	address, err := s.database(ctx, l)
	if err != nil {
		return nil, err
	}
	var rs []result
	for _, n := range counts {
		r, err := b.atClients(ctx, address, l, n)
		if err != nil {
			return nil, fmt.Errorf("%s, %d clients: %w", l.name, n, err)
		}
		b.logf("%-12s %3d clients %8.0f/s won %7.0f/s p50 %v p99 %v", l.name, n, r.decisions, r.winners, r.p50, r.p99)
		rs = append(rs, r)
	}
	return rs, nil
}

func (b *bench) atClients(ctx context.Context, address string, l load, n int) (result, error) {
	pool, err := openPool(ctx, address, n)
	if err != nil {
		return result{}, err
	}
	defer pool.Close()
	o, err := newOurs(ctx, pool)
	if err != nil {
		return result{}, err
	}
	if err := calm(ctx, pool); err != nil {
		return result{}, err
	}
	r := measure(ctx, o, l, n, b.cell/2)
	return r, r.err
}
