package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"

	"github.com/kovidgoyal/imaging"
	"github.com/kovidgoyal/imaging/prism/meta/icc"
)

// profileMax is the longest colour profile that is looked at, in bytes;
// profiles for print, the largest there are, have some 2 MB.
const profileMax = 4 << 20

// checkProfile returns data if it can safely be given to the colour library,
// else nil. The library trusts the number of tags, their places and the number
// of points of a curve, and would allocate whatever they say.
func checkProfile(data []byte) []byte {
	const head, entry = 132, 12
	if len(data) < head || len(data) > profileMax {
		return nil
	}
	tags := uint64(binary.BigEndian.Uint32(data[128:]))
	start := head + tags*entry
	if start > uint64(len(data)) {
		return nil
	}
	for i := range tags {
		e := data[head+i*entry:]
		at, n := uint64(binary.BigEndian.Uint32(e[4:])), uint64(binary.BigEndian.Uint32(e[8:]))
		if at < start || at+n > uint64(len(data)) {
			return nil
		}
	}
	if !checkCurves(data) {
		return nil
	}
	return data
}

// checkCurves looks at everything that could be taken for a sampled curve,
// wherever it stands: 4 bytes of name, 4 unused, the number of points, points.
func checkCurves(data []byte) bool {
	const pointsMax = 1 << 16 // profiles have up to 4096
	for {
		at := bytes.Index(data, []byte("curv"))
		if at < 0 {
			return true
		}
		data = data[at:]
		if len(data) >= 12 {
			points := uint64(binary.BigEndian.Uint32(data[8:]))
			if points > pointsMax || 12+2*points > uint64(len(data)) {
				return false
			}
		}
		data = data[4:]
	}
}

// toSRGB converts pixels from the colours of a profile. A profile that does
// not fit the pixels or makes no sense is ignored.
func toSRGB(img image.Image, profile []byte) image.Image {
	if profile == nil {
		return img
	}
	converted, err := convertProfile(img, profile)
	if err != nil {
		return img
	}
	return converted
}

// convertProfile works on a copy, since the library writes into some images
// and may fail half way.
func convertProfile(img image.Image, profile []byte) (out image.Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("picture: colour profile: panic: %v", r)
		}
	}()
	p, err := icc.NewProfileReader(bytes.NewReader(profile)).ReadProfile()
	if err != nil {
		return nil, fmt.Errorf("picture: colour profile: %w", err)
	}
	if inks, ok := img.(*image.CMYK); ok {
		out, err = printToSRGB(p, inks)
	} else {
		out, err = imaging.ConvertToSRGB(p, imaging.Relative, true, imaging.ClonePreservingType(img))
	}
	if err != nil {
		return nil, fmt.Errorf("picture: convert colours: %w", err)
	}
	return out, nil
}

// printToSRGB converts four inks. The library can do it too, but cuts its
// results down to 8 bits instead of rounding, which turns white paper gray.
func printToSRGB(p *icc.Profile, img *image.CMYK) (image.Image, error) {
	const inks = 4
	to, err := p.CreateTransformerToSRGB(imaging.Relative, true, inks, true, true, true)
	if err != nil {
		return nil, err
	}
	out := image.NewNRGBA64(img.Rect)
	var from, into [inks]float64
	for i := 0; i < len(img.Pix); i += inks {
		for c, v := range img.Pix[i : i+inks] {
			from[c] = float64(v) / 0xff
		}
		to.TransformGeneral(into[:], from[:])
		into[3] = 1 // opaque
		for c, v := range into {
			binary.BigEndian.PutUint16(out.Pix[2*(i+c):], uint16(min(max(v, 0), 1)*0xffff+0.5))
		}
	}
	return out, nil
}
