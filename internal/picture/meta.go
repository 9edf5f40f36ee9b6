package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
)

// pngMeta is what the chunks of a PNG say beside the pixels.
type pngMeta struct {
	w, h       int
	exif, icc  []byte
	interlaced bool
}

// walkPNG reads chunk by chunk: length, type, data, checksum. It stops at the
// first one that does not fit; the decoder will say what is wrong.
func walkPNG(data []byte) (m pngMeta) {
	for rest := data[8:]; len(rest) >= 12; {
		n := uint64(binary.BigEndian.Uint32(rest))
		if n > uint64(len(rest)-12) {
			return m
		}
		body := rest[8 : 8+n]
		switch string(rest[4:8]) {
		case "IHDR":
			if n >= 13 && m.w == 0 {
				m.w, m.h = int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:]))
				m.interlaced = body[12] != 0
			}
		case "eXIf":
			m.exif = body
		case "iCCP":
			m.icc = inflateProfile(body)
		}
		rest = rest[12+n:]
	}
	return m
}

// inflateProfile unpacks an iCCP chunk: name, zero, method, zlib stream. A
// profile that does not end within profileMax is none.
func inflateProfile(body []byte) []byte {
	_, packed, ok := bytes.Cut(body, []byte{0})
	if !ok || len(packed) < 2 || packed[0] != 0 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(packed[1:]))
	if err != nil {
		return nil
	}
	defer z.Close()
	profile, err := io.ReadAll(io.LimitReader(z, profileMax+1))
	if err != nil || len(profile) > profileMax {
		return nil
	}
	return profile
}

// jpegMeta is what the segments of a JPEG say before the first scan.
type jpegMeta struct {
	exif, icc     []byte
	bytesPerPixel float64 // what the standard library allocates
}

// scansMax is far above the ten or so scans of a progressive JPEG. Each scan
// makes the decoder pass over the whole picture, and may take a few bytes only.
const scansMax = 200

var errBroken = errors.New("broken container")

// walkJPEG reads segment by segment up to the first scan.
func walkJPEG(data []byte) (m jpegMeta, err error) {
	if bytes.Count(data, []byte{0xff, 0xda}) > scansMax {
		return m, errors.New("too many scans")
	}
	chunks := map[byte][]byte{}
	for at := 2; ; {
		marker, body, next, ok := jpegSegment(data, at)
		if !ok {
			return m, errBroken
		}
		switch {
		case marker == 0xda || marker == 0xd9: // start of scan, end of image
			m.icc = joinProfile(chunks)
			return m, nil
		case marker == 0xe1 && m.exif == nil && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			m.exif = body[6:]
		case marker == 0xe2 && len(body) > 14 && bytes.HasPrefix(body, []byte("ICC_PROFILE\x00")):
			chunks[body[12]] = body[13:] // total, data
		case marker >= 0xc0 && marker <= 0xc2 && m.bytesPerPixel == 0:
			m.bytesPerPixel = jpegBytesPerPixel(marker, body)
		}
		at = next
	}
}

// jpegSegment returns the marker at or after a position, its data, and where
// the next one begins. Fill bytes and stray bytes before a marker are skipped,
// as decoders do.
func jpegSegment(data []byte, at int) (marker byte, body []byte, next int, ok bool) {
	for ; at+1 < len(data); at++ {
		if data[at] == 0xff && data[at+1] != 0 && data[at+1] != 0xff {
			break
		}
	}
	if at+1 >= len(data) {
		return 0, nil, 0, false
	}
	marker = data[at+1]
	if marker >= 0xd0 && marker <= 0xd9 || marker == 0x01 { // these stand alone
		return marker, nil, at + 2, true
	}
	if at+4 > len(data) {
		return 0, nil, 0, false
	}
	n := int(binary.BigEndian.Uint16(data[at+2:]))
	if n < 2 || at+2+n > len(data) {
		return 0, nil, 0, false
	}
	return marker, data[at+4 : at+2+n], at + 2 + n, true
}

// joinProfile puts the numbered parts of a colour profile together, or gives
// nil when one is missing.
func joinProfile(chunks map[byte][]byte) []byte {
	var profile []byte
	for i := 1; i <= len(chunks); i++ {
		c, ok := chunks[byte(i)]
		if !ok || int(c[0]) != len(chunks) {
			return nil
		}
		profile = append(profile, c[1:]...)
	}
	return profile
}

// jpegBytesPerPixel estimates from a frame header: a byte a sample, four more
// a sample for the coefficients of a progressive file, and four bytes a pixel
// where the samples are put together afterwards (CMYK).
func jpegBytesPerPixel(marker byte, body []byte) float64 {
	const fixed, each = 6, 3
	if len(body) < fixed || len(body) < fixed+each*int(body[5]) {
		return 0
	}
	var most, all float64
	for i := range int(body[5]) {
		hv := body[fixed+each*i+1]
		area := float64(hv>>4) * float64(hv&15)
		most = max(most, area)
		all += area
	}
	if most == 0 {
		return 0
	}
	samples := all / most
	if marker == 0xc2 {
		samples += 4 * samples
	}
	if body[5] == 4 {
		samples += 4
	}
	return samples
}
