package picture_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tuval/internal/fault"
	"tuval/internal/picture"
)

var (
	red   = color.NRGBA{255, 0, 0, 255}
	green = color.NRGBA{0, 255, 0, 255}
	blue  = color.NRGBA{0, 0, 255, 255}
	white = color.NRGBA{255, 255, 255, 255}
	clear = color.NRGBA{}
)

// quarters are the colours in the middle of the four quarters: top left, top
// right, bottom left, bottom right.
type quarters [4]color.NRGBA

var (
	plain   = quarters{red, green, blue, white}
	hollow  = quarters{red, green, blue, clear}
	byAlpha = quarters{{255, 0, 0, 128}, {0, 255, 0, 128}, {0, 0, 255, 128}, {255, 255, 255, 128}}
)

// accepted are the files that must be taken, with what they show.
var accepted = map[string]quarters{
	"exif_o1_gps.jpg": plain, "exif_o2_gps.jpg": plain, "exif_o3_gps.jpg": plain, "exif_o4_gps.jpg": plain,
	"exif_o5_gps.jpg": plain, "exif_o6_gps.jpg": plain, "exif_o7_gps.jpg": plain, "exif_o8_gps.jpg": plain,
	"gif_quad.gif": plain, "gif_with_html_comment.gif": plain, "jpeg_with_html_comment.jpg": plain,
	"jpeg_without_extension": plain, "ok_quad.jpg": plain, "ok_quad.png": plain, "png_named.JPG": plain,
	"png_with_html_text_and_tail.png": plain,
	"palette_2bit_trns.png":           hollow, "palette_trns.png": hollow, "rgb_trns_colorkey.png": hollow,
	"webp_lossless_alpha.webp": hollow, "webp_named.jpg": hollow,
	"gray_alpha8.png":             {{200, 200, 200, 255}, clear, {200, 200, 200, 255}, clear},
	"rgba16_half_alpha.png":       byAlpha,
	"gray16_ramp.png":             {}, // see TestRampIsSmooth
	"one_pixel.png":               {},
	"../more/lossy.webp":          plain,
	"../more/odd.webp":            plain,
	"../more/animated.webp":       plain,
	"../more/animated.gif":        plain,
	"../more/animated.png":        plain,
	"../more/exif_o6.webp":        plain,
	"../more/exif_o6.png":         plain,
	"../more/lossy_alpha.webp":    hollow,
	"../more/lossy_white.webp":    {white, white, white, white},
	"../more/cmyk.jpg":            plain,
	"../more/progressive_420.jpg": plain,
	"../more/progressive_444.jpg": plain,
	"../more/gray.jpg":            {{76, 76, 76, 255}, {150, 150, 150, 255}, {29, 29, 29, 255}, white},
}

const (
	sayDamaged = "damaged or cut off"
	sayFormats = "PNG, JPEG, WebP or GIF"
	sayPixels  = "at most 40 megapixels"
)

// refused are the files that must not be taken, with the kind and the words.
var refused = map[string]struct {
	kind fault.Kind
	says string
}{
	"active.svg":                     {fault.Unsupported, sayFormats},
	"svg_named.png":                  {fault.Unsupported, sayFormats},
	"html_named.jpg":                 {fault.Unsupported, sayFormats},
	"heic_header_named.jpg":          {fault.Unsupported, sayFormats},
	"bad_crc.png":                    {fault.Invalid, sayDamaged},
	"header_only.png":                {fault.Invalid, sayDamaged},
	"truncated.png":                  {fault.Invalid, sayDamaged},
	"truncated_half.jpg":             {fault.Invalid, sayDamaged},
	"truncated_no_eoi.jpg":           {fault.Invalid, sayDamaged},
	"overflow_header.png":            {fault.Invalid, sayPixels},
	"zero_bytes.png":                 {fault.Invalid, "empty"},
	"bomb_40000x40000_1bit.png":      {fault.Invalid, sayPixels},
	"lying_header_100000x100000.png": {fault.Invalid, sayPixels},
	"../more/arithmetic.jpg":         {fault.Unsupported, "rare variant"},
}

func TestEveryKnownFileHasAVerdict(t *testing.T) {
	t.Parallel()
	var known map[string]struct{ Sha256 string }
	b, err := os.ReadFile("testdata/images.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &known); err != nil {
		t.Fatal(err)
	}
	for name, k := range known {
		base := filepath.Base(name)
		_, yes := accepted[base]
		_, no := refused[base]
		if yes == no {
			t.Errorf("%s: accepted %v, refused %v", base, yes, no)
		}
		if sum := sha256.Sum256(read(t, base)); hex.EncodeToString(sum[:]) != k.Sha256 {
			t.Errorf("%s is not the known file", base)
		}
	}
}

