package compose

import (
	"image"
	"image/color"
	"image/draw"
)

// Placed is a picture on its place.
type Placed struct {
	Rect image.Rectangle // pixels of the canvas
	Img  image.Image     // of the size of Rect; nil: nothing, the ground shows
}

// Ground is the colour of the empty canvas.
func Ground() color.RGBA { return color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff} }

// New makes an empty canvas of a size in pixels.
func New(size image.Point) *image.RGBA {
	dst := image.NewRGBA(image.Rectangle{Max: size})
	clearTo(dst, dst.Rect)
	return dst
}

// Compose draws all areas on an empty ground. Areas do not overlap, so their
// order means nothing.
func Compose(dst *image.RGBA, areas []Placed) {
	clearTo(dst, dst.Rect)
	for _, a := range areas {
		put(dst, a)
	}
}

// Patch draws one area anew: what was on its rect is gone.
func Patch(dst *image.RGBA, a Placed) {
	clearTo(dst, a.Rect)
	put(dst, a)
}

// Clone is a copy that stays as it is.
func Clone(img *image.RGBA) *image.RGBA {
	c := *img
	c.Pix = append([]uint8(nil), img.Pix...)
	return &c
}

func clearTo(dst *image.RGBA, r image.Rectangle) {
	draw.Draw(dst, r, image.NewUniform(Ground()), image.Point{}, draw.Src)
}

// put draws within the rect only; draw.Draw cuts at the edges of both.
func put(dst *image.RGBA, a Placed) {
	if a.Img == nil {
		return
	}
	draw.Draw(dst, a.Rect, a.Img, a.Img.Bounds().Min, draw.Over)
}
