package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// Rendition is one finished file.
type Rendition struct {
	Hash  string // hex SHA-256 of Bytes: its address
	W, H  int    // pixels
	MIME  string // always image/png
	Bytes []byte
}

// Encode writes pixels as a PNG without anything else in it. The same pixels
// always give the same bytes, and so the same hash.
func Encode(img *image.NRGBA) (Rendition, error) {
	var out bytes.Buffer
	encoder := png.Encoder{} // the best level takes three times as long for 2 % less
	var pixels image.Image = img
	if p := paletted(img); p != nil {
		pixels = p
	}
	if err := encoder.Encode(&out, pixels); err != nil {
		return Rendition{}, fmt.Errorf("picture: encode: %w", err)
	}
	sum := sha256.Sum256(out.Bytes())
	return Rendition{
		Hash: hex.EncodeToString(sum[:]), W: img.Rect.Dx(), H: img.Rect.Dy(),
		MIME: "image/png", Bytes: out.Bytes(),
	}, nil
}

// paletted returns the same pixels with a palette, or nil when they have more
// than 256 colours. Logos and drawings become a fraction of their size.
func paletted(img *image.NRGBA) *image.Paletted {
	index := make(map[color.NRGBA]uint8, 256)
	out := image.NewPaletted(img.Rect, nil)
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			c := img.NRGBAAt(x, y)
			i, known := index[c]
			if !known {
				if len(out.Palette) == 256 {
					return nil
				}
				i = uint8(len(out.Palette))
				index[c] = i
				out.Palette = append(out.Palette, c)
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}
