package web_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

const pictures = "../internal/picture/testdata/images"

func pictureFile(t *testing.T, name string) []byte {
	t.Helper()
	return must(os.ReadFile(filepath.Join(pictures, name)))
}

// peak watches how far the heap grows while do runs.
func peak(do func()) uint64 {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, top := m.HeapAlloc, m.HeapAlloc
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				top = max(top, now.HeapAlloc)
			}
		}
	})
	do()
	close(done)
	watcher.Wait()
	return top - min(base, top)
}

// I03: small files that claim to be huge, ten at once, and one that is huge,
// are refused quickly and cost next to nothing; the canvas answers meanwhile.
func TestI03BombsAreRefusedWhileTheCanvasAnswers(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	files := [][]byte{pictureFile(t, "lying_header_100000x100000.png"), pictureFile(t, "overflow_header.png")}
	for range 10 {
		files = append(files, pictureFile(t, "bomb_40000x40000_1bit.png"))
	}
	huge := bytes.Repeat([]byte("x"), 100<<20)
	var slowest time.Duration
	grown := peak(func() {
		var all sync.WaitGroup
		for _, file := range files {
			all.Go(func() {
				begun := time.Now()
				if a := b.submitFile(path, "bomb.png", file); a.status < 400 || a.status > 499 {
					t.Errorf("a bomb: %d", a.status)
				}
				if took := time.Since(begun); took > 10*time.Second {
					t.Errorf("a bomb took %s", took)
				}
			})
		}
		finished := make(chan struct{})
		go func() { all.Wait(); close(finished) }()
		visitor := s.browser()
		for looking := true; looking; {
			begun := time.Now()
			visitor.get("/").wants(http.StatusOK)
			slowest = max(slowest, time.Since(begun))
			select {
			case <-finished:
				looking = false
			default:
			}
		}
	})
	t.Logf("the heap grew by %d MB, the slowest canvas page took %s", grown>>20, slowest)
	if grown > 100<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	if slowest > 5*time.Second { // half a second on a machine of one's own
		t.Errorf("the canvas took %s", slowest)
	}
	body, kind := multipartOf(huge)
	r := b.request("POST", path+"/creative", bytes.NewReader(body), "Content-Type", kind)
	if resp, err := b.client.Do(r); err == nil { // the connection may be cut before all is sent
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("100 MB: %d", resp.StatusCode)
		}
		drain(resp.Body)
		resp.Body.Close()
	}
	b.get(path).says("Paid. Now your picture")
	if n := s.count(`SELECT count(*) FROM creatives`) + s.count(`SELECT count(*) FROM pictures`); n != 0 {
		t.Errorf("%d rows are left of refused pictures", n)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "multipart-*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func multipartOf(file []byte) ([]byte, string) {
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	w := must(m.CreateFormFile("image", "a.png"))
	must(w.Write(file))
	_ = m.Close()
	return body.Bytes(), m.FormDataContentType()
}

// submitFile sends a file with fine words.
func (b *browser) submitFile(path, name string, file []byte) *answer {
	b.t.Helper()
	return b.upload(path+"/creative", name, "image/png", file, "link", "https://a.example/", "title", "T", "alt", "A", "fit", "cover")
}

// I05: what is cut off or broken is refused when it is sent, and leaves the
// picture that is there alone; a good one works afterwards.
func TestI05BrokenPicturesAreRefusedAtOnce(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	b.submit(path).wants(http.StatusSeeOther)
	before := s.everything()
	for _, name := range []string{"truncated.png", "truncated_half.jpg", "bad_crc.png", "zero_bytes.png", "header_only.png"} {
		for _, scripts := range []bool{false, true} {
			b.htmx = scripts
			a := b.submitFile(path, name, pictureFile(t, name))
			a.wants(http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType).marks("image")
		}
	}
	b.htmx = false
	s.cutOff(t, b, path)
	if s.everything() != before {
		t.Error("a refused picture changed something")
	}
	// Only its end mark is missing: either verdict is given at once.
	b.submitFile(path, "a.jpg", pictureFile(t, "truncated_no_eoi.jpg")).wants(http.StatusSeeOther, http.StatusUnprocessableEntity)
	b.submitFile(path, "ok.png", pictureFile(t, "ok_quad.png")).wants(http.StatusSeeOther)
	b.submitFile(path, "one.png", pictureFile(t, "one_pixel.png")).wants(http.StatusSeeOther, http.StatusUnprocessableEntity)
}

