package picture_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"tuval/internal/fault"
	"tuval/internal/picture"
)

func TestRampIsSmooth(t *testing.T) {
	t.Parallel()
	one, two := fit(t, read(t, "gray16_ramp.png"), picture.Box{W: 250, H: 10}, picture.Cover)
	for _, img := range []*image.NRGBA{one, two} {
		w, before := img.Rect.Dx(), -1
		for x := range w {
			c := img.NRGBAAt(x, 4)
			want := 255 * x / (w - 1)
			if c.R != c.G || c.G != c.B || c.A != 255 || int(c.R) < before || int(c.R)-want > 4 || want-int(c.R) > 4 {
				t.Fatalf("at %d of %d: %v after %d, want about %d", x, w, c, before, want)
			}
			before = int(c.R)
		}
	}
}

// TestLargePicturesAreAveraged: whatever the odd size, each pixel shows what
// was at its place, in full alpha, without steps.
func TestLargePicturesAreAveraged(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1000, 750}, {1003, 751}, {999, 748}} {
		img := image.NewNRGBA(image.Rectangle{Max: size})
		for y := range size.Y {
			for x := range size.X {
				img.SetNRGBA(x, y, color.NRGBA{uint8(x * 256 / size.X), uint8(y * 256 / size.Y), 77, 255})
			}
		}
		_, two := fit(t, encode(t, img), picture.Box{W: 40, H: 30}, picture.Cover)
		for y := range 60 {
			for x := range 80 {
				want := color.NRGBA{uint8((2*x + 1) * 256 / 160), uint8((2*y + 1) * 256 / 120), 77, 255}
				if got := two.NRGBAAt(x, y); !near(got, want, 2) || got.B != 77 || got.A != 255 {
					t.Fatalf("%v at %d,%d: %v, want %v", size, x, y, got, want)
				}
			}
		}
	}
}

func TestHalfAlphaKeepsItsColour(t *testing.T) {
	t.Parallel()
	// A half transparent red square on nothing: no pixel may be darker than red.
	img := image.NewNRGBA(image.Rect(0, 0, 90, 90))
	for y := 20; y < 70; y++ {
		for x := 20; x < 70; x++ {
			img.SetNRGBA(x, y, color.NRGBA{255, 0, 0, 128})
		}
	}
	for _, box := range []picture.Box{{8, 8}, {20, 20}, {130, 130}} {
		one, two := fit(t, encode(t, img), box, picture.Contain)
		for _, out := range []*image.NRGBA{one, two} {
			for i := 0; i < len(out.Pix); i += 4 {
				// Faint pixels at the edge have few bits left for their colour.
				if p := out.Pix[i : i+4]; p[3] > 2 && (p[0] < 250 || p[1] > 3 || p[2] > 3 || p[3] > 150) {
					t.Fatalf("%v: pixel %v", box, p)
				}
			}
		}
	}
}

func TestContainLeavesTheRestTransparent(t *testing.T) {
	t.Parallel()
	one, two := fit(t, solid(t, 200, 50, red), picture.Box{W: 100, H: 100}, picture.Contain)
	for n, img := range map[int]*image.NRGBA{1: one, 2: two} {
		for y := range 100 * n {
			want := clear
			if y >= 38*n && y < 62*n {
				want = red
			} else if y >= 36*n && y < 64*n {
				continue // the edge
			}
			for _, x := range []int{0, 50 * n, 100*n - 1} {
				if got := img.NRGBAAt(x, y); !near(got, want, 0) {
					t.Fatalf("%dx at %d,%d: %v, want %v", n, x, y, got, want)
				}
			}
		}
	}
}

func TestCoverCutsOffEvenly(t *testing.T) {
	t.Parallel()
	// Green with a red stripe left and a blue one right, both to be cut off.
	img := image.NewNRGBA(image.Rect(0, 0, 300, 100))
	for y := range 100 {
		for x := range 300 {
			c := green
			if x < 100 {
				c = red
			} else if x >= 200 {
				c = blue
			}
			img.SetNRGBA(x, y, c)
		}
	}
	one, two := fit(t, encode(t, img), picture.Box{W: 50, H: 50}, picture.Cover)
	for _, out := range []*image.NRGBA{one, two} {
		for i := 0; i < len(out.Pix); i += 4 {
			if p := out.Pix[i : i+4]; p[0] != 0 || p[1] != 255 || p[2] != 0 || p[3] != 255 {
				t.Fatalf("pixel %v", p)
			}
		}
	}
}

