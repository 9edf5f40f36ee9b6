package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"

	"tuval/internal/fault"
)

// Format is a kind of file that is accepted.
type Format string

// The accepted formats.
const (
	PNG  Format = "PNG"
	JPEG Format = "JPEG"
	WebP Format = "WebP"
	GIF  Format = "GIF"
)

// hugeSide is a width or height nobody means.
const hugeSide = 1 << 24

// header is what a file says of itself, read without unpacking.
type header struct {
	format Format
	w, h   int   // as stored, before turning upright
	memory int64 // estimate of what decoding allocates, in bytes
	exif   []byte
	icc    []byte
	still  []byte // WebP only: the first frame as a file of its own
	frame  image.Rectangle
}

// sniff tells the format by the first bytes.
func sniff(data []byte) (Format, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG, nil
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG, nil
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return GIF, nil
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP, nil
	case len(data) >= 8 && string(data[4:8]) == "ftyp":
		return "", refuse(fault.Unsupported, "HEIC, AVIF and video files cannot be read: please save the picture as PNG, JPEG, WebP or GIF.")
	}
	return "", unsupported()
}

func readHeader(data []byte) (header, error) {
	format, err := sniff(data)
	if err != nil {
		return header{}, err
	}
	h := header{format: format}
	switch format {
	case PNG:
		err = h.readPNG(data)
	case JPEG:
		err = h.readJPEG(data)
	case GIF:
		err = h.readGIF(data)
	case WebP:
		err = h.readWebP(data)
	}
	if err != nil {
		return header{}, explain(err)
	}
	return h, nil
}

func (h *header) readPNG(data []byte) error {
	meta := walkPNG(data)
	h.w, h.h, h.exif, h.icc = meta.w, meta.h, meta.exif, meta.icc
	if h.w > hugeSide || h.h > hugeSide {
		return nil // over any limit; the decoder would only say "unsupported"
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	h.memory = int64(c.Width) * int64(c.Height) * bytesPerPixel(c.ColorModel)
	if meta.interlaced {
		h.memory += h.memory / 2 // the last pass, half of the picture, is unpacked beside it
	}
	return nil
}

func (h *header) readJPEG(data []byte) error {
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	meta, err := walkJPEG(data)
	if err != nil {
		return err
	}
	h.w, h.h, h.exif, h.icc = c.Width, c.Height, meta.exif, meta.icc
	h.memory = int64(float64(c.Width) * float64(c.Height) * meta.bytesPerPixel)
	return nil
}

func (h *header) readGIF(data []byte) error {
	c, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	h.w, h.h = c.Width, c.Height
	h.memory = int64(c.Width) * int64(c.Height) * (1 + 4) // palette indices, then the canvas
	return nil
}

// bytesPerPixel is how the standard library unpacks a PNG of this model.
func bytesPerPixel(m color.Model) int64 {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}
