package picture

import (
	"fmt"
	"io"
	"strings"

	"tuval/internal/fault"
)

// Limits bound what one upload may cost.
type Limits struct {
	Bytes  int   // length of the file
	Pixels int   // width times height
	Side   int   // width and height each
	Memory int64 // bytes needed to hold the unpacked picture
}

// DefaultLimits are the house rules for pictures: 10 MB, 40 megapixels.
func DefaultLimits() Limits {
	return Limits{Bytes: 10_000_000, Pixels: 40_000_000, Side: 20_000, Memory: 400 << 20}
}

// Read reads an upload whole, or stops with a fault of kind TooLarge at the
// first byte too many.
func (l Limits) Read(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(l.Bytes)+1))
	if err != nil {
		return nil, fmt.Errorf("picture: read: %w", err)
	}
	return data, l.checkBytes(data)
}

func (l Limits) checkBytes(data []byte) error {
	if len(data) == 0 {
		return invalid("The picture file is empty.")
	}
	if len(data) > l.Bytes {
		return refuse(fault.TooLarge, fmt.Sprintf("The picture may have at most %s MB (%s bytes).",
			decimal(l.Bytes, 1_000_000), thousands(l.Bytes)))
	}
	return nil
}

// check measures a header, before anything is unpacked.
func (l Limits) check(h header) error {
	if h.w < 1 || h.h < 1 {
		return damaged(fmt.Errorf("size %d x %d", h.w, h.h))
	}
	if h.w > l.Pixels/h.h {
		return invalid(fmt.Sprintf("The picture may have at most %s megapixels; this one has %s x %s pixels.",
			decimal(l.Pixels, 1_000_000), thousands(h.w), thousands(h.h)))
	}
	if h.w > l.Side || h.h > l.Side {
		return invalid(fmt.Sprintf("The picture may be at most %s pixels wide and high; this one is %s x %s.",
			thousands(l.Side), thousands(h.w), thousands(h.h)))
	}
	if h.memory > l.Memory {
		return invalid(fmt.Sprintf("This picture needs too much memory to open (%s MB, limit %s MB): please save it smaller, without \"progressive\" or \"interlaced\".",
			decimal(int(h.memory), 1<<20), decimal(int(l.Memory), 1<<20)))
	}
	return nil
}

func refuse(kind fault.Kind, msg string) *fault.Error {
	e := fault.New(kind, msg)
	e.Field = "image"
	return e
}

func invalid(msg string) *fault.Error { return fault.Field("image", msg) }

func damaged(cause error) *fault.Error {
	return invalid("The picture file is damaged or cut off. Please save it again and send it once more.").Because(cause)
}

func unsupported() *fault.Error {
	return refuse(fault.Unsupported, "This is not a picture we can read: please send a PNG, JPEG, WebP or GIF file.")
}

// decimal writes n units with at most one decimal.
func decimal(n, unit int) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit)), ".0")
}

// thousands writes n with a comma every three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
