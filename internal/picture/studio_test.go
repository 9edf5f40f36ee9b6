package picture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"io"
	"sync"
	"testing"
	"testing/iotest"
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
	bombs := map[string][]byte{
		"1 bit":            read(t, "bomb_40000x40000_1bit.png"),
		"lying":            read(t, "lying_header_100000x100000.png"),
		"overflow":         read(t, "overflow_header.png"),
		"long chunk":       withPNGChunkLength(read(t, "ok_quad.png"), 0xfffffff0),
		"progressive jpeg": jpegHeader(t, 6300, 6300, 0xc2, 0x11),
		"gif":              []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"),
		"webp":             riff(riffChunk("VP8L", []byte{0x2f, 0xff, 0xff, 0xff, 0x0f})),
		"scans":            bytes.Repeat([]byte("\xff\xd8\xff\xda\x00\x02"), 300),
	}
	for name, data := range bombs {
		before, start := allocated(), time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := studio.Render(t.Context(), data, picture.Box{W: 100, H: 100}, picture.Cover)
				if e := fault.As(err); err == nil || e.Kind != fault.Invalid || e.Field != "image" {
					t.Errorf("%s: %v", name, err)
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

// blocker is a context whose end can be awaited by asking for it: a decoder
// that reads under it stands still until told.
type blocker struct {
	context.Context
	entered chan struct{}
	release chan struct{}
}

// Err tells that a decoder asks, and lets it wait.
func (b blocker) Err() error {
	b.entered <- struct{}{}
	<-b.release
	return b.Context.Err()
}

func TestAtMostTwoAtOnce(t *testing.T) {
	t.Parallel()
	studio := picture.NewStudio(picture.DefaultLimits())
	data, box := read(t, "ok_quad.png"), picture.Box{W: 10, H: 10}
	hold := blocker{t.Context(), make(chan struct{}), make(chan struct{})}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := studio.Render(hold, data, box, picture.Cover); err != nil {
				t.Error(err)
			}
		})
	}
	<-hold.entered
	<-hold.entered // both places are taken

	tired, stop := context.WithCancel(t.Context())
	stop()
	_, err := studio.Render(tired, data, box, picture.Cover)
	if e := fault.As(err); e.Kind != fault.Unavailable || e.RetryAfter <= 0 {
		t.Errorf("a third one got %v", err)
	}
	// A file over the limits needs no place.
	_, err = studio.Render(tired, read(t, "bomb_40000x40000_1bit.png"), box, picture.Cover)
	wantFault(t, err, fault.Invalid, sayPixels)

	go func() {
		for range hold.entered { // let them read on
		}
	}()
	close(hold.release)
	all.Wait()
	close(hold.entered)
	if _, err := studio.Render(t.Context(), data, box, picture.Cover); err != nil {
		t.Errorf("after the rush: %v", err)
	}
}

func TestAHeavyPictureIsAlone(t *testing.T) {
	t.Parallel()
	// Half the memory limit is 10,000 bytes; this picture needs 12,288.
	studio := picture.NewStudio(picture.Limits{Bytes: 1 << 20, Pixels: 1 << 20, Side: 1000, Memory: 20_000})
	hold := blocker{t.Context(), make(chan struct{}), make(chan struct{})}
	box := picture.Box{W: 10, H: 10}
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := studio.Render(hold, encode(t, filled(64, 48, color50)), box, picture.Cover); err != nil {
			t.Error(err)
		}
	})
	<-hold.entered
	tired, stop := context.WithCancel(t.Context())
	stop()
	if _, err := studio.Render(tired, read(t, "ok_quad.png"), box, picture.Cover); fault.As(err).Kind != fault.Unavailable {
		t.Errorf("a second one got %v", err)
	}
	go func() {
		for range hold.entered {
		}
	}()
	close(hold.release)
	all.Wait()
	close(hold.entered)
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
