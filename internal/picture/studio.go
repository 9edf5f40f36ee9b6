package picture

import (
	"context"
	"runtime/debug"
	"time"

	"golang.org/x/sync/semaphore"

	"tuval/internal/fault"
)

// Renditions is what is kept of one upload.
type Renditions struct {
	Info     Info // of the upload
	One, Two Rendition
}

// Studio renders uploads, few at a time, however many ask. One is enough for a
// process; it is safe for concurrent use.
type Studio struct {
	limits Limits
	slots  *semaphore.Weighted
}

// places is how many decodings may run at once. A picture that needs more than
// half of the memory limit takes all of them, so the limit holds for the sum.
const places = 2

// NewStudio makes a studio with these limits.
func NewStudio(l Limits) *Studio {
	return &Studio{limits: l, slots: semaphore.NewWeighted(places)}
}

// Limits are the limits the studio was made with.
func (s *Studio) Limits() Limits { return s.limits }

// Render turns an upload into its files for a place of b pixels (1x). A file
// over the limits is refused at once, without waiting for a turn. Faults are
// those of Decode, and Unavailable when ctx ends while waiting or decoding.
func (s *Studio) Render(ctx context.Context, data []byte, b Box, m Mode) (Renditions, error) {
	h, err := s.limits.inspect(data)
	if err != nil {
		return Renditions{}, err
	}
	turns := int64(1)
	if h.memory > s.limits.Memory/places {
		turns = places
	}
	if err := s.slots.Acquire(ctx, turns); err != nil {
		return Renditions{}, busy(err)
	}
	defer s.slots.Release(turns)
	defer h.cleanUp()
	p, err := h.decode(ctx, data)
	if gone := ctx.Err(); gone != nil {
		return Renditions{}, busy(gone)
	}
	if err != nil {
		return Renditions{}, err
	}
	return p.renditions(b, m)
}

// cleanUp gives the memory of a large picture back before the next one is
// unpacked. Left alone, the collector lets the heap double first.
func (h header) cleanUp() {
	const large = 32 << 20
	if h.memory > large {
		debug.FreeOSMemory()
	}
}

func busy(cause error) error {
	return fault.Away("Many pictures are being prepared at the moment. Please try again.", 5*time.Second).Because(cause)
}

func (p *Picture) renditions(b Box, m Mode) (Renditions, error) {
	one, two := p.Fit(b, m)
	first, err := Encode(one)
	if err != nil {
		return Renditions{}, err
	}
	second, err := Encode(two)
	if err != nil {
		return Renditions{}, err
	}
	return Renditions{Info: p.Info, One: first, Two: second}, nil
}
