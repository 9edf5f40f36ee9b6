package compose_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gen2brain/webp"
	"pgregory.net/rapid"

	"tuval/internal/compose"
)

var blue = color.NRGBA{0, 0, 255, 255}

func TestEmptyCanvasIsGround(t *testing.T) {
	t.Parallel()
	c := compose.New(image.Pt(1000, 1000))
	if c.Rect != image.Rect(0, 0, 1000, 1000) || !c.Opaque() {
		t.Fatalf("%v, opaque %v", c.Rect, c.Opaque())
	}
	for _, p := range []image.Point{{0, 0}, {999, 0}, {500, 500}, {999, 999}} {
		if got := c.RGBAAt(p.X, p.Y); got != compose.Ground() {
			t.Errorf("%v is %v", p, got)
		}
	}
}

func TestPictureStaysOnItsBlocks(t *testing.T) {
	t.Parallel()
	place := image.Rect(980, 500, 990, 520)
	for name, size := range map[string]image.Point{"exact": place.Size(), "too large": {500, 500}, "too small": {3, 3}} {
		c := compose.New(image.Pt(1000, 1000))
		compose.Compose(c, []compose.Placed{{Rect: place, Img: filled(size, blue)}})
		shown := place.Intersect(image.Rectangle{Min: place.Min, Max: place.Min.Add(size)})
		for y := range 1000 {
			for x := range 1000 {
				want := compose.Ground()
				if image.Pt(x, y).In(shown) {
					want = color.RGBA{0, 0, 255, 255}
				}
				if got := c.RGBAAt(x, y); got != want {
					t.Fatalf("%s: %d,%d is %v, want %v", name, x, y, got, want)
				}
			}
		}
	}
}

func TestTransparentPartsShowTheGround(t *testing.T) {
	t.Parallel()
	r := image.Rect(10, 10, 30, 20)
	c := compose.New(image.Pt(1000, 1000))
	compose.Patch(c, compose.Placed{Rect: r, Img: filled(r.Size(), color.NRGBA{})})
	if got := c.RGBAAt(15, 15); got != compose.Ground() {
		t.Errorf("nothing became %v", got)
	}
	compose.Patch(c, compose.Placed{Rect: r, Img: filled(r.Size(), color.NRGBA{0, 0, 0, 128})})
	if got := c.RGBAAt(15, 15); got.R < 124 || got.R > 130 || got.A != 255 {
		t.Errorf("half black on the ground is %v", got)
	}
	compose.Patch(c, compose.Placed{Rect: r, Img: nil})
	if !bytes.Equal(c.Pix, compose.New(image.Pt(1000, 1000)).Pix) {
		t.Error("an area that is gone left something")
	}
}

// TestPatchingEqualsDrawingAnew: any history of changes gives the picture of
// the last state.
func TestPatchingEqualsDrawingAnew(t *testing.T) {
	t.Parallel()
	places := []image.Rectangle{image.Rect(0, 0, 100, 50), image.Rect(100, 0, 110, 10), image.Rect(0, 50, 300, 300), image.Rect(900, 900, 1000, 1000)}
	rapid.Check(t, func(rt *rapid.T) {
		patched, state := compose.New(image.Pt(1000, 1000)), make([]compose.Placed, len(places))
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			i := rapid.IntRange(0, len(places)-1).Draw(rt, "area")
			state[i] = compose.Placed{Rect: places[i]}
			if rapid.Bool().Draw(rt, "shown") {
				state[i].Img = filled(places[i].Size(), color.NRGBA{
					rapid.Byte().Draw(rt, "r"), rapid.Byte().Draw(rt, "g"), 9, rapid.Byte().Draw(rt, "a"),
				})
			}
			compose.Patch(patched, state[i])
		}
		anew := compose.New(image.Pt(1000, 1000))
		compose.Compose(anew, state)
		if !bytes.Equal(patched.Pix, anew.Pix) {
			rt.Error("the patched canvas differs")
		}
	})
}

func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	c := compose.New(image.Pt(1000, 1000))
	before := compose.Clone(c)
	compose.Patch(c, compose.Placed{Rect: image.Rect(0, 0, 10, 10), Img: filled(image.Pt(10, 10), blue)})
	if before.RGBAAt(5, 5) != compose.Ground() {
		t.Error("drawing on the canvas changed its copy")
	}
}

