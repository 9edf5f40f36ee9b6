package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tuval/internal/turnstile"
)

// contender is a way of claiming.
type contender interface {
	// claim decides one claim: won, lost, or an error.
	claim(ctx context.Context, l turnstile.Lease) (won bool, err error)
	// release gives a won rect back and says how many blocks that were.
	release(ctx context.Context, l turnstile.Lease) (blocks int, err error)
}

// result is what one measurement found.
type result struct {
	decisions float64 // won or lost, a second
	winners   float64 // a second
	torn      float64 // share of the winners that had no longer all when they gave it back
	p50, p99  time.Duration
	deadlocks int
	gaveUp    int // after lock_timeout, and other errors
	err       error
}

// tally is one client's count.
type tally struct {
	won, lost, torn, deadlocks, gaveUp int
	took                               []time.Duration
	err                                error
}

const warmUp = 500 * time.Millisecond

// measure lets clients claim, and release what they won, for a while.
func measure(ctx context.Context, c contender, l load, clients int, during time.Duration) result {
	begin := time.Now().Add(warmUp)
	end := begin.Add(during)
	tallies := make([]tally, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			w := worker{contender: c, tally: &tallies[i]}
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for now := time.Now(); now.Before(end) && ctx.Err() == nil; now = time.Now() {
				w.one(ctx, l.lease(r, i), now.After(begin))
			}
		})
	}
	all.Wait()
	return sum(tallies, during)
}

type worker struct {
	contender
	*tally
}

// one makes one claim and gives back what it won.
func (w worker) one(ctx context.Context, l turnstile.Lease, counts bool) {
	start := time.Now()
	won, err := w.claim(ctx, l)
	took := time.Since(start)
	if counts {
		w.count(won, err, took)
	}
	if err != nil || !won {
		return
	}
	w.giveBack(ctx, l, counts)
}

// giveBack releases until it is done: a deadlock only costs time.
func (w worker) giveBack(ctx context.Context, l turnstile.Lease, counts bool) {
	for ctx.Err() == nil {
		blocks, err := w.release(ctx, l)
		if err == nil || errors.Is(err, turnstile.ErrLost) {
			if counts && blocks != l.Rect.Area() {
				w.torn++
			}
			return
		}
		if code(err) != deadlock {
			w.err = err
			return
		}
		w.deadlocks++
	}
}

func (t *tally) count(won bool, err error, took time.Duration) {
	switch {
	case err == nil && won:
		t.won++
	case err == nil:
		t.lost++
	case code(err) == deadlock:
		t.deadlocks++
		return
	default:
		t.gaveUp++
		t.err = err
		return
	}
	t.took = append(t.took, took)
}

const deadlock = "40P01"

func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func sum(tallies []tally, during time.Duration) result {
	var all tally
	for _, t := range tallies {
		all.won, all.lost, all.torn = all.won+t.won, all.lost+t.lost, all.torn+t.torn
		all.deadlocks, all.gaveUp = all.deadlocks+t.deadlocks, all.gaveUp+t.gaveUp
		all.took = append(all.took, t.took...)
		all.err = errors.Join(all.err, t.err)
	}
	slices.Sort(all.took)
	r := result{
		decisions: float64(all.won+all.lost) / during.Seconds(), winners: float64(all.won) / during.Seconds(),
		deadlocks: all.deadlocks, gaveUp: all.gaveUp, err: all.err,
	}
	if all.won > 0 {
		r.torn = float64(all.torn) / float64(all.won)
	}
	if n := len(all.took); n > 0 {
		r.p50, r.p99 = all.took[n/2], all.took[n*99/100]
	}
	return r
}