func TestRightSizeIsKeptPixelByPixel(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 60, 40))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(noise.Uint32())
		if i%4 == 3 {
			img.Pix[i] |= 0x80
		}
	}
	one, _ := fit(t, encode(t, img), picture.Box{W: 60, H: 40}, picture.Cover)
	if !bytes.Equal(one.Pix, img.Pix) {
		t.Error("1x differs from an upload of exactly that size")
	}
	_, two := fit(t, encode(t, img), picture.Box{W: 30, H: 20}, picture.Contain)
	if !bytes.Equal(two.Pix, img.Pix) {
		t.Error("2x differs from an upload of exactly that size")
	}
	r, err := picture.Encode(one)
	if err != nil {
		t.Fatal(err)
	}
	if back := decodePNG(t, r); !bytes.Equal(back.(*image.NRGBA).Pix, img.Pix) {
		t.Error("the file differs from the pixels")
	}
}

func TestSmallPalettesAreKept(t *testing.T) {
	t.Parallel()
	for colours, palette := range map[int]bool{1: true, 16: true, 256: true, 257: false} {
		img := image.NewNRGBA(image.Rect(0, 0, 100, 100))
		for i := range 100 * 100 {
			n := i % colours
			img.SetNRGBA(i%100, i/100, color.NRGBA{uint8(n), uint8(n / 2), uint8(n >> 8), uint8(255 - n%100)})
		}
		r, err := picture.Encode(img)
		if err != nil {
			t.Fatal(err)
		}
		back := decodePNG(t, r)
		if _, ok := back.(*image.Paletted); ok != palette {
			t.Errorf("%d colours: %T", colours, back)
		}
		for y := range 100 {
			for x := range 100 {
				if got, want := nrgba(back.At(x, y)), img.NRGBAAt(x, y); !near(got, want, 1) {
					t.Fatalf("%d colours at %d,%d: %v, want %v", colours, x, y, got, want)
				}
			}
		}
	}
}

func TestSamePixelsSameHash(t *testing.T) {
	t.Parallel()
	img := filled(30, 20, color50)
	r, err := picture.Encode(img)
	if err != nil {
		t.Fatal(err)
	}
	again, err := picture.Encode(img)
	if err != nil || again.Hash != r.Hash {
		t.Error("the same pixels gave another hash")
	}
}

// TestAnyShapeFitsAnyBox: the size is always exact, a cover leaves no hole, a
// contain shows something, and nothing is taken from outside the picture.
func TestAnyShapeFitsAnyBox(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		side := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, 200))
		w, h := side.Draw(rt, "w"), side.Draw(rt, "h")
		box := picture.Box{W: 10 * rapid.IntRange(1, 9).Draw(rt, "bw"), H: 10 * rapid.IntRange(1, 9).Draw(rt, "bh")}
		mode := rapid.SampledFrom([]picture.Mode{picture.Cover, picture.Contain}).Draw(rt, "mode")
		checkFit(t, solid(t, w, h, red), box, mode)
	})
}

func TestExtremeShapes(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{20000, 1}, {1, 20000}, {1, 1}} {
		for _, box := range []picture.Box{{10, 1000}, {1000, 10}, {10, 10}} {
			for _, mode := range []picture.Mode{picture.Cover, picture.Contain} {
				checkFit(t, solid(t, size.X, size.Y, red), box, mode)
			}
		}
	}
}

func checkFit(t *testing.T, data []byte, box picture.Box, mode picture.Mode) {
	t.Helper()
	one, two := fit(t, data, box, mode)
	for n, img := range map[int]*image.NRGBA{1: one, 2: two} {
		if img.Rect != image.Rect(0, 0, n*box.W, n*box.H) {
			t.Errorf("%dx is %v for %v", n, img.Rect, box)
		}
		shown := 0
		for i := 0; i < len(img.Pix); i += 4 {
			switch p := img.Pix[i : i+4]; {
			case p[3] == 0:
			case p[0] < 250 || p[1] > 3 || p[2] > 3:
				t.Fatalf("%dx of %v: pixel %v of a red picture", n, box, p)
			default:
				shown++
			}
		}
		if shown == 0 || mode == picture.Cover && shown != n*n*box.W*box.H {
			t.Errorf("%dx of %v, %s: %d pixels shown", n, box, mode, shown)
		}
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]picture.Mode{"": picture.Cover, "cover": picture.Cover, "contain": picture.Contain} {
		if got, err := picture.ParseMode(in); err != nil || got != want {
			t.Errorf("ParseMode(%q) = %q, %v", in, got, err)
		}
	}
	_, err := picture.ParseMode("stretch")
	if e := fault.As(err); e.Kind != fault.Invalid || e.Field != "fit" {
		t.Errorf("got %v", err)
	}
}

func fit(t testing.TB, data []byte, b picture.Box, m picture.Mode) (one, two *image.NRGBA) {
	t.Helper()
	p, err := picture.Decode(t.Context(), data, picture.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return p.Fit(b, m)
}

func encode(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func solid(t testing.TB, w, h int, c color.NRGBA) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{c})
	return encode(t, img)
}
