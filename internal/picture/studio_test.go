package picture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"tuval/internal/fault"
	"tuval/internal/picture"
)

// TestBombsCostNothing: files that claim to be huge are refused at once, many
// at a time, without unpacking and without waiting for a turn.
//
// Not parallel: it counts what the process allocates.
func TestBombsCostNothing(t *testing.T) {
	studio := picture.NewStudio(picture.DefaultLimits())
	bombs := map[string]struct {
		data []byte
		says string
	}{
		"1 bit":            {read(t, "bomb_40000x40000_1bit.png"), sayPixels},
		"lying":            {read(t, "lying_header_100000x100000.png"), sayPixels},
		"overflow":         {read(t, "overflow_header.png"), sayPixels},
		"long chunk":       {withPNGChunkLength(read(t, "ok_quad.png"), 0xfffffff0), sayDamaged},
		"progressive jpeg": {jpegHeader(t, 6300, 6300, 0xc2, 0x11), "too much memory"},
		"gif":              {[]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), sayPixels},
		"webp":             {riff(riffChunk("VP8L", []byte{0x2f, 0xff, 0xff, 0xff, 0x0f})), sayPixels},
		"scans":            {append(jpegHeader(t, 100, 100, 0xc2, 0x11)[:24], bytes.Repeat([]byte("\xff\xda\x00\x02"), 300)...), "too many scans"},
	}
	for name, bomb := range bombs {
		before, start := allocated(), time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := studio.Render(t.Context(), bomb.data, picture.Box{W: 100, H: 100}, picture.Cover)
				if e := fault.As(err); e.Kind != fault.Invalid || e.Field != "image" || !strings.Contains(e.Error(), bomb.says) {
					t.Errorf("%s: %v; want it to say %q", name, err, bomb.says)
				}
			})
		}
		all.Wait()
		if used := allocated() - before; used > 20<<20 {
			t.Errorf("%s: ten of them allocated %d MB", name, used>>20)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: ten of them took %v", name, took)
		}
	}
}

