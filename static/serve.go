package static

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

const (
	forever = "public, max-age=31536000, immutable"
	anHour  = "public, max-age=3600"
	never   = "no-store"
)

// Handler serves everything below Prefix. Only GET and HEAD are expected of
// it; mount it with a method pattern.
func (a *Assets) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hashed := strings.TrimPrefix(r.URL.Path, Prefix)
		if name, ok := a.names[hashed]; ok {
			a.files[name].serve(w, r, forever)
			return
		}
		// While an old and a new version run side by side, a page of one may
		// ask the other for its files: the nearest thing, not to be kept.
		if f, ok := a.files[withoutHash(hashed)]; ok {
			f.serve(w, r, never)
			return
		}
		http.NotFound(w, r)
	})
}

// File serves one file at a fixed address that browsers and robots look for
// by themselves, such as /robots.txt.
func (a *Assets) File(name string) http.Handler {
	f, ok := a.files[name]
	if !ok {
		return http.NotFoundHandler()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.serve(w, r, anHour)
	})
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, cache string) {
	body, coding := f.choose(r.Header.Get("Accept-Encoding"))
	etag := `"` + f.hash + `"`
	h := w.Header()
	h.Set("Cache-Control", cache)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	if coding != "" {
		etag = `"` + f.hash + "-" + coding + `"`
		h.Set("Content-Encoding", coding)
	}
	h.Set("ETag", etag)
	if matches(r.Header.Get("If-None-Match"), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader went away; nobody to tell
	}
}

func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == etag || part == "*" {
			return true
		}
	}
	return false
}

// withoutHash turns "js/app.mzxw6ytboi.js" into "js/app.js".
func withoutHash(hashed string) string {
	ext := path.Ext(hashed)
	stem := strings.TrimSuffix(hashed, ext)
	return strings.TrimSuffix(stem, path.Ext(stem)) + ext
}
