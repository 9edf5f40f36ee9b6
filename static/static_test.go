package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

// Kilobytes of the budget are counted in brotli, as browsers get them.
const (
	cssBudget = 8_000
	jsBudget  = 25_000
)

const htmxSum = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"

// Compressing as small as it gets takes its time: once for all tests.
var once = sync.OnceValues(New)

func newAssets(t *testing.T) *Assets {
	t.Helper()
	a, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func get(t *testing.T, h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestVendoredFilesAreWhatTheySay(t *testing.T) {
	text, err := sources.ReadFile("vendor/htmx/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != htmxSum {
		t.Errorf("htmx.min.js has sha256 %s, want %s", got, htmxSum)
	}
	if served := newAssets(t).files["vendor/htmx/htmx.min.js"].plain; !bytes.Equal(text, served) {
		t.Error("htmx.min.js is served changed")
	}
}

// What a browser loads for each kind of page, at most.
var pages = map[string][]string{
	"canvas": {"vendor/htmx/htmx.min.js", "js/app.js", "js/canvas.js"},
	"rental": {"vendor/htmx/htmx.min.js", "js/app.js", "js/extras.js", "js/upload.js", "js/checkout.js"},
	"review": {"vendor/htmx/htmx.min.js", "js/app.js", "js/extras.js", "js/review.js"},
}

func TestBudgets(t *testing.T) {
	a := newAssets(t)
	for page, scripts := range pages {
		sum := 0
		for _, name := range scripts {
			if !a.Has(name) {
				t.Fatalf("no file %s", name)
			}
			sum += len(a.files[name].brotli)
			t.Logf("%6d %s", len(a.files[name].brotli), name)
		}
		t.Logf("%6d for %s", sum, page)
		if sum > jsBudget {
			t.Errorf("the scripts of the %s page weigh %d bytes, budget %d", page, sum, jsBudget)
		}
	}
	css := len(a.files["app.css"].brotli)
	t.Logf("%6d app.css", css)
	if css > cssBudget {
		t.Errorf("app.css weighs %d bytes, budget %d", css, cssBudget)
	}
}

// What New takes for granted of the scripts: see withoutRemarks and joinScripts.
func TestScriptsKeepTheRules(t *testing.T) {
	names, err := fs.Glob(sources, "js/*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("scripts: %v, %v", names, err)
	}
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s:%d: a text in backquotes goes over several lines", name, i+1)
			}
			if regexp.MustCompile(`^(export (\{|\*|default)|import .* as )`).MatchString(line) {
				t.Errorf("%s:%d: exports declarations and imports plain names only: %s", name, i+1, line)
			}
		}
	}
	joined := string(newAssets(t).files["js/canvas.js"].plain)
	if strings.Contains(joined, "export ") || strings.Contains(joined, "import {") {
		t.Error("the joined script still imports or exports")
	}
}

// The scripts' own tests, and the syntax of what is served: a name declared in
// two parts of the canvas page would be found here.
func TestScriptsWithNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	for name, f := range newAssets(t).files {
		if !strings.HasPrefix(name, "js/") {
			continue
		}
		cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "--check")
		cmd.Stdin = bytes.NewReader(f.plain)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	tests, err := filepath.Glob("js/*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatalf("tests: %v, %v", tests, err)
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, tests...)...).CombinedOutput()
	if err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}

