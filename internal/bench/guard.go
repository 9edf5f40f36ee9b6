package main

import (
	"context"
	"fmt"
)

const guardText = `What the database's own guard costs (the trigger claims_stay_whole, which looks at every write to blocks): the turnstile on
disjoint rects, where every claim wins and nothing waits, 32 clients, medians of %d turns of %s each with and without it.

| | claims won a second |
|---|---|
| with the guard, as shipped | %s |
| without | %s |
| price | %.0f %% |
`

// guardSection measures the price of the guard.
func guardSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	l := loads()[2]
	address, err := s.database(ctx, l)
	if err != nil {
		return part{}, err
	}
	pool, err := openPool(ctx, address, l.clients)
	if err != nil {
		return part{}, err
	}
	defer pool.Close()
	o, err := newOurs(ctx, pool)
	if err != nil {
		return part{}, err
	}
	rates := map[string][]float64{}
	for range turns {
		for _, set := range []string{"ENABLE", "DISABLE"} {
			if _, err := pool.Exec(ctx, `ALTER TABLE blocks `+set+` TRIGGER claims_stay_whole`); err != nil {
				return part{}, err
			}
			if err := calm(ctx, pool); err != nil {
				return part{}, err
			}
			r := measure(ctx, o, l, l.clients, b.cell)
			if r.err != nil {
				return part{}, r.err
			}
			b.logf("guard %-8s %8.0f/s", set, r.winners)
			rates[set] = append(rates[set], r.winners)
		}
	}
	with, without := median(rates["ENABLE"]), median(rates["DISABLE"])
	return part{
		title: "The price of the guard",
		text:  fmt.Sprintf(guardText, turns, b.cell, thousands(with), thousands(without), 100*(1-with/without)),
	}, nil
}
