package picture_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"runtime"
	"testing"

	"tuval/internal/picture"
)

// The colour profiles here swap channels: nothing but applying them explains
// the colours that come out.

func TestProfilesAreApplied(t *testing.T) {
	t.Parallel()
	swap := swapProfile(2.2)
	swapped := quarters{green, red, blue, white}
	for name, c := range map[string]struct {
		data []byte
		want quarters
	}{
		"png":              {withPNGProfile(t, read(t, "ok_quad.png"), deflate(t, swap)), swapped},
		"png with palette": {withPNGProfile(t, read(t, "palette_trns.png"), deflate(t, swap)), quarters{green, red, blue, clear}},
		"jpeg":             {withJPEGProfile(read(t, "ok_quad.jpg"), swap, 1), swapped},
		"jpeg, five parts": {withJPEGProfile(read(t, "ok_quad.jpg"), swap, 5), swapped},
		"jpeg, turned":     {withJPEGProfile(read(t, "exif_o7_gps.jpg"), swap, 2), swapped},
		"webp":             {withWebPProfile(read(t, "../more/lossy.webp"), swap), swapped},
		"cmyk":             {withJPEGProfile(read(t, "../more/cmyk.jpg"), inkProfile(), 1), quarters{blue, {9, 254, 0, 255}, red, white}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := picture.NewStudio(picture.DefaultLimits())
			r, err := studio.Render(t.Context(), c.data, picture.Box{W: 64, H: 48}, picture.Contain)
			if err != nil {
				t.Fatal(err)
			}
			checkRendition(t, r.One, 64, 48, c.want)
			checkRendition(t, r.Two, 128, 96, c.want)
			if r, err = studio.Render(t.Context(), c.data, picture.Box{W: 8, H: 6}, picture.Cover); err != nil {
				t.Fatal(err)
			}
			checkRendition(t, r.One, 8, 6, c.want)
		})
	}
}

func TestInkProfileLeavesMargins(t *testing.T) {
	t.Parallel()
	data := withJPEGProfile(read(t, "../more/cmyk.jpg"), inkProfile(), 1)
	one, _ := fit(t, data, picture.Box{W: 128, H: 48}, picture.Contain)
	if got := one.NRGBAAt(4, 24); got != clear {
		t.Errorf("margin is %v", got)
	}
	if got := one.NRGBAAt(48, 12); !near(got, blue, 6) {
		t.Errorf("top left is %v", got)
	}
	if got := one.NRGBAAt(80, 36); got != white {
		t.Errorf("white became %v", got)
	}
}

func TestWhiteAndGrayStayNeutral(t *testing.T) {
	t.Parallel()
	data := withPNGProfile(t, solid(t, 10, 10, white), deflate(t, swapProfile(1.8)))
	one, _ := fit(t, data, picture.Box{W: 10, H: 10}, picture.Cover)
	if got := one.NRGBAAt(5, 5); got != white {
		t.Errorf("white became %v", got)
	}
	data = withPNGProfile(t, solid(t, 10, 10, color.NRGBA{100, 100, 100, 255}), deflate(t, swapProfile(1.8)))
	one, _ = fit(t, data, picture.Box{W: 10, H: 10}, picture.Cover)
	// Gamma 1.8 is lighter than sRGB: 255 * srgb((100/255)^1.8) = 121.
	if got := one.NRGBAAt(5, 5); !near(got, color.NRGBA{121, 121, 121, 255}, 2) {
		t.Errorf("gray became %v", got)
	}
}

