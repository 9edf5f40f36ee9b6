package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"

	"golang.org/x/image/webp"
)

// webpChunk is one part of a RIFF file.
type webpChunk struct {
	id   string
	body []byte
}

// readWebP finds metadata and the first frame. The frame is made a still file
// of its own with exactly the parts a decoder needs, so that animations and
// files with odd flags take the same way.
func (h *header) readWebP(data []byte) error {
	chunks, err := webpChunks(data[12:])
	if err != nil {
		return err
	}
	var canvas image.Point
	var first []webpChunk
	for _, c := range chunks {
		switch {
		case c.id == "VP8X" && len(c.body) >= 10:
			canvas = image.Pt(uint24(c.body[4:])+1, uint24(c.body[7:])+1)
		case c.id == "ICCP":
			h.icc = c.body
		case c.id == "EXIF":
			h.exif = c.body
		case c.id == "ANMF" && first == nil:
			if h.frame, first, err = webpFrame(c.body); err != nil {
				return err
			}
		case (c.id == "ALPH" || c.id == "VP8 " || c.id == "VP8L") && !complete(first):
			first = append(first, c)
		}
	}
	return h.takeFrame(first, canvas)
}

func complete(frame []webpChunk) bool {
	return len(frame) > 0 && frame[len(frame)-1].id != "ALPH"
}

// takeFrame measures the first frame and its canvas.
func (h *header) takeFrame(frame []webpChunk, canvas image.Point) error {
	if !complete(frame) {
		return errBroken
	}
	h.still = webpStill(frame, canvas, h.frame)
	c, err := webp.DecodeConfig(bytes.NewReader(h.still))
	if err != nil {
		return err
	}
	if h.frame.Empty() {
		h.frame = image.Rect(0, 0, c.Width, c.Height)
	}
	if canvas == (image.Point{}) {
		canvas = h.frame.Max
	}
	h.w, h.h = canvas.X, canvas.Y
	if !h.frame.In(image.Rect(0, 0, h.w, h.h)) {
		return errBroken
	}
	// Lossless files and alpha are unpacked to four bytes a pixel, up to twice.
	h.memory = int64(h.w) * int64(h.h) * 10
	if len(frame) == 1 && frame[0].id == "VP8 " {
		h.memory = int64(h.w) * int64(h.h) * 2
	}
	return nil
}

// webpChunks splits a RIFF body: id, length, data, a byte of padding if odd.
func webpChunks(rest []byte) (chunks []webpChunk, err error) {
	for len(rest) >= 8 {
		n := uint64(binary.LittleEndian.Uint32(rest[4:]))
		if n > uint64(len(rest)-8) {
			return nil, errBroken
		}
		chunks = append(chunks, webpChunk{string(rest[:4]), rest[8 : 8+n]})
		rest = rest[8+n:]
		if n%2 == 1 && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	return chunks, nil
}

// webpFrame reads a frame of an animation: where it stands, and its parts.
func webpFrame(body []byte) (image.Rectangle, []webpChunk, error) {
	if len(body) < 16 {
		return image.Rectangle{}, nil, errBroken
	}
	at := image.Pt(2*uint24(body), 2*uint24(body[3:]))
	size := image.Pt(uint24(body[6:])+1, uint24(body[9:])+1)
	chunks, err := webpChunks(body[16:])
	var parts []webpChunk
	for _, c := range chunks {
		if (c.id == "ALPH" || c.id == "VP8 " || c.id == "VP8L") && !complete(parts) {
			parts = append(parts, c)
		}
	}
	return image.Rectangle{Min: at, Max: at.Add(size)}, parts, err
}

// webpStill writes the parts of a frame as a file. Alpha beside lossy pixels
// needs the extended header with the size in it.
func webpStill(frame []webpChunk, canvas image.Point, r image.Rectangle) []byte {
	if !r.Empty() {
		canvas = r.Size()
	}
	if frame[0].id == "ALPH" {
		x := make([]byte, 10)
		x[0] = 1 << 4 // has alpha
		putUint24(x[4:], canvas.X-1)
		putUint24(x[7:], canvas.Y-1)
		frame = append([]webpChunk{{"VP8X", x}}, frame...)
	}
	body := []byte("WEBP")
	for _, c := range frame {
		body = append(body, c.id...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(c.body)))
		body = append(body, c.body...)
		body = append(body, make([]byte, len(c.body)%2)...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func (h header) unpackWebP(ctx context.Context) (image.Image, error) {
	img, err := webp.Decode(ctxReader{ctx, bytes.NewReader(h.still)})
	if err != nil {
		return nil, err
	}
	switch img := img.(type) {
	case *image.YCbCr:
		fullRange(img)
	case *image.NYCbCrA:
		fullRange(&img.YCbCr)
	}
	if img.Bounds() != h.frame.Sub(h.frame.Min) {
		return nil, errBroken
	}
	return onCanvas(img, h.frame, h.w, h.h), nil
}

// fullRange stretches the samples of a lossy WebP. Its brightness runs from 16
// to 235 and its colour from 16 to 240, while Go's YCbCr means 0 to 255: taken
// as they are, white comes out gray.
func fullRange(img *image.YCbCr) {
	var y, c [256]uint8
	for i := range y {
		y[i] = stretch(i-16, 219, 0)
		c[i] = stretch(i-128, 224, 128)
	}
	for i, v := range img.Y {
		img.Y[i] = y[v]
	}
	for i := range img.Cb {
		img.Cb[i], img.Cr[i] = c[img.Cb[i]], c[img.Cr[i]]
	}
}

func stretch(v, span, middle int) uint8 {
	scaled := float64(v)*255/float64(span) + float64(middle)
	return uint8(min(max(scaled+0.5, 0), 255))
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func putUint24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }
