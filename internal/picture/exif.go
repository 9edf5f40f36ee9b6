package picture

import (
	"bytes"
	"encoding/binary"
	"image"

	"github.com/kovidgoyal/imaging"
)

// turn is the EXIF orientation, 1 to 8: how a camera was held.
type turn int

// swaps reports whether turning upright exchanges width and height.
func (t turn) swaps() bool { return t >= 5 }

// readTurn finds the orientation in the first directory of a TIFF block. Any
// doubt means 1, as stored.
func readTurn(tiff []byte) turn {
	tiff = bytes.TrimPrefix(tiff, []byte("Exif\x00\x00")) // some WebP writers keep it
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(tiff[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	const size, orientation, short = 12, 0x0112, 3
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < size {
			return 1
		}
		if order.Uint16(entries) == orientation && order.Uint16(entries[2:]) == short {
			if t := turn(order.Uint16(entries[8:])); t >= 1 && t <= 8 {
				return t
			}
			return 1
		}
		entries = entries[size:]
	}
	return 1
}

// upright turns the finished pixels.
func (t turn) upright(img *image.NRGBA) *image.NRGBA {
	var turned image.Image = img
	switch t {
	case 2:
		turned = imaging.FlipH(img)
	case 3:
		turned = imaging.Rotate180(img)
	case 4:
		turned = imaging.FlipV(img)
	case 5:
		turned = imaging.Transpose(img)
	case 6:
		turned = imaging.Rotate270(img)
	case 7:
		turned = imaging.Transverse(img)
	case 8:
		turned = imaging.Rotate90(img)
	}
	return imaging.AsNRGBA(turned)
}
