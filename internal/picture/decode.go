package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"tuval/internal/fault"
)

// Picture is a decoded upload. Its pixels are as stored in the file; turning
// upright and colour conversion are done by Fit, on far fewer pixels.
type Picture struct {
	Info
	raw  image.Image
	turn turn
	icc  []byte // checked, or nil for sRGB
}

// Info describes an upload. Width and height are those of the upright picture.
type Info struct {
	Format Format
	W, H   int
}

// Decode unpacks an upload. Faults, all of field "image": TooLarge for the
// file's length; Unsupported for what is not one of the formats; Invalid for
// an empty, damaged or cut-off file and for one over the other limits. When
// ctx ends, decoding stops with its error.
func Decode(ctx context.Context, data []byte, l Limits) (*Picture, error) {
	h, err := l.inspect(data)
	if err != nil {
		return nil, err
	}
	return h.decode(ctx, data)
}

// inspect reads the header and holds it against the limits.
func (l Limits) inspect(data []byte) (header, error) {
	if err := l.checkBytes(data); err != nil {
		return header{}, err
	}
	h, err := readHeader(data)
	if err != nil {
		return header{}, err
	}
	return h, l.check(h)
}

func (h header) decode(ctx context.Context, data []byte) (p *Picture, err error) {
	defer func() {
		// Decoders are parsers of hostile input; a panic in one is a bad file.
		if r := recover(); r != nil {
			p, err = nil, damaged(fmt.Errorf("panic: %v", r))
		}
	}()
	raw, err := h.unpack(ctxReader{ctx, bytes.NewReader(data)})
	if gone := ctx.Err(); gone != nil { // not every decoder passes it on
		return nil, fmt.Errorf("picture: decode: %w", gone)
	}
	if err != nil {
		return nil, explain(err)
	}
	if raw.Bounds() != image.Rect(0, 0, h.w, h.h) {
		return nil, damaged(fmt.Errorf("header says %d x %d, picture is %v", h.w, h.h, raw.Bounds()))
	}
	p = &Picture{raw: raw, turn: readTurn(h.exif), icc: checkProfile(h.icc), Info: Info{Format: h.format, W: h.w, H: h.h}}
	if p.turn.swaps() {
		p.W, p.H = p.H, p.W
	}
	return p, nil
}

func (h header) unpack(r ctxReader) (image.Image, error) {
	switch h.format {
	case PNG:
		return png.Decode(r)
	case JPEG:
		return jpeg.Decode(r)
	case GIF:
		frame, err := gif.Decode(r)
		if err != nil {
			return nil, err
		}
		return onCanvas(frame, frame.Bounds(), h.w, h.h), nil
	}
	return h.unpackWebP(r.ctx)
}

// onCanvas puts a first frame that covers a part of its canvas in its place.
func onCanvas(frame image.Image, place image.Rectangle, w, h int) image.Image {
	canvas := image.Rect(0, 0, w, h)
	if place == canvas && frame.Bounds() == canvas {
		return frame
	}
	whole := image.NewNRGBA(canvas)
	draw.Draw(whole, place, frame, frame.Bounds().Min, draw.Src)
	return whole
}

// explain turns what a decoder says into a fault for people; faults pass.
func explain(err error) error {
	var f *fault.Error
	var newJPEG jpeg.UnsupportedError
	var newPNG png.UnsupportedError
	switch {
	case errors.As(err, &f):
		return err
	case errors.As(err, &newJPEG), errors.As(err, &newPNG):
		return refuse(fault.Unsupported, "This picture uses a rare variant of its format: please save it again as an ordinary PNG or JPEG.").Because(err)
	}
	return damaged(err)
}

// ctxReader makes a decoder stop when nobody waits any more.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

// Read gives bytes until the context ends.
func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
