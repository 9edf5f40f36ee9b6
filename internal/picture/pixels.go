package picture

import (
	"encoding/binary"
	"image"

	"golang.org/x/image/draw"
)

// to8Bit rounds to 8 bits and straight alpha, as PNG keeps it. It works at 16
// bits until the end, so that faint pixels keep their colour.
func to8Bit(img image.Image) *image.NRGBA {
	out := image.NewNRGBA(img.Bounds())
	switch img := img.(type) {
	case *image.RGBA64:
		for i := 0; i < len(out.Pix); i += 4 {
			unmultiply(out.Pix[i:i+4], img.Pix[2*i:2*i+8])
		}
	case *image.NRGBA64:
		for i := range out.Pix {
			out.Pix[i] = to8(binary.BigEndian.Uint16(img.Pix[2*i:]))
		}
	default: // opaque, from a profile for print
		draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
	}
	return out
}

// unmultiply writes one pixel, given as premultiplied 16-bit channels, as
// straight 8-bit ones. Without alpha there is no colour either.
func unmultiply(to, from []uint8) {
	a := binary.BigEndian.Uint16(from[6:])
	if a == 0 {
		return
	}
	for c := range 3 {
		to[c] = straight(binary.BigEndian.Uint16(from[2*c:]), a)
	}
	to[3] = to8(a)
}

func straight(v, a uint16) uint8 {
	whole := (uint32(v)*0xffff + uint32(a)/2) / uint32(a)
	return to8(uint16(min(whole, 0xffff)))
}

// to8 rounds 16 bits to 8.
func to8(v uint16) uint8 { return uint8((uint32(v) + 128) / 257) }