// cutOff breaks the connection in the middle of a good upload.
func (s *stack) cutOff(t *testing.T, b *browser, path string) {
	t.Helper()
	body, kind := multipartOf(bytes.Repeat(pictureFile(t, "ok_quad.png"), 50))
	r := b.request("POST", path+"/creative", &halfReader{rest: body[:len(body)/2]}, "Content-Type", kind)
	r.ContentLength = int64(len(body))
	if resp, err := b.client.Do(r); err == nil {
		t.Errorf("half an upload is answered with %d", resp.StatusCode)
		resp.Body.Close()
	}
}

// halfReader ends with an error, upon which the client drops the connection.
type halfReader struct{ rest []byte }

func (h *halfReader) Read(b []byte) (int, error) {
	if len(h.rest) == 0 {
		return 0, os.ErrClosed
	}
	n := copy(b, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

// I06: the bytes decide, not the name and not what the client says; what is
// served was written anew, as an image and nothing else. I01: upright, and
// without what cameras put in. I07: transparency stays. All by what is served.
func TestI01I06I07WhatIsServed(t *testing.T) {
	s := newStack(t)
	admin, b := s.admin(), s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	for _, c := range []struct {
		file string
		ok   bool
		quad bool // four colours, upright
	}{
		{"active.svg", false, false},
		{"svg_named.png", false, false},
		{"html_named.jpg", false, false},
		{"heic_header_named.jpg", false, false},
		{"gif_with_html_comment.gif", true, false},
		{"jpeg_with_html_comment.jpg", true, false},
		{"png_with_html_text_and_tail.png", true, false},
		{"webp_lossless_alpha.webp", true, false},
		{"webp_named.jpg", true, false},
		{"png_named.JPG", true, true},
		{"jpeg_without_extension", true, true},
		{"gif_quad.gif", true, true},
		{"ok_quad.jpg", true, true},
		{"exif_o1_gps.jpg", true, true},
		{"exif_o2_gps.jpg", true, true},
		{"exif_o3_gps.jpg", true, true},
		{"exif_o4_gps.jpg", true, true},
		{"exif_o5_gps.jpg", true, true},
		{"exif_o6_gps.jpg", true, true},
		{"exif_o7_gps.jpg", true, true},
		{"exif_o8_gps.jpg", true, true},
	} {
		for _, kind := range []string{"text/html", "image/png"} {
			a := b.upload(path+"/creative", c.file, kind, pictureFile(t, c.file), "link", "https://a.example/", "title", c.file, "alt", "A", "fit", "cover")
			if !c.ok {
				a.wants(http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity).marks("image").says("PNG", "JPEG", "WebP", "GIF")
				continue
			}
			a.wants(http.StatusSeeOther)
		}
		if c.ok {
			for _, viewer := range []*browser{b, admin} {
				s.serves(t, viewer, path, c.file, c.quad)
			}
		}
	}
}

// serves looks at every form in which the newest revision is served.
func (s *stack) serves(t *testing.T, b *browser, path, name string, quad bool) {
	t.Helper()
	for _, column := range []string{"picture", "picture_2x"} {
		hash := s.text(`SELECT ` + column + ` FROM creatives ORDER BY id DESC LIMIT 1`)
		a := b.get(path + "/pictures/" + hash).wants(http.StatusOK)
		if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "image/") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is served as %s, %v", name, kind, a.header)
		}
		for _, mark := range []string{"PWNED-MARK", "Exif", "GPS", "SECRET-CAMERA-SERIAL"} {
			if strings.Contains(a.body, mark) {
				t.Errorf("%s is served with %s in it", name, mark)
			}
		}
		img, err := png.Decode(strings.NewReader(a.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if size := img.Bounds().Size(); column == "picture" && size != image.Pt(60, 40) || column != "picture" && size != image.Pt(120, 80) {
			t.Errorf("%s is served in %v", name, size)
		}
		if quad {
			upright(t, name, img)
		}
	}
}

// upright wants red, green, blue and white in the corners.
func upright(t *testing.T, name string, img image.Image) {
	t.Helper()
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	for at, want := range map[image.Point]color.RGBA{
		{X: w / 5, Y: h / 5}: {R: 255, A: 255}, {X: w * 4 / 5, Y: h / 5}: {G: 255, A: 255},
		{X: w / 5, Y: h * 4 / 5}: {B: 255, A: 255}, {X: w * 4 / 5, Y: h * 4 / 5}: {R: 255, G: 255, B: 255, A: 255},
	} {
		r, g, b, _ := img.At(at.X, at.Y).RGBA()
		for _, c := range [][2]uint32{{r >> 8, uint32(want.R)}, {g >> 8, uint32(want.G)}, {b >> 8, uint32(want.B)}} {
			if max(c[0], c[1])-min(c[0], c[1]) > 60 {
				t.Errorf("%s at %v is %v", name, at, img.At(at.X, at.Y))
				break
			}
		}
	}
}
