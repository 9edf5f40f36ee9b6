package web_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tuval/internal/limits"
	"tuval/web"
)

func quad(t *testing.T) []byte {
	t.Helper()
	return must(os.ReadFile("testdata/ok_quad.png"))
}

// submit sends the picture that is always fine.
func (b *browser) submit(path string, more ...string) *answer {
	b.t.Helper()
	return b.upload(path+"/creative", "a.png", "image/png", quad(b.t), append([]string{"link", "https://a.example/x", "title", "North Pier", "alt", "Four colours", "fit", "cover"}, more...)...)
}

func TestAPictureGoesToReviewAndStaysPrivate(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	for _, scripts := range []bool{false, true} {
		b.htmx = scripts
		a := b.submit(path)
		if scripts {
			a.wants(http.StatusOK)
		} else {
			a.wants(http.StatusSeeOther)
		}
		if a.leads() != path {
			t.Errorf("leads to %s", a.leads())
		}
	}
	b.htmx = false
	page := b.get(path).says("Your picture is in review", "Your picture is with the moderators.", "North Pier", "a.example")
	img := page.all("img", "alt", "Four colours")
	if len(img) != 1 {
		t.Fatalf("%d pictures", len(img))
	}
	src, _ := attr(img[0], "src")
	p := b.get(src).wants(http.StatusOK)
	if h := p.header; h.Get("Content-Type") != "image/png" || h.Get("Cache-Control") != "private, no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", h)
	}
	s.browser().get(src).wants(http.StatusNotFound)
	other := s.browser()
	otherPath := other.hold(50, 50, 1, 1)
	other.get(src).wants(http.StatusNotFound)
	hash := src[strings.LastIndex(src, "/")+1:]
	other.get(otherPath + "/pictures/" + hash).wants(http.StatusNotFound)
	s.browser().get("/pictures/" + hash).wants(http.StatusNotFound)
	if n := s.count(`SELECT count(*) FROM creatives WHERE state = 'pending'`); n != 1 {
		t.Errorf("%d revisions wait", n)
	}
}

func TestADoubleClickSendsOnePicture(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	key := b.get(path).form(path + "/creative").Get("request_id")
	b.submit(path, "request_id", key).wants(http.StatusSeeOther)
	b.submit(path, "request_id", key).wants(http.StatusSeeOther)
	if n := s.count(`SELECT count(*) FROM creatives`); n != 1 {
		t.Errorf("%d revisions", n)
	}
}

func TestAPictureIsOnlyTakenOnceItIsPaidFor(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := b.hold(1, 1, 6, 4)
	b.submit(path).wants(http.StatusConflict).says("not paid yet")
	b.post(path + "/cancel")
	b.submit(path).wants(http.StatusConflict).says("closed")
}

func TestWrongPicturesAndWordsAreNamedAndKept(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	good := quad(t)
	for _, c := range []struct {
		why    string
		file   []byte
		pairs  []string
		status int
		field  string
	}{
		{"no file", nil, nil, 422, "image"},
		{"an empty file", []byte{}, nil, 422, "image"},
		{"no picture", []byte("<html>PWNED-MARK</html>"), nil, 415, "image"},
		{"an SVG", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), nil, 415, "image"},
		{"a cut-off picture", good[:60], nil, 422, "image"},
		{"too large", make([]byte, 10_000_001), nil, 413, "image"},
		{"a bad link", good, []string{"link", "javascript:alert(1)"}, 422, "link"},
		{"no link", good, []string{"link", ""}, 422, "link"},
		{"a link that is no text", good, []string{"link", "https://a.example/\xff"}, 422, "link"},
		{"a title with a NUL", good, []string{"title", "a\x00b"}, 422, "title"},
		{"a title too long", good, []string{"title", strings.Repeat("x", 81)}, 422, "title"},
		{"no description", good, []string{"alt", " "}, 422, "alt"},
		{"a description too long", good, []string{"alt", strings.Repeat("x", 251)}, 422, "alt"},
		{"another fit", good, []string{"fit", "stretch"}, 422, "fit"},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, scripts := range []bool{false, true} {
				v := map[string]string{"link": "https://a.example/", "title": "T", "alt": "A", "fit": "contain"}
				for i := 0; i < len(c.pairs); i += 2 {
					v[c.pairs[i]] = c.pairs[i+1]
				}
				b := *b
				b.t, b.htmx = t, scripts
				a := b.upload(path+"/creative", "a.png", "text/html", c.file, "link", v["link"], "title", v["title"], "alt", v["alt"], "fit", v["fit"])
				a.wants(c.status).whole(!scripts).marks(c.field)
				if c.field != "alt" && c.status != 413 && a.value("alt") != "A" {
					t.Errorf("the description is lost: %q", a.value("alt"))
				}
				a.saysNot("PWNED-MARK")
				a.saysOnce(c.field)
			}
		})
	}
	if n := s.count(`SELECT count(*) FROM creatives`); n != 0 {
		t.Errorf("%d revisions were made", n)
	}
	b.submit(path).wants(http.StatusSeeOther)
}