// TestBrokenProfilesAreIgnored: the picture is shown as sRGB, and no broken
// number makes us allocate what it says.
//
// Not parallel: it counts what the process allocates.
func TestBrokenProfilesAreIgnored(t *testing.T) {
	good := swapProfile(2.2)
	patched := func(at int, v ...byte) []byte {
		p := bytes.Clone(good)
		copy(p[at:], v)
		return p
	}
	quad := read(t, "ok_quad.png")
	for name, data := range map[string][]byte{
		"many tags":        withPNGProfile(t, quad, deflate(t, patched(128, 0xff, 0xff, 0xff, 0xff))),
		"more tags":        withPNGProfile(t, quad, deflate(t, patched(128, 0, 0, 0, 199))),
		"tag far away":     withPNGProfile(t, quad, deflate(t, patched(136, 0x7f, 0xff, 0xff, 0xff))),
		"tag very long":    withPNGProfile(t, quad, deflate(t, patched(140, 0xff, 0xff, 0xff, 0xff))),
		"tag over header":  withPNGProfile(t, quad, deflate(t, patched(136, 0, 0, 0, 4))),
		"endless curve":    withPNGProfile(t, quad, deflate(t, bytes.Replace(good, []byte("curv\x00\x00\x00\x00\x00"), []byte("curv\x00\x00\x00\x00\x74"), 1))),
		"no signature":     withPNGProfile(t, quad, deflate(t, patched(36, 0, 0, 0, 0))),
		"cut off":          withPNGProfile(t, quad, deflate(t, good[:150])),
		"empty":            withPNGProfile(t, quad, deflate(t, nil)),
		"not compressed":   withPNGProfile(t, quad, good),
		"a bomb":           withPNGProfile(t, quad, deflate(t, make([]byte, 24<<20))),
		"ink for light":    withPNGProfile(t, quad, deflate(t, inkProfile())),
		"missing part":     bytes.Replace(withJPEGProfile(read(t, "ok_quad.jpg"), good, 3), []byte("ICC_PROFILE\x00\x02"), []byte("ICC_PROFILE\x00\x09"), 1),
		"light for ink":    withJPEGProfile(read(t, "../more/cmyk.jpg"), good, 1),
		"broken ink table": withJPEGProfile(read(t, "../more/cmyk.jpg"), bytes.Replace(inkProfile(), []byte("mft1\x00\x00\x00\x00\x04\x03\x02"), []byte("mft1\x00\x00\x00\x00\x04\x03\xff"), 1), 1),
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			one, _ := fit(t, data, picture.Box{W: 64, H: 48}, picture.Contain)
			if used := allocated() - before; used > 32<<20 {
				t.Errorf("allocated %d MB", used>>20)
			}
			for i, want := range plain {
				if got := one.NRGBAAt(16+i%2*32, 12+i/2*24); !near(got, want, 6) {
					t.Errorf("quarter %d: %v, want %v", i, got, want)
				}
			}
		})
	}
}

func FuzzProfile(f *testing.F) {
	f.Add(swapProfile(2.2), false)
	f.Add(inkProfile(), true)
	f.Fuzz(func(t *testing.T, profile []byte, ink bool) {
		if len(profile) > 60_000 {
			t.Skip()
		}
		base := read(t, "ok_quad.jpg")
		if ink {
			base = read(t, "../more/cmyk.jpg")
		}
		one, _ := fit(t, withJPEGProfile(base, profile, 1), picture.Box{W: 10, H: 10}, picture.Cover)
		if one.Rect != image.Rect(0, 0, 10, 10) {
			t.Errorf("size %v", one.Rect)
		}
	})
}

// allocated is the number of bytes ever allocated by the process.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// tag is one entry of a profile.
type tag struct {
	name string
	data []byte
}

// profile builds an ICC profile of version 2.
func profile(class, space, pcs string, tags ...tag) []byte {
	head := make([]byte, 128)
	binary.BigEndian.PutUint32(head[8:], 0x02100000)
	copy(head[12:], class)
	copy(head[16:], space)
	copy(head[20:], pcs)
	copy(head[36:], "acsp")
	copy(head[68:], fixed(0.9642, 1, 0.8249))
	table := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	var body []byte
	for _, t := range tags {
		table = append(table, t.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(128+4+12*len(tags)+len(body)))
		table = binary.BigEndian.AppendUint32(table, uint32(len(t.data)))
		body = append(body, t.data...)
	}
	out := append(append(head, table...), body...)
	binary.BigEndian.PutUint32(out, uint32(len(out)))
	return out
}

