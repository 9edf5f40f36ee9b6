package capacity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Options say how a Memory is kept.
type Options struct {
	// Clock measures how much time went by; which time it is, the database says.
	Clock func() time.Time
	// Fresh is how long an answer may be given without a look at the ledger. Run
	// looks that often; a question that finds nobody did looks by itself.
	Fresh time.Duration
	// Idle is how long nobody must ask for the models to be dropped.
	Idle time.Duration
}

// Memory is a process's model of the limits, as the ledger has it. It is safe
// for use by several at once.
type Memory struct {
	db      db.Querier
	limits  Limits
	options Options

	reading sync.Mutex // one look at the ledger at a time
	mu      sync.Mutex // guards the rest
	model   *Model     // nil: not loaded
	seen    seen
	read    time.Time // when, by the clock
	asked   time.Time // the last question, by the clock
}

// seen is how much of the ledger a model is made of.
type seen struct {
	snapshot string    // transactions whose events are in it
	shifts   int64     // how often all data had been moved into the past
	at       time.Time // of the database
}

// NewMemory makes a memory over the pool's database. It reads nothing yet.
func NewMemory(q db.Querier, limits Limits, o Options) *Memory {
	return &Memory{db: q, limits: limits, options: o}
}

// Slots answers for a cart of so many blocks at which hours, from one instant
// to another, it could go live. Zero instants mean as far as can be chosen: no
// hour that has begun, none later than ahead from now. It refuses spans in
// which nothing can be chosen ever (Invalid, fields from and to).
func (m *Memory) Slots(ctx context.Context, blocks int, from, to time.Time, ahead time.Duration) (slots []Slot, err error) {
	var refused error
	err = m.View(ctx, func(model *Model, now time.Time) {
		first, last := now.Add(time.Microsecond), now.Add(ahead)
		switch {
		case !to.IsZero() && to.Before(from):
			refused = fault.Field("to", "to must not be before from")
		case !to.IsZero() && to.Before(now):
			refused = fault.Field("to", "to lies in the past; only hours to come can be chosen")
		case from.After(last):
			refused = fault.Field("from", fmt.Sprintf("from is too far ahead; an hour can be chosen at most %d days ahead", int(ahead.Hours()/24)))
		}
		if from.After(first) {
			first = from
		}
		if !to.IsZero() && to.Before(last) {
			last = to
		}
		slots = model.Slots(m.limits, blocks, first, last)
	})
	if err == nil {
		err = refused
	}
	return slots, err
}

// Start judges whether one more payment page may be opened now: a soft limit,
// by what the memory knows. It refuses with the code "limit".
func (m *Memory) Start(ctx context.Context) error {
	var u Use
	var wait time.Duration
	err := m.View(ctx, func(model *Model, now time.Time) {
		u = Use{CheckoutStarts, model.Used(CheckoutStarts, now), m.limits.CheckoutsPer15M}
		wait = CheckoutStarts.Bucket(now).Add(CheckoutStarts.Window()).Sub(now)
	})
	if err != nil || u.Fits(1) {
		return err
	}
	return fault.Limit("Very many payments are being begun at the moment. Your blocks are held; please try again in a few minutes.", wait).
		With("metric", u.Metric).With("used", u.Used).With("limit", u.Limit)
}

// Limits are the operator's numbers.
func (m *Memory) Limits() Limits { return m.limits }

// View calls fn with the model and the time, and nobody else at it. The model
// must not be kept. When it is loaded and fresh, nothing is read.
func (m *Memory) View(ctx context.Context, fn func(model *Model, now time.Time)) error {
	if m.answer(fn) {
		return nil
	}
	if err := m.refresh(ctx, false); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = m.options.Clock()
	if m.model == nil { // dropped: the look took longer than anybody may be idle
		return fault.Away("Too busy at the moment. Please try again.", time.Second)
	}
	fn(m.model, m.now())
	return nil
}

func (m *Memory) answer(fn func(model *Model, now time.Time)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = m.options.Clock()
	if !m.fresh() {
		return false
	}
	fn(m.model, m.now())
	return true
}

func (m *Memory) fresh() bool {
	return m.model != nil && m.options.Clock().Sub(m.read) < m.options.Fresh
}

// now is the database's time, as far as the clock knows.
func (m *Memory) now() time.Time { return m.seen.at.Add(m.options.Clock().Sub(m.read)) }

// Keep looks at the ledger once, if the models are loaded, and drops them when
// nobody has asked for long.
func (m *Memory) Keep(ctx context.Context) error {
	m.mu.Lock()
	loaded := m.model != nil
	if loaded && m.options.Clock().Sub(m.asked) >= m.options.Idle {
		m.model, loaded = nil, false
	}
	m.mu.Unlock()
	if !loaded {
		return nil
	}
	return m.refresh(ctx, true)
}

// Loaded reports whether the models are in memory.
func (m *Memory) Loaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.model != nil
}

// refresh loads the models, or feeds them what was written since. Whoever was
// ahead may have read what this caller waits for.
func (m *Memory) refresh(ctx context.Context, anyway bool) error {
	m.reading.Lock()
	defer m.reading.Unlock()
	m.mu.Lock()
	if m.fresh() && !anyway {
		m.mu.Unlock()
		return nil
	}
	last, loaded := m.seen, m.model != nil
	m.mu.Unlock()
	begun := m.options.Clock()
	if loaded {
		news, err := tail(ctx, m.db, last)
		if err != nil {
			return err
		}
		if news.shifts == last.shifts {
			m.take(news, begun)
			return nil
		}
	}
	all, err := load(ctx, m.db)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.model = NewModel()
	m.mu.Unlock()
	m.take(all, begun)
	return nil
}

func (m *Memory) take(n news, begun time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.model == nil {
		return // dropped meanwhile
	}
	for _, s := range n.sums {
		switch s.Kind {
		case SlotTaken:
			m.model.Order(s.Due, s.Orders, 0)
			m.model.Feed(Event{LaunchPixels, s.Due, s.Blocks * LaunchPixels.weight(1)})
		case SlotReturned:
			m.model.Order(s.Due, -s.Orders, 0)
			m.model.Feed(Event{LaunchPixels, s.Due, -s.Blocks * LaunchPixels.weight(1)})
		default:
			m.model.Feed(Event{CheckoutStarts, s.Due, s.Orders})
		}
	}
	m.seen, m.read = n.seen, begun
	m.model.Forget(n.at)
}