// saysOnce fails the test if what is wrong with a field stands anywhere but at the
// field and in the summary above the form.
func (a *answer) saysOnce(field string) {
	a.t.Helper()
	where := a.all("p", "id", field+"-error")
	if len(where) == 0 {
		a.t.Errorf("%s: nothing at %s", a.what, field)
		return
	}
	words := strings.TrimSpace(textOf(where[0]))
	if n := strings.Count(a.words(), words); n > 2 {
		a.t.Errorf("%s: %d times %q", a.what, n, words)
	}
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestWordsCanChangeWithoutTheFile(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	b.submit(path).wants(http.StatusSeeOther)
	words := []string{"link", "https://b.example/", "title", "T", "alt", "A"}
	b.upload(path+"/creative", "", "", nil, append(words, "fit", "cover")...).wants(http.StatusSeeOther)
	b.post(path+"/creative", append(words, "fit", "cover")...).wants(http.StatusSeeOther) // as a kept form sends it
	b.upload(path+"/creative", "", "", nil, append(words, "fit", "contain")...).wants(http.StatusUnprocessableEntity).marks("image")
	if n := s.count(`SELECT count(DISTINCT picture) FROM creatives WHERE revision IN (1, 2, 3)`); n != 1 || s.count(`SELECT count(*) FROM creatives`) != 3 {
		t.Error("the picture did not stay the same")
	}
}

func TestAFileNameDecidesNothing(t *testing.T) {
	var names []string
	if err := json.Unmarshal(must(os.ReadFile("../internal/text/testdata/filenames.json")), &names); err != nil {
		t.Fatal(err)
	}
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	escape := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A") // as browsers write names
	for _, name := range names {
		for _, kind := range []string{"image/png", "text/html"} {
			a := b.upload(path+"/creative", escape.Replace(name), kind, quad(t), "link", "https://a.example/", "alt", "A")
			if a.status != http.StatusSeeOther {
				t.Errorf("%q: %d %s", name, a.status, a.words())
			}
		}
	}
}

func TestAnotherKindOfBodyIsUnsupported(t *testing.T) {
	s := newStack(t)
	b := s.browser()
	path := s.paid(b, 1, 1, 6, 4)
	b.postRaw(path+"/creative", "application/json", "{}").wants(http.StatusUnsupportedMediaType)
	b.postRaw(path+"/creative", "multipart/form-data", "x").wants(http.StatusUnprocessableEntity)
	b.postRaw(path+"/creative", "multipart/form-data; boundary=x", "nothing").wants(http.StatusUnprocessableEntity)
	b.postRaw("/holds", "application/json", "{}").wants(http.StatusUnsupportedMediaType)
	b.postRaw("/holds", "application/x-www-form-urlencoded", "w=%zz").wants(http.StatusUnprocessableEntity)
	b.postRaw("/holds", "application/x-www-form-urlencoded", "w="+strings.Repeat("x", 70_000)).wants(http.StatusRequestEntityTooLarge)
	b.post("/holds", holdPairs(1, 1, 1, 1, "w", "2")...).wants(http.StatusUnprocessableEntity).marks("w")
}

func TestTooManyUploadsHaveToWait(t *testing.T) {
	s := newStack(t, func(d *web.Deps) { d.Limits = limits.New(true) })
	b := s.browser()
	path := s.paid(b, 1, 1, 1, 1)
	var last *answer
	for range 30 {
		if last = b.submit(path); last.status == http.StatusTooManyRequests {
			break
		}
	}
	last.wants(http.StatusTooManyRequests).says("Too many uploads")
	if last.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
