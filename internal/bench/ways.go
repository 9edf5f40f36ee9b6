package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// way is one row of the comparison.
type way struct {
	name  string
	setup string // SQL
	open  func(ctx context.Context, pool *pgxpool.Pool) (contender, error)
	note  string
}

func ways() []way {
	table := func(w tableWay) func(context.Context, *pgxpool.Pool) (contender, error) {
		return func(_ context.Context, pool *pgxpool.Pool) (contender, error) {
			w.pool = pool
			return w, nil
		}
	}
	turnstile := func(ctx context.Context, pool *pgxpool.Pool) (contender, error) { return newOurs(ctx, pool) }
	return []way{
		{
			"**turnstile**", "", turnstile,
			"look; write in order, undo and unlock at the first block that is not to be had",
		},
		{
			"- unguarded", "ALTER TABLE blocks DISABLE TRIGGER claims_stay_whole", turnstile,
			"the same without the database's own guard, which none of the others has",
		},
		{
			"A", labSetup, table(tableWay{alone: true, take: countedUpdate}),
			"one UPDATE whose WHERE counts the free blocks",
		},
		{
			"B", labSetup, table(tableWay{take: countedRows}),
			"UPDATE the free blocks, count the rows, roll back",
		},
		{
			"C", labSetup, table(tableWay{look: true, ordered: true, take: lockedFirst}),
			"look; lock in order with SELECT FOR UPDATE, then UPDATE if all are free",
		},
		{
			"D", labSetup, table(tableWay{look: true, take: oneForAll}),
			"look; one advisory lock for the whole canvas, write",
		},
		{
			"exclusion", exclusionSetup, func(_ context.Context, pool *pgxpool.Pool) (contender, error) { return exclusion{pool}, nil },
			"look; INSERT into a table with an exclusion constraint on place and time",
		},
	}
}

const waysText = `The same rush for different ways of writing a claim, all through the same Go harness. Who won gives the rect back at
once and tries again. Decisions (won or lost) a second, of which won; p99 of a decision; deadlocks while it ran; torn: the
share of winners that had only a part of their rect left when they gave it back. %s cells, PostgreSQL %s with the
planner's settings that it comes with.

%s
![decisions a second by way and load](benchmarks-ways.svg)

%s
What the figures say:

- **A** is the statement most people would write, and it sells the same blocks twice. It is here as a warning.
- **B** is never torn, but its UPDATEs and those of its releases lock in the order of their scans: they run into each other
  in circles, and each circle costs the second after which PostgreSQL looks for one. On heavily overlapping rects the
  turnstile decides %s times as much. Where nothing overlaps it is fast: it is what the turnstile would be without order,
  without a first look and without the guard.
- **C** is right, and the nearest to the turnstile. It touches each block twice, and a loser keeps what it locked until its
  client has heard of it and rolled back; in a rush a queue waits for that.
- **D** is slow: everybody waits for everybody's COMMIT.
- The **exclusion** constraint writes one row instead of w x h and is fast. It has no blocks: prolonging, taking over what
  lapsed and "free by the clock" would each be a further statement with a race of its own, and overlapping inserts can
  deadlock. It is the way to look at if canvases grow much larger.
- **Redis** decides one after the other in memory. With the disk in it ("always"), which is what makes a sold block sold, and
  without the transaction that also writes rental, ledger and job, it is a limit to compare with, not a replacement.
`

func waysSection(ctx context.Context, b *bench) (part, error) {
	s, err := startServer(ctx, b.log)
	if err != nil {
		return part{}, err
	}
	defer s.stop()
	var tables, legend strings.Builder
	chart := bars{title: "Decisions a second", unit: "/s"}
	times := 0.0
	for _, l := range loads() {
		rows, err := b.compare(ctx, s, l)
		if err != nil {
			return part{}, err
		}
		fmt.Fprintf(&tables, "**%s**\n\n| way | decisions/s | won/s | p99 | deadlocks | torn |\n|---|---|---|---|---|---|\n", l)
		group := barGroup{name: l.String()}
		for _, r := range rows {
			fmt.Fprintf(&tables, "| %s | %s | %s | %s | %d | %s |\n", r.way, thousands(r.decisions), thousands(r.winners), duration(r.p99), r.deadlocks, percent(r.torn))
			group.bars = append(group.bars, bar{strings.Trim(r.way, "*"), r.decisions, r.torn > 0})
		}
		tables.WriteString("\n")
		chart.groups = append(chart.groups, group)
		if l.name == "overlapping" {
			times = rows[0].decisions / max(rate(rows, "B"), 0.1)
		}
	}
	for _, w := range ways() {
		fmt.Fprintf(&legend, "- %s: %s\n", w.name, w.note)
	}
	return part{
		title:  "Ways of claiming",
		text:   fmt.Sprintf(waysText, b.cell, s.version, tables.String(), legend.String(), thousands(times)),
		charts: map[string]string{"benchmarks-ways.svg": chart.svg()},
	}, nil
}

// row is a way's result.
type row struct {
	way string
	result
}

func rate(rows []row, way string) float64 {
	for _, r := range rows {
		if r.way == way {
			return r.decisions
		}
	}
	return 0
}

// compare measures all ways on one load.
func (b *bench) compare(ctx context.Context, s *server, l load) ([]row, error) {
	var rows []row
	for _, w := range ways() {
		r, err := b.one(ctx, s, l, w)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", w.name, l.name, err)
		}
		rows = append(rows, row{w.name, r})
		b.logf("%-12s %-14s %8.0f/s won %7.0f/s p50 %v p99 %v torn %.2f deadlocks %d gave up %d", l.name, w.name, r.decisions, r.winners, r.p50, r.p99, r.torn, r.deadlocks, r.gaveUp)
	}
	for _, durable := range []bool{true, false} {
		r, ok, err := b.redis(ctx, l, durable)
		if err != nil {
			return nil, err
		}
		if ok {
			name := map[bool]string{true: "Redis, always", false: "Redis, memory"}[durable]
			rows = append(rows, row{name, r})
			b.logf("%-12s %-14s %8.0f/s won %7.0f/s p99 %v", l.name, name, r.decisions, r.winners, r.p99)
		}
	}
	return rows, nil
}

// one measures a way.
func (b *bench) one(ctx context.Context, s *server, l load, w way) (result, error) {
	address, err := s.database(ctx, l)
	if err != nil {
		return result{}, err
	}
	pool, err := openPool(ctx, address, l.clients)
	if err != nil {
		return result{}, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, w.setup, pgx.QueryExecModeSimpleProtocol); err != nil {
		return result{}, fmt.Errorf("set up: %w", err)
	}
	c, err := w.open(ctx, pool)
	if err != nil {
		return result{}, err
	}
	if err := calm(ctx, pool); err != nil {
		return result{}, err
	}
	r := measure(ctx, c, l, l.clients, b.cell)
	pool.Close()
	r.deadlocks, err = s.deadlocks(ctx, address)
	return r, err
}

func (b *bench) redis(ctx context.Context, l load, durable bool) (result, bool, error) {
	s, err := startRedis(ctx, durable)
	if s == nil || err != nil {
		return result{}, false, err
	}
	defer s.stop()
	w, err := s.open(l.clients)
	if err != nil {
		return result{}, false, err
	}
	defer w.close()
	r := measure(ctx, w, l, l.clients, b.cell/2)
	return r, true, r.err
}

func duration(d time.Duration) string {
	if d >= 10*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func percent(share float64) string {
	if share == 0 {
		return "0"
	}
	return fmt.Sprintf("**%.0f %%**", 100*share)
}
