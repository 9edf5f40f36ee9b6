package picture_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"testing"

	"github.com/gen2brain/webp"

	"tuval/internal/fault"
	"tuval/internal/picture"
)

var (
	color50  = color.NRGBA{50, 100, 150, 128}
	lossless = webp.Options{Lossless: true}
)

func TestPartialFirstFrameOfGIF(t *testing.T) {
	t.Parallel()
	frame := image.NewPaletted(image.Rect(10, 20, 30, 40), color.Palette{red, clear})
	last := image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{blue})
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{
		Image: []*image.Paletted{frame, last}, Delay: []int{1, 1},
		Config: image.Config{Width: 40, Height: 40, ColorModel: color.Palette{red, clear}},
	})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := fit(t, b.Bytes(), picture.Box{W: 40, H: 40}, picture.Cover)
	wantPartial(t, one, red)
}

func TestPartialFirstFrameOfWebP(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]webp.Options{"lossless": {Lossless: true}, "lossy": {Quality: 90}} {
		still := encodeWebP(t, filled(20, 20, red), options)
		data := animation(40, 40, image.Pt(10, 20), image.Pt(20, 20), still[12:])
		one, _ := fit(t, data, picture.Box{W: 40, H: 40}, picture.Cover)
		t.Log(name)
		wantPartial(t, one, red)
	}
}

// wantPartial wants a colour at 10,20 to 30,40 and nothing elsewhere.
func wantPartial(t *testing.T, img *image.NRGBA, c color.NRGBA) {
	t.Helper()
	for y := range 40 {
		for x := range 40 {
			want := clear
			if image.Pt(x, y).In(image.Rect(10, 20, 30, 40)) {
				want = c
			}
			if got := img.NRGBAAt(x, y); !near(got, want, 3) {
				t.Fatalf("%d,%d: %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestBrokenAnimations(t *testing.T) {
	t.Parallel()
	still := encodeWebP(t, filled(20, 20, red), webp.Options{Lossless: true})[12:]
	for name, data := range map[string][]byte{
		"frame over the edge":  animation(40, 40, image.Pt(30, 30), image.Pt(20, 20), still),
		"frame of other size":  animation(40, 40, image.Pt(0, 0), image.Pt(30, 30), still),
		"no frame":             riff(riffChunk("VP8X", []byte{2, 0, 0, 0, 39, 0, 0, 39, 0, 0})),
		"frame without pixels": animation(40, 40, image.Pt(0, 0), image.Pt(20, 20), nil),
		"alpha only":           animation(40, 40, image.Pt(0, 0), image.Pt(20, 20), riffChunk("ALPH", make([]byte, 401))),
		"long chunk":           riff([]byte("VP8L\xff\xff\xff\xff/")),
	} {
		_, err := picture.Decode(t.Context(), data, picture.DefaultLimits())
		if e := fault.As(err); err == nil || e.Kind != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	huge := animation(16384, 16384, image.Pt(0, 0), image.Pt(20, 20), still)
	_, err := picture.Decode(t.Context(), huge, picture.DefaultLimits())
	wantFault(t, err, fault.Invalid, sayPixels)
}

// TestLossyWebPAgreesWithItsReference holds our reading of lossy files against
// libwebp's, whose Decode is off but whose DecodeAll is right.
func TestLossyWebPAgreesWithItsReference(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 97, 65))
	for y := range 65 {
		for x := range 97 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / 96), uint8(y * 255 / 64), uint8(255 - x), uint8(255 - 3*y)})
		}
	}
	for _, alpha := range []bool{false, true} {
		if !alpha {
			for i := 3; i < len(img.Pix); i += 4 {
				img.Pix[i] = 255
			}
		}
		data := encodeWebP(t, img, webp.Options{Quality: 90})
		one, _ := fit(t, data, picture.Box{W: 97, H: 65}, picture.Cover)
		ref, err := webp.DecodeAll(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range 65 {
			for x := range 97 {
				// libwebp smooths the coarse colour samples, we do not: at full
				// size they may differ a little where colours change.
				got, want := one.NRGBAAt(x, y), nrgba(ref.Image[0].At(x, y))
				if !near(got, want, 12) {
					t.Fatalf("%d,%d: %v, want %v", x, y, got, want)
				}
			}
		}
	}
}

func TestLossyWhiteStaysWhite(t *testing.T) {
	t.Parallel()
	for _, q := range []int{40, 75, 99} {
		one, _ := fit(t, encodeWebP(t, filled(50, 50, white), webp.Options{Quality: q}), picture.Box{W: 50, H: 50}, picture.Cover)
		if got := one.NRGBAAt(25, 25); got != white {
			t.Errorf("quality %d: %v", q, got)
		}
		one, _ = fit(t, encodeWebP(t, filled(50, 50, color.NRGBA{A: 255}), webp.Options{Quality: q}), picture.Box{W: 50, H: 50}, picture.Cover)
		if got := one.NRGBAAt(25, 25); got != (color.NRGBA{A: 255}) {
			t.Errorf("quality %d: black is %v", q, got)
		}
	}
}

func encodeWebP(t testing.TB, img image.Image, o webp.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	o.Method = 4
	if err := webp.Encode(&b, img, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func filled(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// animation builds an animated WebP of one frame.
func animation(w, h int, at, size image.Point, frame []byte) []byte {
	le := func(v int) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16)} }
	x := append([]byte{2, 0, 0, 0}, append(le(w-1), le(h-1)...)...)
	head := bytes.Join([][]byte{le(at.X / 2), le(at.Y / 2), le(size.X - 1), le(size.Y - 1), {100, 0, 0, 0}}, nil)
	return riff(riffChunk("VP8X", x), riffChunk("ANIM", make([]byte, 6)), riffChunk("ANMF", append(head, frame...)))
}
