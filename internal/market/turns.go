package market

import (
	"context"
	"sync"
	"time"

	"tuval/internal/fault"
)

// turns lets one hold of a network address into the database at a time. The
// database would make them wait for each other anyway, but each on a
// connection of the pool: a crowd behind one address would keep everybody
// else from every page. It decides nothing, so it need not know of other
// processes.
type turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	free  chan struct{} // holds one token while nobody has the turn
	users int
}

// take waits for the turn of a key. It returns what gives it back, and whether
// somebody was ahead.
func (t *turns) take(ctx context.Context, key string) (waited bool, done func(), err error) {
	mine := t.join(key)
	done = func() {
		mine.free <- struct{}{}
		t.leave(key, mine)
	}
	select {
	case <-mine.free:
		return false, done, nil
	default:
	}
	select {
	case <-mine.free:
		return true, done, nil
	case <-ctx.Done():
		t.leave(key, mine)
		return true, nil, fault.Away("Too busy at the moment. Please try again.", time.Second).Because(ctx.Err())
	}
}

func (t *turns) join(key string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys == nil {
		t.keys = map[string]*turn{}
	}
	mine := t.keys[key]
	if mine == nil {
		mine = &turn{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		t.keys[key] = mine
	}
	mine.users++
	return mine
}

func (t *turns) leave(key string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(t.keys, key)
	}
}
