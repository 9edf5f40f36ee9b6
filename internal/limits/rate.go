package limits

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tuval/internal/fault"
)

// Rate allows Burst requests at once and one more each Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// mostKeys bounds the memory of one Keyed to some ten megabytes.
const mostKeys = 100_000

// Keyed holds a rate for each of many callers. It is safe for concurrent use.
// A nil Keyed allows everything.
type Keyed struct {
	rate Rate
	msg  string
	most int
	now  func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// NewKeyed makes a rate whose refusals say msg. The clock is time.Now outside
// tests.
func NewKeyed(r Rate, msg string, now func() time.Time) *Keyed {
	return &Keyed{rate: r, msg: msg, most: mostKeys, now: now, buckets: map[string]*rate.Limiter{}}
}

// Allow takes one request of a caller. When there have been too many it
// returns a fault of kind Limited that says when the next is welcome; asking
// too early costs nothing.
func (k *Keyed) Allow(key string) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	r := k.bucket(key, now).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return fault.Limit(k.msg, wait)
}

// Forget gives a caller a full bucket again.
func (k *Keyed) Forget(key string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.buckets, key)
}

func (k *Keyed) bucket(key string, now time.Time) *rate.Limiter {
	b, known := k.buckets[key]
	if !known {
		if len(k.buckets) >= k.most {
			k.makeRoom(now)
		}
		b = rate.NewLimiter(rate.Every(k.rate.Every), k.rate.Burst)
		k.buckets[key] = b
	}
	return b
}

// makeRoom drops buckets that are full again, which is no loss. If an attack
// from very many networks leaves none, it drops half at random: such an attack
// is not held off by rates, and memory must not grow.
func (k *Keyed) makeRoom(now time.Time) {
	full := float64(k.rate.Burst)
	maps.DeleteFunc(k.buckets, func(_ string, b *rate.Limiter) bool { return b.TokensAt(now) >= full })
	for key := range k.buckets {
		if len(k.buckets) <= k.most/2 {
			return
		}
		delete(k.buckets, key)
	}
}