func TestAcceptedFiles(t *testing.T) {
	t.Parallel()
	studio := picture.NewStudio(picture.DefaultLimits())
	for name, want := range accepted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, box := range []picture.Box{{64, 48}, {40, 30}, {200, 150}, {8, 6}} {
				r, err := studio.Render(t.Context(), read(t, name), box, picture.Contain)
				if err != nil {
					t.Fatal(err)
				}
				checkRendition(t, r.One, box.W, box.H, want)
				checkRendition(t, r.Two, 2*box.W, 2*box.H, want)
			}
		})
	}
}

// checkRendition looks at a finished file as a browser would: nothing but
// pixels in it, of the right size, and the right colours.
func checkRendition(t *testing.T, r picture.Rendition, w, h int, want quarters) {
	t.Helper()
	img := decodePNG(t, r)
	if r.W != w || r.H != h || img.Bounds() != image.Rect(0, 0, w, h) {
		t.Fatalf("size %d x %d (%v), want %d x %d", r.W, r.H, img.Bounds(), w, h)
	}
	for _, secret := range []string{"Exif", "GPS", "SECRET", "PWNED", "script", "tEXt", "iTXt", "zTXt", "eXIf", "iCCP"} {
		if bytes.Contains(r.Bytes, []byte(secret)) {
			t.Errorf("the file holds %q", secret)
		}
	}
	if want == (quarters{}) {
		return
	}
	for i, c := range want {
		x, y := w/4+i%2*w/2, h/4+i/2*h/2
		if got := nrgba(img.At(x, y)); !near(got, c, 6) {
			t.Errorf("%d x %d, quarter %d: %v, want %v", w, h, i, got, c)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	studio := picture.NewStudio(picture.DefaultLimits())
	for name, want := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := studio.Render(t.Context(), read(t, name), picture.Box{W: 60, H: 40}, picture.Cover)
			wantFault(t, err, want.kind, want.says)
			if r.One.Bytes != nil || r.Two.Bytes != nil {
				t.Error("a refused file left something behind")
			}
		})
	}
}

// TestCutOffAnywhere cuts good files at every byte: each piece is refused, or
// shows the whole picture.
func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ok_quad.png", "ok_quad.jpg", "gif_quad.gif", "webp_lossless_alpha.webp",
		"../more/lossy.webp", "../more/lossy_alpha.webp", "../more/progressive_444.jpg", "../more/cmyk.jpg",
	} {
		data := read(t, name)
		for n := range data {
			p, err := picture.Decode(t.Context(), data[:n], picture.DefaultLimits())
			if err != nil {
				if k := fault.As(err).Kind; k != fault.Invalid && k != fault.Unsupported {
					t.Fatalf("%s cut at %d: %v", name, n, err)
				}
				continue
			}
			_, two := p.Fit(picture.Box{W: 64, H: 48}, picture.Contain)
			for i, c := range accepted[name] {
				if got := two.NRGBAAt(32+i%2*64, 24+i/2*48); !near(got, c, 6) {
					t.Fatalf("%s cut at %d of %d: quarter %d is %v, want %v", name, n, len(data), i, got, c)
				}
			}
		}
	}
}

func TestFailedUploadDoesNotDisturbTheNext(t *testing.T) {
	t.Parallel()
	studio := picture.NewStudio(picture.DefaultLimits())
	for range 3 {
		if _, err := studio.Render(t.Context(), read(t, "truncated.png"), picture.Box{W: 60, H: 40}, picture.Cover); err == nil {
			t.Fatal("a cut-off file was accepted")
		}
		if _, err := studio.Render(t.Context(), read(t, "ok_quad.png"), picture.Box{W: 60, H: 40}, picture.Cover); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/images", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decodePNG(t testing.TB, r picture.Rendition) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(r.Bytes))
	if err != nil || r.MIME != "image/png" {
		t.Fatalf("%s: %v", r.MIME, err)
	}
	if sum := sha256.Sum256(r.Bytes); r.Hash != hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s is not of the bytes", r.Hash)
	}
	return img
}

func nrgba(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

func near(a, b color.NRGBA, most int) bool {
	if a.A == 0 && b.A == 0 {
		return true
	}
	off := func(x, y uint8) bool { return max(x, y)-min(x, y) > uint8(most) }
	return !off(a.R, b.R) && !off(a.G, b.G) && !off(a.B, b.B) && !off(a.A, b.A)
}

func wantFault(t *testing.T, err error, kind fault.Kind, says string) {
	t.Helper()
	e := fault.As(err)
	if err == nil || e.Kind != kind || e.Field != "image" || !strings.Contains(e.Msg, says) {
		t.Errorf("got kind %d, field %q: %v; want kind %d that says %q", e.Kind, e.Field, err, kind, says)
	}
}
