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
	// release gives a won rect back.
	release(ctx context.Context, l turnstile.Lease) error
	// owned is how many blocks of its rect the claim has.
	owned(ctx context.Context, l turnstile.Lease) (int, error)
}

// result is what one measurement found.
type result struct {
	decisions float64 // won or lost, a second
	winners   float64 // a second
	torn      float64 // share of the winners that had only a part, when looked for
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

// measure lets clients claim, and release what they won, for a while. With
// look, each winner counts its blocks before it releases them; that costs time,
// so figures of speed are taken without.
func measure(ctx context.Context, c contender, l load, clients int, during time.Duration, look bool) result {
	begin := time.Now().Add(warmUp)
	end := begin.Add(during)
	tallies := make([]tally, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			w := worker{contender: c, tally: &tallies[i], look: look}
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
	look bool
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
	if w.look {
		if n, err := w.owned(ctx, l); err == nil && n != l.Rect.Area() && counts {
			w.torn++
		}
	}
	for ctx.Err() == nil {
		if err := w.release(ctx, l); err == nil || errors.Is(err, turnstile.ErrLost) {
			return
		} else if code(err) == deadlock {
			w.deadlocks++
		} else {
			w.err = err
		}
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
