package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// turns is how often the two clients take turns; their medians are compared.
const turns = 5

// rawSection holds our claim in Go beside the same statements in pgbench.
func rawSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	var rows strings.Builder
	for _, l := range loads() {
		mine, raw, err := b.against(ctx, s, l, 32)
		if err != nil {
			return part{}, err
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %.2f |\n", l.title, thousands(mine), thousands(raw), mine/raw)
	}
	return part{title: "The claim in Go beside pgbench", text: fmt.Sprintf(rawText, turns, b.cell.Seconds(), s.version, rows.String())}, nil
}

const rawText = `How much of what PostgreSQL can do with our statements arrives when Go asks? pgbench, a client in C, runs the same
statements in the same transactions as turnstile.Taken, Claim and Release do through the pool: look without locks; if
nobody is there, BEGIN, claim, COMMIT or ROLLBACK; who won gives the rect back in a transaction of its own. 32 clients,
medians of %d turns of %.0f s each, one after the other; decisions (won or lost) a second, PostgreSQL %s.

| load | Go | pgbench | ratio |
|---|---|---|---|
%s`

// against lets Go and pgbench take turns on one database and returns the
// median rate of each.
func (b *bench) against(ctx context.Context, s *server, l load, clients int) (mine, raw float64, err error) {
	address, err := s.database(ctx, l)
	if err != nil {
		return 0, 0, err
	}
	pool, err := openPool(ctx, address, clients)
	if err != nil {
		return 0, 0, err
	}
	defer pool.Close()
	o, err := newOurs(ctx, pool)
	if err != nil {
		return 0, 0, err
	}
	var mines, raws []float64
	for range turns {
		if err := calm(ctx, pool); err != nil {
			return 0, 0, err
		}
		r := measure(ctx, o, l, clients, b.cell)
		if r.err != nil {
			return 0, 0, r.err
		}
		if err := calm(ctx, pool); err != nil {
			return 0, 0, err
		}
		rate, err := pgbench(ctx, s.cluster.BinDir(), address, l, clients, o.until, b.cell)
		if err != nil {
			return 0, 0, err
		}
		b.logf("%-12s Go %8.0f  pgbench %8.0f  %.2f", l.name, r.decisions, rate, r.decisions/rate)
		mines, raws = append(mines, r.decisions), append(raws, rate)
	}
	return median(mines), median(raws), nil
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
