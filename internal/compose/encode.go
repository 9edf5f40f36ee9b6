package compose

import (
	"bytes"
	"fmt"
	"image"
	"image/png"

	"github.com/gen2brain/webp"
)

// EncodePNG writes the exact picture, at the default level: the fastest one
// makes files of drawings longer for little time saved, the best one takes
// four times as long for nothing (see the benchmarks).
func EncodePNG(img *image.RGBA) ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("compose: encode PNG: %w", err)
	}
	return b.Bytes(), nil
}

// PreviewBytes is how long the preview may become: the page's budget for its
// first picture.
const PreviewBytes = 150_000

// previewMethod is the encoder's effort. Higher ones take two to four times as
// long for files a tenth shorter.
const previewMethod = 2

// EncodeWebP writes a preview that is nearly the picture: in quality 80, or in
// a lower one when a very busy canvas would be over PreviewBytes. The lowest
// is taken however long it is.
func EncodeWebP(img *image.RGBA) ([]byte, error) {
	img = packed(img)
	var b bytes.Buffer
	for _, quality := range []int{80, 60, 35} {
		b.Reset()
		if err := webp.Encode(&b, img, webp.Options{Quality: quality, Method: previewMethod}); err != nil {
			return nil, fmt.Errorf("compose: encode WebP: %w", err)
		}
		if b.Len() <= PreviewBytes {
			break
		}
	}
	return b.Bytes(), nil
}

// packed returns the picture with its lines next to each other, as the encoder
// takes for granted.
func packed(img *image.RGBA) *image.RGBA {
	size := img.Rect.Size()
	if img.Stride == 4*size.X {
		return img
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		copy(out.Pix[y*out.Stride:(y+1)*out.Stride], img.Pix[y*img.Stride:])
	}
	return out
}
