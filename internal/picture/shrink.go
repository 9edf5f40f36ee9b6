package picture

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// shrunk returns the picture made smaller by a whole number, by averaging,
// when it is more than four times as large as needed at 2x: the fine scaling
// that follows then has few pixels to work on, and at least two for each it
// makes. Else it returns the picture as it is.
func (p *Picture) shrunk(b Box, m Mode) *Picture {
	size := p.raw.Bounds().Size()
	by := int(1 / (2 * scale(size, p.boxAsStored(b.times(2)), m)))
	if by < 2 {
		return p
	}
	n := image.Pt(max(1, size.X/by), max(1, size.Y/by))
	small := *p
	if inks, ok := p.raw.(*image.CMYK); ok && p.icc != nil {
		small.raw = shrinkInks(inks, n)
	} else {
		small.raw = shrinkLight(p.raw, n)
	}
	return &small
}

func shrinkLight(img image.Image, n image.Point) *image.RGBA64 {
	bounds := img.Bounds()
	line := image.NewRGBA(image.Rect(0, 0, bounds.Dx(), 1))
	out := image.NewRGBA64(image.Rectangle{Max: n})
	average(bounds.Size(), n, func(y int) []uint8 {
		draw.Draw(line, line.Rect, img, bounds.Min.Add(image.Pt(0, y)), draw.Src)
		return line.Pix
	}, func(i int, mean float64) {
		v := uint16(mean*257 + 0.5)
		out.Pix[2*i], out.Pix[2*i+1] = uint8(v>>8), uint8(v)
	})
	return out
}

func shrinkInks(img *image.CMYK, n image.Point) *image.CMYK {
	out := image.NewCMYK(image.Rectangle{Max: n})
	average(img.Rect.Size(), n, func(y int) []uint8 {
		return img.Pix[y*img.Stride : (y+1)*img.Stride]
	}, func(i int, mean float64) {
		out.Pix[i] = uint8(math.Round(mean))
	})
	return out
}

// average divides a picture of four channels into n.X x n.Y parts, as even as
// whole pixels allow, and gives put the mean of each channel of each part.
func average(size, n image.Point, line func(y int) []uint8, put func(i int, mean float64)) {
	sums := make([]uint64, 4*n.X)
	for ny := range n.Y {
		clear(sums)
		from, to := part(ny, n.Y, size.Y)
		for y := from; y < to; y++ {
			addLine(sums, line(y), n.X, size.X)
		}
		for i, sum := range sums {
			x0, x1 := part(i/4, n.X, size.X)
			put(ny*len(sums)+i, float64(sum)/float64((to-from)*(x1-x0)))
		}
	}
}

func addLine(sums []uint64, line []uint8, parts, width int) {
	for nx := range parts {
		from, to := part(nx, parts, width)
		var a, b, c, d uint64
		for p := line[4*from : 4*to]; len(p) >= 4; p = p[4:] {
			a, b, c, d = a+uint64(p[0]), b+uint64(p[1]), c+uint64(p[2]), d+uint64(p[3])
		}
		s := sums[4*nx : 4*nx+4]
		s[0], s[1], s[2], s[3] = s[0]+a, s[1]+b, s[2]+c, s[3]+d
	}
}

// part is the range of the i-th of n parts of size.
func part(i, n, size int) (from, to int) { return i * size / n, (i + 1) * size / n }
