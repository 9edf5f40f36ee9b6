package picture

import (
	"image"
	"math"

	"golang.org/x/image/draw"

	"tuval/internal/fault"
)

// Mode says how a picture is fitted into its blocks.
type Mode string

// The modes; Cover is the default.
const (
	Cover   Mode = "cover"
	Contain Mode = "contain"
)

// ParseMode reads a form field; empty means Cover. The fault is of kind
// Invalid and field "fit".
func ParseMode(s string) (Mode, error) {
	switch Mode(s) {
	case "", Cover:
		return Cover, nil
	case Contain:
		return Contain, nil
	}
	return "", fault.Field("fit", `fit must be "cover" or "contain".`)
}

// Box is the place a picture is made for: width and height of the rented
// blocks in pixels of the canvas (1x), each from 1 to 1,000.
type Box struct{ W, H int }

func (b Box) times(n int) Box { return Box{b.W * n, b.H * n} }

// Fit returns the pixels at 1x and at 2x: exactly b.W x b.H and twice that.
// Each is made from the upload itself, so that a picture which has one of the
// two sizes already is kept pixel by pixel.
func (p *Picture) Fit(b Box, m Mode) (one, two *image.NRGBA) {
	p = p.shrunk(b, m)
	return p.render(b, m), p.render(b.times(2), m)
}

// boxAsStored is the box for the picture before it is turned upright.
func (p *Picture) boxAsStored(b Box) Box {
	if p.turn.swaps() {
		return Box{b.H, b.W}
	}
	return b
}

// render makes the pixels for one size: scaled as stored, then colours, then
// turned upright, so that all but the scaling works on few pixels.
func (p *Picture) render(b Box, m Mode) *image.NRGBA {
	b = p.boxAsStored(b)
	src, dst := place(p.raw.Bounds().Size(), b, m)
	canvas := image.Rect(0, 0, b.W, b.H)
	if inks, ok := p.raw.(*image.CMYK); ok && p.icc != nil {
		inside := dst.Intersect(canvas)
		scaled := scaleInks(inks, src, dst.Sub(inside.Min), inside.Size())
		return p.turn.upright(onBox(to8Bit(toSRGB(scaled, p.icc)), inside.Min, canvas))
	}
	scaled := image.NewRGBA64(canvas)
	draw.CatmullRom.Scale(scaled, dst, p.raw, src.Add(p.raw.Bounds().Min), draw.Src, nil)
	return p.turn.upright(to8Bit(toSRGB(scaled, p.icc)))
}

// scale is how many pixels of the box one pixel of a picture takes.
func scale(size image.Point, b Box, m Mode) float64 {
	sx, sy := float64(b.W)/float64(size.X), float64(b.H)/float64(size.Y)
	if m == Contain {
		return min(sx, sy)
	}
	return max(sx, sy)
}

// place says which part of a picture (in its own pixels) goes where on a box.
// The place may reach over the box, which then cuts it off.
func place(size image.Point, b Box, m Mode) (src, dst image.Rectangle) {
	by := scale(size, b, m)
	x0, x1, u0, u1 := axis(size.X, b.W, by)
	y0, y1, v0, v1 := axis(size.Y, b.H, by)
	return image.Rect(x0, y0, x1, y1), image.Rect(u0, v0, u1, v1)
}

// axis places one direction: pixels [from, to) of size go to [at, end) of box.
// Whole source pixels that show a part of themselves are taken whole; they
// stand over the box on both sides.
func axis(size, box int, scale float64) (from, to, at, end int) {
	middle, reach := float64(size)/2, float64(box)/scale/2
	from = max(0, int(math.Floor(middle-reach+1e-6)))
	to = min(size, int(math.Ceil(middle+reach-1e-6)))
	long := max(1, int(math.Round(float64(to-from)*scale)))
	at = int(math.Floor(float64(box-long) / 2))
	return from, to, at, at + long
}

// scaleInks scales the four inks each for itself, so that a profile for print
// can be applied to few pixels.
func scaleInks(img *image.CMYK, src, dst image.Rectangle, size image.Point) *image.CMYK {
	out := image.NewCMYK(image.Rectangle{Max: size})
	ink, scaled := image.NewGray(img.Rect), image.NewGray(out.Rect)
	for c := range 4 {
		for i := range ink.Pix {
			ink.Pix[i] = img.Pix[4*i+c]
		}
		draw.CatmullRom.Scale(scaled, dst, ink, src, draw.Src, nil)
		for i, v := range scaled.Pix {
			out.Pix[4*i+c] = v
		}
	}
	return out
}

// onBox puts img in its place on an otherwise transparent canvas.
func onBox(img *image.NRGBA, at image.Point, canvas image.Rectangle) *image.NRGBA {
	if img.Rect == canvas {
		return img
	}
	out := image.NewNRGBA(canvas)
	draw.Draw(out, img.Rect.Add(at), img, img.Rect.Min, draw.Src)
	return out
}
