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
// else nil. The library trusts the number of tags and their places and would
// allocate whatever they say.
func checkProfile(data []byte) []byte {
	const head, entry, tagsMax = 132, 12, 200
	if len(data) < head || len(data) > profileMax {
		return nil
	}
	tags := uint64(binary.BigEndian.Uint32(data[128:]))
	start := head + tags*entry
	if tags > tagsMax || start > uint64(len(data)) {
		return nil
	}
	for i := range tags {
		e := data[head+i*entry:]
		at, n := uint64(binary.BigEndian.Uint32(e[4:])), uint64(binary.BigEndian.Uint32(e[8:]))
		if at < start || at+n > uint64(len(data)) {
			return nil
		}
	}
	return data
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
	out, err = imaging.ConvertToSRGB(p, imaging.Relative, true, imaging.ClonePreservingType(img))
	if err != nil {
		return nil, fmt.Errorf("picture: convert colours: %w", err)
	}
	return out, nil
}