func TestLimitsNameThemselves(t *testing.T) {
	t.Parallel()
	l := picture.Limits{Bytes: 200_000, Pixels: 5_000, Side: 300, Memory: 15_000}
	for name, c := range map[string]struct {
		data []byte
		kind fault.Kind
		says string
	}{
		"bytes":  {make([]byte, 200_001), fault.TooLarge, "at most 0.2 MB (200,000 bytes)"},
		"pixels": {solid(t, 100, 51, red), fault.Invalid, "at most 0 megapixels; this one has 100 x 51"},
		"side":   {solid(t, 301, 1, red), fault.Invalid, "at most 300 pixels wide and high; this one is 301 x 1"},
		"memory": {encode(t, image.NewNRGBA(image.Rect(0, 0, 70, 70))), fault.Invalid, "too much memory"},
	} {
		_, err := picture.Decode(t.Context(), c.data, l)
		t.Log(name)
		wantFault(t, err, c.kind, c.says)
	}
	for _, size := range []image.Point{{100, 50}, {300, 1}, {1, 300}} {
		if _, err := picture.Decode(t.Context(), solid(t, size.X, size.Y, red), l); err != nil {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	l := picture.Limits{Bytes: 10}
	if data, err := l.Read(bytes.NewReader(make([]byte, 10))); err != nil || len(data) != 10 {
		t.Errorf("10 of 10 bytes: %d, %v", len(data), err)
	}
	_, err := l.Read(io.MultiReader(bytes.NewReader(make([]byte, 11)), iotest.ErrReader(io.ErrNoProgress)))
	wantFault(t, err, fault.TooLarge, "10 bytes")
	_, err = l.Read(bytes.NewReader(nil))
	wantFault(t, err, fault.Invalid, "empty")
	if _, err = l.Read(iotest.ErrReader(io.ErrUnexpectedEOF)); fault.As(err).Kind != fault.Internal {
		t.Errorf("a broken connection is %v", err)
	}
}

// gate is a context that stops each decoder that reads under it, and counts
// them.
type gate struct {
	context.Context
	inside *atomic.Int32
	open   chan struct{}
}

func newGate(t *testing.T) gate { return gate{t.Context(), new(atomic.Int32), make(chan struct{})} }

// Err is asked by a decoder before each read.
func (g gate) Err() error {
	g.inside.Add(1)
	<-g.open
	return g.Context.Err()
}

func TestAtMostTwoAtOnce(t *testing.T) {
	t.Parallel()
	studio := picture.NewStudio(picture.DefaultLimits())
	wantInside(t, studio, 2, read(t, "ok_quad.png"), read(t, "ok_quad.jpg"), read(t, "gif_quad.gif"), read(t, "palette_trns.png"))
}

func TestAHeavyPictureIsAlone(t *testing.T) {
	t.Parallel()
	// Half the memory limit is 10,000 bytes; this picture needs 12,288.
	studio := picture.NewStudio(picture.Limits{Bytes: 1 << 20, Pixels: 1 << 20, Side: 1000, Memory: 20_000})
	heavy := encode(t, filled(64, 48, color50))
	wantInside(t, studio, 1, heavy, heavy, heavy)
}

// wantInside sends pictures all at once, waits until nothing moves, and counts
// the decoders at work. Then it lets them finish, which all of them must.
func wantInside(t *testing.T, studio *picture.Studio, want int32, uploads ...[]byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		box := picture.Box{W: 10, H: 10}
		done := make(chan error)
		for _, data := range uploads {
			go func() {
				_, err := studio.Render(g, data, box, picture.Cover)
				done <- err
			}()
		}
		synctest.Wait()
		if n := g.inside.Load(); n != want {
			t.Errorf("%d decoders at work, want %d", n, want)
		}
		tired, stop := context.WithCancel(t.Context())
		go func() {
			_, err := studio.Render(tired, uploads[0], box, picture.Cover)
			done <- err
		}()
		synctest.Wait()
		stop()
		if e := fault.As(<-done); e.Kind != fault.Unavailable || e.RetryAfter <= 0 {
			t.Errorf("who gave up got %v", e)
		}
		// A file over the limits needs no turn.
		_, err := studio.Render(t.Context(), read(t, "bomb_40000x40000_1bit.png"), box, picture.Cover)
		if e := fault.As(err); e.Kind != fault.Invalid {
			t.Errorf("a bomb got %v", err)
		}
		close(g.open)
		for range uploads {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestDecodingStopsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	gone, stop := context.WithCancel(t.Context())
	stop()
	for name := range accepted {
		_, err := picture.Decode(gone, read(t, name), picture.DefaultLimits())
		if !errors.Is(err, context.Canceled) || fault.As(err).Kind != fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// patience is a context that ends after being asked a few times.
type patience struct {
	context.Context
	left *atomic.Int32
}

// Err is nil at first.
func (p patience) Err() error {
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestDecodingStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	p := patience{t.Context(), new(atomic.Int32)}
	p.left.Store(3)
	_, err := picture.Decode(p, read(t, "truncated.png"), picture.DefaultLimits())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for name := range accepted {
		f.Add(read(f, name))
	}
	for name := range refused {
		if name != "bomb_40000x40000_1bit.png" {
			f.Add(read(f, name))
		}
	}
	f.Add(animation(40, 40, image.Pt(10, 20), image.Pt(20, 20), encodeWebP(f, filled(20, 20, red), lossless)[12:]))
	f.Add(withWebPProfile(read(f, "../more/lossy.webp"), swapProfile(2)))
	limits := picture.DefaultLimits()
	limits.Pixels, limits.Memory = 100_000, 4<<20
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := picture.Decode(t.Context(), data, limits)
		if err != nil {
			if k := fault.As(err).Kind; k != fault.Invalid && k != fault.Unsupported {
				t.Errorf("kind %d: %v", k, err)
			}
			return
		}
		one, two := p.Fit(picture.Box{W: 30, H: 20}, picture.Contain)
		if one.Rect != image.Rect(0, 0, 30, 20) || two.Rect != image.Rect(0, 0, 60, 40) {
			t.Errorf("sizes %v, %v", one.Rect, two.Rect)
		}
	})
}

// withPNGChunkLength lies about the length of the first chunk after the header.
func withPNGChunkLength(data []byte, n uint32) []byte {
	data = bytes.Clone(data)
	binary.BigEndian.PutUint32(data[pngHead:], n)
	return data
}

// jpegHeader is the start of a JPEG with four inks and no pixels.
func jpegHeader(t testing.TB, w, h int, marker, sampling byte) []byte {
	t.Helper()
	frame := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 4}
	for c := range 4 {
		frame = append(frame, byte(c+1), sampling, 0)
	}
	out := []byte{0xff, 0xd8, 0xff, marker, 0, byte(2 + len(frame))}
	return append(append(out, frame...), 0xff, 0xda, 0, 2, 0xff, 0xd9)
}

// interlaced sets the flag in the header of a PNG.
func interlaced(data []byte) []byte {
	data = bytes.Clone(data)
	data[28] = 1
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func TestInterlacedNeedsMoreMemory(t *testing.T) {
	t.Parallel()
	data := encode(t, filled(100, 100, color50))
	l := picture.Limits{Bytes: 1 << 20, Pixels: 1 << 20, Side: 1000, Memory: 50_000}
	if _, err := picture.Decode(t.Context(), data, l); err != nil {
		t.Error(err)
	}
	_, err := picture.Decode(t.Context(), interlaced(data), l)
	wantFault(t, err, fault.Invalid, "interlaced")
}