func TestEncodedPicturesAreTheCanvas(t *testing.T) {
	t.Parallel()
	c := busy()
	data, err := compose.EncodePNG(c)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	back := image.NewRGBA(img.Bounds())
	draw.Draw(back, back.Rect, img, image.Point{}, draw.Src)
	if !bytes.Equal(back.Pix, c.Pix) {
		t.Error("the PNG is not the exact picture")
	}

	if data, err = compose.EncodeWebP(c); err != nil {
		t.Fatal(err)
	}
	frames, err := webp.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if off := difference(c, frames.Image[0]); off > 4 {
		t.Errorf("the WebP is off by %.1f a channel", off)
	}
}

func TestPreviewKeepsItsBudget(t *testing.T) {
	t.Parallel()
	c := compose.New(image.Pt(1000, 1000))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range c.Pix {
		if i%4 != 3 {
			c.Pix[i] = uint8(i/97%100 + noise.IntN(40))
		}
	}
	data, err := compose.EncodeWebP(c)
	if err != nil || len(data) > compose.PreviewBytes {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestWebPOfAPart(t *testing.T) {
	t.Parallel()
	part := busy().SubImage(image.Rect(150, 20, 250, 70)).(*image.RGBA)
	data, err := compose.EncodeWebP(part)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := webp.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	moved := &image.RGBA{Pix: part.Pix, Stride: part.Stride, Rect: image.Rect(0, 0, 100, 50)}
	if part.Stride == 400 {
		t.Fatal("the part is not a part")
	}
	if off := difference(moved, frames.Image[0]); off > 6 {
		t.Errorf("off by %.1f a channel", off)
	}
}

func difference(a *image.RGBA, b image.Image) float64 {
	if a.Rect != b.Bounds() {
		return math.Inf(1)
	}
	sum := 0.0
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			p, q := a.RGBAAt(x, y), color.RGBAModel.Convert(b.At(x, y)).(color.RGBA)
			sum += math.Abs(float64(p.R)-float64(q.R)) + math.Abs(float64(p.G)-float64(q.G)) + math.Abs(float64(p.B)-float64(q.B))
		}
	}
	return sum / float64(3*a.Rect.Dx()*a.Rect.Dy())
}

// busy is a canvas with 25 photos on half of it, a bit noisy, and logos.
func busy() *image.RGBA {
	c := compose.New(image.Pt(1000, 1000))
	compose.Compose(c, areas())
	return c
}

func areas() (out []compose.Placed) {
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range 50 {
		at := image.Pt(i%10*100, i/10*200)
		r := image.Rectangle{Min: at, Max: at.Add(image.Pt(100, 100))}
		img := filled(r.Size(), color.NRGBA{uint8(i * 5), uint8(255 - i*3), 90, 255})
		if i%2 == 0 {
			for y := range 100 {
				for x := range 100 {
					n := noise.IntN(12)
					img.SetNRGBA(x, y, color.NRGBA{uint8(2*x + n), uint8(2*y + n), uint8(x + y + n), uint8(155 + y)})
				}
			}
		}
		out = append(out, compose.Placed{Rect: r, Img: img})
	}
	return out
}

func filled(size image.Point, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: size})
	draw.Draw(img, img.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

func BenchmarkCompose50(b *testing.B) {
	c, all := compose.New(image.Pt(1000, 1000)), areas()
	for b.Loop() {
		compose.Compose(c, all)
	}
}

func BenchmarkPatchLargest(b *testing.B) {
	r := image.Rect(0, 0, 310, 320)
	straight := filled(r.Size(), color.NRGBA{1, 2, 3, 128})
	palette := image.NewPaletted(straight.Rect, color.Palette{color.NRGBA{1, 2, 3, 128}})
	opaque := image.NewRGBA(straight.Rect)
	draw.Draw(opaque, opaque.Rect, image.NewUniform(blue), image.Point{}, draw.Src)
	for name, img := range map[string]image.Image{"NRGBA": straight, "Paletted": palette, "RGBA": opaque} {
		b.Run(name, func(b *testing.B) {
			c := compose.New(image.Pt(1000, 1000))
			for b.Loop() {
				compose.Patch(c, compose.Placed{Rect: r, Img: img})
			}
		})
	}
}

func BenchmarkPNG(b *testing.B) {
	c := busy()
	for name, level := range map[string]png.CompressionLevel{"speed": png.BestSpeed, "default": png.DefaultCompression, "best": png.BestCompression} {
		b.Run(name, func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := (&png.Encoder{CompressionLevel: level}).Encode(&out, c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}

func BenchmarkWebP(b *testing.B) {
	c := busy()
	for method := range 5 {
		b.Run(string(rune('0'+method)), func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := webp.Encode(&out, c, webp.Options{Quality: 80, Method: method}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}
