package api_test

import (
	"bytes"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const images = "../../internal/picture/testdata/images"

func readFile(name, kind string) *file {
	return &file{name: name, kind: kind, bytes: must(os.ReadFile(filepath.Join(images, name)))}
}

func okQuad() *file { return readFile("ok_quad.png", "image/png") }

func (s *stack) creative(h heldAnswer, f *file, fields ...string) *answer {
	s.t.Helper()
	return s.bearer(h.Token).upload("/api/v1/rentals/"+h.ID+"/creative", f, fields...)
}

// submitted sends a good picture and returns its hash.
func (s *stack) submitted(h heldAnswer) string {
	s.t.Helper()
	s.creative(h, okQuad(), "link", "https://example.com/", "title", "A title", "alt", "Four colours", "fit", "cover").wants(http.StatusAccepted)
	_, hash, _ := strings.Cut(s.look(h).Creative.ImageURL, "/pictures/")
	return hash
}

func TestAPictureIsSent(t *testing.T) {
	s := newStack(t)
	h := s.rented(rect{0, 0, 6, 4}, 1)
	a := s.creative(h, okQuad(), "link", "example.com/page", "alt", "Four colours", "title", "  A   title ").wants(http.StatusAccepted)
	if strings.TrimSpace(string(a.body)) != `{"revision":1,"state":"pending"}` {
		t.Errorf("it is answered %s", a.body)
	}
	c := s.look(h).Creative
	if c == nil || c.Revision != 1 || c.State != "pending" {
		t.Fatalf("it is %+v", c)
	}
	p := s.bearer(h.Token).get(c.ImageURL).wants(http.StatusOK)
	if got := p.header.Get("Cache-Control"); got != "private, no-store" || p.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the picture is %s, %s", got, p.header.Get("X-Content-Type-Options"))
	}
	if img := must(png.Decode(bytes.NewReader(p.body))); img.Bounds().Dx() != 60 || img.Bounds().Dy() != 40 {
		t.Errorf("the picture is %v", img.Bounds())
	}
	s.admin().get(c.ImageURL).wants(http.StatusOK)
	s.stranger().get(c.ImageURL).refuses(http.StatusUnauthorized, "unauthorized", "")
	_, hash, _ := strings.Cut(c.ImageURL, "/pictures/")
	s.stranger().get("/pictures/" + hash).wants(http.StatusNotFound) // nobody approved it
	other := s.rented(rect{10, 10, 1, 1}, 1)
	s.bearer(other.Token).get("/api/v1/rentals/"+other.ID+"/pictures/"+hash).refuses(http.StatusNotFound, "not_found", "")
	s.bearer(h.Token).get("/api/v1/rentals/"+h.ID+"/pictures/none").refuses(http.StatusNotFound, "not_found", "")

	s.creative(h, okQuad(), "link", "https://example.com", "alt", "x", "fit", "contain").wants(http.StatusAccepted)
	if c := s.look(h).Creative; c.Revision != 2 || c.State != "pending" {
		t.Errorf("the second is %+v", c)
	}
}

// I05 and I06: the bytes decide, at once, and a failed try leaves what was.
func TestWhatIsNoPicture(t *testing.T) {
	s := newStack(t)
	h := s.rented(rect{0, 0, 6, 4}, 1)
	s.submitted(h)
	before := *s.look(h).Creative
	words := []string{"link", "https://example.com", "alt", "x"}
	for name, statuses := range map[string][]int{
		"truncated.png": {422}, "truncated_half.jpg": {422}, "truncated_no_eoi.jpg": {422, 202}, "bad_crc.png": {422},
		"zero_bytes.png": {422, 415}, "header_only.png": {422, 415}, "bomb_40000x40000_1bit.png": {422, 413},
		"lying_header_100000x100000.png": {422, 413}, "overflow_header.png": {422, 413},
		"active.svg": {415}, "svg_named.png": {415}, "html_named.jpg": {415}, "heic_header_named.jpg": {415},
	} {
		for _, kind := range []string{"image/png", "text/html"} {
			a := s.creative(h, readFile(name, kind), words...)
			ok := false
			for _, status := range statuses {
				ok = ok || a.status == status
			}
			if !ok {
				t.Errorf("%s as %s: %d %s", name, kind, a.status, a.body)
			}
			if a.status >= 400 && a.refusal().Field != "image" {
				t.Errorf("%s is refused for %q", name, a.refusal().Field)
			}
			if a.status == 415 && !strings.Contains(a.refusal().Message, "PNG") && name != "zero_bytes.png" {
				t.Errorf("%s: the accepted formats are not named: %s", name, a.refusal().Message)
			}
		}
	}
	if after := *s.look(h).Creative; after != before && after.Revision == before.Revision {
		t.Errorf("what was %+v is %+v", before, after)
	}
	for _, name := range []string{"png_named.JPG", "jpeg_without_extension", "webp_named.jpg", "gif_quad.gif", "one_pixel.png", "jpeg_with_html_comment.jpg", "png_with_html_text_and_tail.png"} {
		for _, kind := range []string{"image/png", "text/html"} {
			a := s.creative(h, readFile(name, kind), words...)
			if a.status != http.StatusAccepted {
				t.Errorf("%s as %s: %d %s", name, kind, a.status, a.body)
				continue
			}
			p := s.bearer(h.Token).get(s.look(h).Creative.ImageURL).wants(http.StatusOK)
			if bytes.Contains(p.body, []byte("PWNED-MARK")) || p.header.Get("Content-Type") != "image/png" {
				t.Errorf("%s is served as %s with what it carried", name, p.header.Get("Content-Type"))
			}
		}
	}
}

