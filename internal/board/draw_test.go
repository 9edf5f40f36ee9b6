package board_test

import (
	"image"
	"image/color"
	"image/draw"
)

// filled is a red picture.
func filled(size image.Rectangle) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, size.Dx(), size.Dy()))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.NRGBA{R: 255, A: 255}), image.Point{}, draw.Src)
	return img
}
