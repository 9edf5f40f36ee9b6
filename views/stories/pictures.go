package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"

	"tuval/views"
)

// picture is the address of an invented picture of a place, for stories; scale
// is 1 or 2.
func picture(p views.PlaceView, scale, number int) string {
	return fmt.Sprintf("/pictures/%d/%d/%d", p.W*10*scale, p.H*10*scale, number)
}

// mountPictures serves them.
func mountPictures(mux *http.ServeMux) {
	mux.HandleFunc("GET /pictures/{w}/{h}/{number}", func(w http.ResponseWriter, r *http.Request) {
		var size [3]int
		for i, name := range []string{"w", "h", "number"} {
			if _, err := fmt.Sscan(r.PathValue(name), &size[i]); err != nil || size[i] < 0 || size[i] > 2000 {
				http.NotFound(w, r)
				return
			}
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, paintPicture(size[0], size[1], size[2]))
	})
}

// paintPicture makes a hill under a sun, in colours that follow the number.
func paintPicture(w, h, number int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	sky, hill, sun := shade(number, 0), shade(number, 1), shade(number, 2)
	draw.Draw(img, img.Bounds(), image.NewUniform(sky), image.Point{}, draw.Src)
	for x := range w {
		top := h*2/3 - (x*(w-x)*h)/(w*w*2/3+1)
		draw.Draw(img, image.Rect(x, top, x+1, h), image.NewUniform(hill), image.Point{}, draw.Src)
	}
	cx, cy, r := w*3/4, h/4, max(min(w, h)/8, 1)
	for y := cy - r; y <= cy+r; y++ {
		for x := cx - r; x <= cx+r; x++ {
			if (x-cx)*(x-cx)+(y-cy)*(y-cy) <= r*r {
				img.Set(x, y, sun)
			}
		}
	}
	return img
}

func shade(number, part int) color.NRGBA {
	all := [][3]color.NRGBA{
		{{0x9f, 0xc5, 0xd8, 255}, {0x2f, 0x4b, 0x3c, 255}, {0xf6, 0xd3, 0x65, 255}},
		{{0xf3, 0xc9, 0xb0, 255}, {0x7b, 0x2d, 0x3b, 255}, {0xff, 0xf1, 0xc9, 255}},
		{{0x23, 0x2a, 0x45, 255}, {0x0e, 0x12, 0x1f, 255}, {0xea, 0xea, 0xd8, 255}},
		{{0xe9, 0xe2, 0xcf, 255}, {0xc2, 0x7a, 0x2c, 255}, {0xb8, 0x3b, 0x2b, 255}},
		{{0xcf, 0xe3, 0xd2, 255}, {0x2e, 0x6f, 0x8e, 255}, {0xf2, 0x8d, 0x52, 255}},
	}
	return all[number%len(all)][part]
}