func TestWhatIsWrongWithASubmission(t *testing.T) {
	s := newStack(t)
	h := s.rented(rect{0, 0, 2, 2}, 1)
	url, alt := "https://example.com/", "A picture"
	for _, c := range []struct {
		why    string
		file   *file
		fields []string
		field  string
	}{
		{"no picture", nil, []string{"link", url, "alt", alt}, "image"},
		{"no link", okQuad(), []string{"alt", alt}, "link"},
		{"an empty link", okQuad(), []string{"link", "", "alt", alt}, "link"},
		{"a script", okQuad(), []string{"link", "javascript:alert(1)", "alt", alt}, "link"},
		{"a long link", okQuad(), []string{"link", url + strings.Repeat("a", 2048), "alt", alt}, "link"},
		{"no alt", okQuad(), []string{"link", url}, "alt"},
		{"a blank alt", okQuad(), []string{"link", url, "alt", " \u200b "}, "alt"},
		{"a long alt", okQuad(), []string{"link", url, "alt", strings.Repeat("a", 251)}, "alt"},
		{"a long title", okQuad(), []string{"link", url, "alt", alt, "title", strings.Repeat("ä", 81)}, "title"},
		{"no text", okQuad(), []string{"link", url, "alt", alt, "title", "\xff\xfe"}, "title"},
		{"NUL", okQuad(), []string{"link", url, "alt", "a\x00b"}, "alt"},
		{"an unknown fit", okQuad(), []string{"link", url, "alt", alt, "fit", "stretch"}, "fit"},
		{"a field twice", okQuad(), []string{"link", url, "alt", alt, "link", url}, "link"},
		{"an unknown field", okQuad(), []string{"link", url, "alt", alt, "tilte", "x"}, "tilte"},
	} {
		a := s.creative(h, c.file, c.fields...)
		if a.status != http.StatusUnprocessableEntity || a.refusal().Field != c.field {
			t.Errorf("%s: %d %s", c.why, a.status, a.body)
		}
	}
	s.creative(h, &file{"x.png", "image/png", make([]byte, 11<<20)}, "link", url, "alt", alt).refuses(http.StatusRequestEntityTooLarge, "too_large", "image")
	s.bearer(h.Token).with("Content-Type", "application/json").send("PUT", "/api/v1/rentals/"+h.ID+"/creative", []byte("{}")).
		refuses(http.StatusUnsupportedMediaType, "unsupported", "")
	s.bearer(h.Token).with("Content-Type", "multipart/form-data; boundary=x").send("PUT", "/api/v1/rentals/"+h.ID+"/creative", []byte("nonsense")).
		refuses(http.StatusUnprocessableEntity, "invalid", "image")
	if c := s.look(h).Creative; c != nil {
		t.Errorf("something was kept: %+v", c)
	}
	held := s.hold(s.stranger(), rect{50, 50, 2, 2})
	s.creative(held, okQuad(), "link", url, "alt", alt).refuses(http.StatusConflict, "conflict", "")
}

// W07: each link gets its verdict, and what is kept is http or https.
func TestLinksOfTheAcceptanceCases(t *testing.T) {
	s := newStack(t)
	h := s.rented(rect{0, 0, 1, 1}, 1)
	admin := s.admin()
	for _, row := range readLinks(t) {
		a := s.creative(h, okQuad(), "link", row[0], "alt", "x")
		verdict := row[1]
		switch {
		case strings.HasPrefix(verdict, "refuse") && !strings.Contains(verdict, " or ") && a.status != http.StatusUnprocessableEntity,
			verdict == "accept" && a.status != http.StatusAccepted,
			a.status != http.StatusAccepted && (a.status != http.StatusUnprocessableEntity || a.refusal().Field != "link"):
			t.Errorf("%q, to %q: %d %s", row[0], verdict, a.status, a.body)
		case a.status == http.StatusAccepted:
			reviews := as[reviewsAnswer](admin.get("/api/v1/admin/reviews").wants(http.StatusOK)).Reviews
			if l := reviews[0].Link; !strings.HasPrefix(l, "http://") && !strings.HasPrefix(l, "https://") {
				t.Errorf("%q is kept as %q", row[0], l)
			}
		}
	}
}