func TestServesUnderHashedNameForEver(t *testing.T) {
	a := newAssets(t)
	for name, want := range map[string]string{
		"app.css":                 "text/css; charset=utf-8",
		"js/app.js":               "text/javascript; charset=utf-8",
		"vendor/htmx/htmx.min.js": "text/javascript; charset=utf-8",
		"img/icon.svg":            "image/svg+xml",
		"site.webmanifest":        "application/manifest+json",
		"robots.txt":              "text/plain; charset=utf-8",
	} {
		path := a.Path(name)
		if !regexp.MustCompile(`^/assets/.+\.[a-z2-7]{10}\.\w+$`).MatchString(path) {
			t.Errorf("%s has path %s", name, path)
		}
		w := get(t, a.Handler(), path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want {
			t.Errorf("%s: %d %q, want 200 %q", path, w.Code, w.Header().Get("Content-Type"), want)
		}
		if w.Header().Get("Cache-Control") != forever || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
		again := get(t, a.Handler(), path, "If-None-Match", w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s: asked again: %d with %d bytes, want 304 and none", path, again.Code, again.Body.Len())
		}
	}
}

func TestEncodings(t *testing.T) {
	a := newAssets(t)
	plain := string(a.files["app.css"].plain)
	for _, c := range []struct{ accept, coding string }{
		{"", ""},
		{"identity", ""},
		{"gzip, deflate", "gzip"},
		{"gzip, deflate, br, zstd", "br"},
		{"br;q=0, gzip;q=0.5", "gzip"},
		{"BR", "br"},
		{"brotli", ""},
		{"br;q=x", ""},
	} {
		w := get(t, a.Handler(), a.Path("app.css"), "Accept-Encoding", c.accept)
		if got := w.Header().Get("Content-Encoding"); got != c.coding {
			t.Errorf("accepting %q: encoded %q, want %q", c.accept, got, c.coding)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("accepting %q: no Vary", c.accept)
		}
		if got := decode(t, w); got != plain {
			t.Errorf("accepting %q: body differs", c.accept)
		}
	}
}

func decode(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var r io.Reader = w.Body
	switch w.Header().Get("Content-Encoding") {
	case "br":
		r = brotli.NewReader(w.Body)
	case "gzip":
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOtherVersionsAndUnknownNames(t *testing.T) {
	a := newAssets(t)
	for path, want := range map[string]struct {
		code  int
		cache string
	}{
		"/assets/app.aaaaaaaaaa.css":   {http.StatusOK, never},
		"/assets/js/app.aaaaaaaaaa.js": {http.StatusOK, never},
		"/assets/app.css":              {http.StatusOK, never},
		"/assets/":                     {http.StatusNotFound, ""},
		"/assets/../go.mod":            {http.StatusNotFound, ""},
		"/assets/css/tokens.css":       {http.StatusNotFound, ""},
	} {
		w := get(t, a.Handler(), path)
		if w.Code != want.code || w.Header().Get("Cache-Control") != want.cache {
			t.Errorf("%s: %d %q, want %d %q", path, w.Code, w.Header().Get("Cache-Control"), want.code, want.cache)
		}
	}
	if w := get(t, a.File("robots.txt"), "/robots.txt"); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != anHour {
		t.Errorf("robots.txt: %d %v", w.Code, w.Header())
	}
	if w := get(t, a.File("nothing"), "/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("unknown file: %d", w.Code)
	}
}

// A change of a file must change the names of all that refer to it.
func TestNamesFollowContent(t *testing.T) {
	site := func(leaf string) *Assets {
		a, err := build(fakeSite(map[string]string{
			"js/a.js": `import { b } from "./b.js";` + "\nb();",
			"js/b.js": "import {\n  c,\n} from \"./c.js\";\nexport const later = () => import(\"./c.js\");",
			"js/c.js": leaf,
			"m.json":  `{"src":"asset:js/c.js"}`,
		}))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	one, two := site("export const c = 1;"), site("export const c = 2;")
	for _, name := range []string{"js/a.js", "js/b.js", "js/c.js", "m.json"} {
		if one.Path(name) == two.Path(name) {
			t.Errorf("%s kept its name", name)
		}
		if bytes.Contains(one.files[name].plain, []byte(`"./`)) || bytes.Contains(one.files[name].plain, []byte("asset:")) {
			t.Errorf("%s refers to a name without hash: %s", name, one.files[name].plain)
		}
	}
	if got := strings.Count(string(one.files["js/b.js"].plain), `"`+one.Path("js/c.js")+`"`); got != 2 {
		t.Errorf("b.js refers to c.js %d times, want 2: %s", got, one.files["js/b.js"].plain)
	}
	if one.Path("app.css") != two.Path("app.css") {
		t.Error("app.css changed its name though nothing in it changed")
	}
}

func TestContradictions(t *testing.T) {
	_, err := build(fakeSite(map[string]string{"js/a.js": `import "./b.js"`, "js/b.js": `import "./a.js"`}))
	if !errors.Is(err, errCircle) {
		t.Errorf("circle: %v", err)
	}
	if _, err := build(fakeSite(map[string]string{"js/a.js": `import "./gone.js"`})); err == nil {
		t.Error("missing import: no error")
	}
	if _, err := build(fstest.MapFS{}); err == nil {
		t.Error("no style sheets: no error")
	}
}

func fakeSite(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, sheet := range sheets {
		fsys["css/"+sheet+".css"] = &fstest.MapFile{Data: []byte("/* " + sheet + " */\na {}\n")}
	}
	return fsys
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}
