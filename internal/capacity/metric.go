package capacity

import (
	"time"

	"tuval/internal/grid"
	"tuval/internal/ledger"
)

// What the ledger says of orders: effective when the order is due, and of so
// many pixels as its rect has. Neither moves blocks or money.
const (
	SlotTaken    ledger.Kind = "slot.taken"
	SlotReturned ledger.Kind = "slot.returned" // neutralises a taken one with the same due time
)

// Metric names what is limited.
type Metric string

// The metrics, each with its window.
const (
	ReviewImages   Metric = "review.images"   // pictures to review, due at the go-live hour; 1 h
	LaunchPixels   Metric = "launch.pixels"   // pixels that go live; a day in UTC
	CheckoutStarts Metric = "checkout.starts" // payment pages opened; 15 min
	HoldBlocks     Metric = "hold.blocks"     // blocks held without payment; a level, no window
)

// hard are the metrics that bind a chosen go-live time, in the order in which
// their counters are written.
func hard() [2]Metric { return [...]Metric{LaunchPixels, ReviewImages} }

// Window is the length over which a metric is summed; 0 for a level. Windows
// begin at whole multiples of their length, in UTC.
func (m Metric) Window() time.Duration {
	switch m {
	case ReviewImages:
		return time.Hour
	case LaunchPixels:
		return 24 * time.Hour
	case CheckoutStarts:
		return 15 * time.Minute
	case HoldBlocks:
	}
	return 0
}

// WindowName is the window in a word for programs: 15m, 1h, 1d, or now.
func (m Metric) WindowName() string {
	switch m {
	case ReviewImages:
		return "1h"
	case LaunchPixels:
		return "1d"
	case CheckoutStarts:
		return "15m"
	case HoldBlocks:
	}
	return "now"
}

// Hard reports whether the limit is kept by a conditional write. The others
// are judged from memory.
func (m Metric) Hard() bool { return m == ReviewImages || m == LaunchPixels }

// Bucket is the beginning of the window that an instant is in.
func (m Metric) Bucket(at time.Time) time.Time { return at.UTC().Truncate(m.Window()) }

// weight is what an order of so many blocks counts in a hard metric.
func (m Metric) weight(blocks int) int64 {
	if m == LaunchPixels {
		return int64(blocks) * grid.BlockPx * grid.BlockPx
	}
	return 1
}

// Limits are the operator's numbers, each for one window of its metric. 0 is
// no limit.
type Limits struct {
	ReviewsPerHour  int64
	PixelsPerDay    int64
	CheckoutsPer15M int64
	HeldBlocks      int64
}

// Of is the limit of a metric.
func (l Limits) Of(m Metric) int64 {
	switch m {
	case ReviewImages:
		return l.ReviewsPerHour
	case LaunchPixels:
		return l.PixelsPerDay
	case CheckoutStarts:
		return l.CheckoutsPer15M
	case HoldBlocks:
		return l.HeldBlocks
	}
	return 0
}

// Use is how much of a limit is used in one window. Used may be more than the
// limit: the limit may have been lowered, and what is entered at an approval is
// not bound.
type Use struct {
	Metric Metric
	Used   int64
	Limit  int64
}

// Fits reports whether so much more stays within the limit.
func (u Use) Fits(more int64) bool { return u.Limit == 0 || u.Used+more <= u.Limit }

// Over reports whether more is used than the limit.
func (u Use) Over() bool { return u.Limit != 0 && u.Used > u.Limit }
