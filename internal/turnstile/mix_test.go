package turnstile_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/testdb"
	"tuval/internal/turnstile"
)

// Everything that moves blocks at once, on leases that end while it goes on:
// claims, replacements, takeovers, extensions, releases, settling by others,
// and late calls for claims that are over. No deadlock, no error without a
// name, and nothing torn. Once with the guard, which then sees every single
// statement; once without, so that it is not the guard who keeps order.
func TestSoakEverythingAtOnce(t *testing.T) {
	t.Parallel()
	for name, guard := range map[string]bool{"guarded": true, "unguarded": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCanvas(t, 40)
			if !guard {
				c.unguarded()
			}
			m := &mix{canvas: c.warm(), outcomes: map[string]int{}}
			enough, cancel := context.WithTimeout(t.Context(), testdb.Soak(t, 3*time.Second))
			defer cancel()
			for _, err := range together(40, func(i int) error { return m.work(enough, uint64(i)) }) {
				if err != nil {
					t.Error(err)
				}
			}
			t.Log(m.outcomes)
			if n := m.outcomes["unavailable"]; n > 0 {
				t.Errorf("%d calls waited longer than lock_timeout", n)
			}
			c.intact()
		})
	}
}

// mix is what the workers share: leases that anybody may call late.
type mix struct {
	canvas
	mu       sync.Mutex
	leases   []turnstile.Lease
	outcomes map[string]int
}

// work acts until the time is over and all kinds of outcomes were seen, or an
// error has no name.
func (m *mix) work(enough context.Context, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	for enough.Err() == nil || !m.varied() {
		verb, err := m.act(r)
		outcome, known := nameOf(err)
		if !known {
			return err
		}
		m.note(verb, outcome)
	}
	return nil
}

// varied says that there was every kind of outcome at least once: a busy
// machine may need longer for it.
func (m *mix) varied() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range []string{"claim ok", "claim taken", "replace ok", "keep ok", "keep lost", "end ok", "end lost", "settle ok"} {
		if m.outcomes[o] == 0 {
			return false
		}
	}
	return true
}

func nameOf(err error) (string, bool) {
	switch {
	case err == nil:
		return "ok", true
	case errors.Is(err, turnstile.ErrTaken):
		return "taken", true
	case errors.Is(err, turnstile.ErrMoved):
		return "moved", true
	case errors.Is(err, turnstile.ErrLost):
		return "lost", true
	}
	return "unavailable", fault.Is(err, "unavailable")
}

func (m *mix) act(r *rand.Rand) (string, error) {
	short := time.Duration(r.IntN(40)) * time.Millisecond
	some, any := m.some(r)
	switch n := r.IntN(10); {
	case n < 4 || !any:
		l, err := m.claim(somewhere(r), short)
		return "claim", m.won(l, err)
	case n < 5:
		near := some.Rect
		near.X = min(near.X+1, grid.Cols-near.W)
		l, err := m.claim(near, short, some)
		return "replace", m.won(l, err)
	case n < 7:
		return "keep", m.keep(some, short)
	case n < 8:
		return "end", m.end(some)
	default:
		return "settle", m.settle(some)
	}
}

// settle ends a claim whose lease ran out, as its job does.
func (m *mix) settle(l turnstile.Lease) error {
	return m.tx(func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE blocked_areas SET closed_at = now() WHERE id = $1 AND closed_at IS NULL AND until <= now()`, l.Claim)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return turnstile.Release(ctx, tx, l)
	})
}

func somewhere(r *rand.Rand) grid.Rect {
	return rect(r.IntN(20), r.IntN(20), 1+r.IntN(12), 1+r.IntN(12))
}

func (m *mix) won(l turnstile.Lease, err error) error {
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.leases = append(m.leases, l)
		if len(m.leases) > 60 {
			m.leases = slices.Delete(m.leases, 0, 1)
		}
	}
	return err
}

func (m *mix) some(r *rand.Rand) (turnstile.Lease, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.leases) == 0 {
		return turnstile.Lease{}, false
	}
	return m.leases[r.IntN(len(m.leases))], true
}

func (m *mix) note(verb, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if outcome != "unavailable" {
		outcome = verb + " " + outcome
	}
	m.outcomes[outcome]++
}