// swapProfile is like sRGB with red and green exchanged.
func swapProfile(gamma float64) []byte {
	xyz := func(v ...float64) []byte { return append([]byte("XYZ \x00\x00\x00\x00"), fixed(v...)...) }
	curve := append([]byte("curv\x00\x00\x00\x00\x00\x00\x00\x01"), byte(gamma), byte(gamma*256), 0, 0)
	return profile("mntr", "RGB ", "XYZ ",
		tag{"rXYZ", xyz(0.38515, 0.71687, 0.09708)}, tag{"gXYZ", xyz(0.43607, 0.22249, 0.01392)}, tag{"bXYZ", xyz(0.14307, 0.06061, 0.71410)},
		tag{"rTRC", curve}, tag{"gTRC", curve}, tag{"bTRC", curve}, tag{"wtpt", xyz(0.9642, 1, 0.8249)})
}

// inkProfile is a print profile that makes red out of the inks for blue and
// the other way round.
func inkProfile() []byte {
	lut := []byte("mft1\x00\x00\x00\x00\x04\x03\x02\x00")
	lut = append(lut, fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)...)
	identity := make([]byte, 256)
	for i := range identity {
		identity[i] = byte(i)
	}
	lut = append(lut, bytes.Repeat(identity, 4)...)
	lab := map[int][]byte{0b0000: {255, 128, 128}, 0b0110: {75, 196, 16}, 0b1010: {224, 49, 209}, 0b1100: {138, 209, 198}}
	for inks := range 16 { // C M Y K, C slowest
		if v, ok := lab[inks]; ok {
			lut = append(lut, v...)
		} else {
			lut = append(lut, 0, 128, 128)
		}
	}
	return profile("prtr", "CMYK", "Lab ", tag{"A2B0", append(lut, bytes.Repeat(identity, 3)...)})
}

// fixed writes numbers with 16 bits behind the point.
func fixed(v ...float64) (out []byte) {
	for _, f := range v {
		out = binary.BigEndian.AppendUint32(out, uint32(int32(f*65536)))
	}
	return out
}

func deflate(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pngHead is the length of signature and IHDR chunk.
const pngHead = 8 + 25

func pngChunk(name string, body []byte) []byte {
	c := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	c = append(append(c, name...), body...)
	return binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
}

func withPNGProfile(t testing.TB, data, packed []byte) []byte {
	t.Helper()
	chunk := pngChunk("iCCP", append([]byte("swap\x00\x00"), packed...))
	return bytes.Join([][]byte{data[:pngHead], chunk, data[pngHead:]}, nil)
}

func withJPEGProfile(data, profile []byte, parts int) []byte {
	out := bytes.Clone(data[:2])
	size := (len(profile) + parts - 1) / parts
	for i := range parts {
		part := profile[min(i*size, len(profile)):min((i+1)*size, len(profile))]
		body := append([]byte("ICC_PROFILE\x00"), byte(i+1), byte(parts))
		out = append(out, 0xff, 0xe2)
		out = binary.BigEndian.AppendUint16(out, uint16(2+len(body)+len(part)))
		out = append(append(out, body...), part...)
	}
	return append(out, data[2:]...)
}

func withWebPProfile(still, profile []byte) []byte {
	x := []byte{1 << 5, 0, 0, 0, 63, 0, 0, 47, 0, 0}
	return riff(riffChunk("VP8X", x), riffChunk("ICCP", profile), still[12:])
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func riffChunk(name string, body []byte) []byte {
	c := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body)))
	c = append(c, body...)
	return append(c, make([]byte, len(body)%2)...)
}
