package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// sheets is the order in which the style sheets become app.css, parts the order
// in which the scripts of the canvas page become js/canvas.js.
var (
	sheets = []string{"tokens", "base", "layout", "components", "canvas", "pages", "workflow", "utilities"}
	parts  = []string{"geometry", "board", "paint", "feed", "hands", "label", "canvas"}
)

var (
	comments   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	indents    = regexp.MustCompile(`\s*\n\s*`)
	remarks    = regexp.MustCompile(`(?m)^[ \t]*(?://.*|/\*(?s:.*?)\*/[ \t]*)\n`)
	inner      = regexp.MustCompile(`(?m)^import [^;"]*"\./(?:` + strings.Join(parts, "|") + `)\.js";\n`)
	exported   = regexp.MustCompile(`(?m)^export `)
	imports    = regexp.MustCompile(`((?:^|\n|\s)(?:from|import)\s*\(?\s*)"(\./[\w.-]+\.js)"`)
	references = regexp.MustCompile(`asset:([\w./-]+)`)
	encoding   = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

var errCircle = errors.New("files refer to each other in a circle")

// read returns all sources by name, what is to be joined already joined.
func read(fsys fs.FS) (map[string][]byte, error) {
	texts := map[string][]byte{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "css/") {
			return err
		}
		texts[name], err = fs.ReadFile(fsys, name)
		if strings.HasPrefix(name, "js/") {
			texts[name] = withoutRemarks(texts[name])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	joinScripts(texts)
	texts["app.css"], err = joinSheets(fsys)
	return texts, err
}

// withoutRemarks drops whole lines of comment and the indentation. Scripts keep
// to what this takes for granted: no text in backquotes goes over several lines.
func withoutRemarks(text []byte) []byte {
	return indents.ReplaceAll(remarks.ReplaceAll(text, nil), []byte("\n"))
}

// joinScripts makes one module of the parts of the canvas page: one request in
// the place of seven. They import names as they are and declare none twice, so
// that what stands between them can simply be left out.
func joinScripts(texts map[string][]byte) {
	var all bytes.Buffer
	for _, part := range parts {
		name := "js/" + part + ".js"
		all.Write(exported.ReplaceAll(inner.ReplaceAll(texts[name], nil), nil))
		all.WriteByte('\n')
		delete(texts, name)
	}
	texts["js/canvas.js"] = all.Bytes()
}

// joinSheets makes one style sheet of all, without comments and indentation.
func joinSheets(fsys fs.FS) ([]byte, error) {
	var all bytes.Buffer
	for _, sheet := range sheets {
		text, err := fs.ReadFile(fsys, "css/"+sheet+".css")
		if err != nil {
			return nil, fmt.Errorf("read sheet: %w", err)
		}
		all.Write(indents.ReplaceAll(comments.ReplaceAll(text, nil), []byte("\n")))
	}
	return all.Bytes(), nil
}

// linker names files after their content. A file that refers to others is
// named after them, since their names are part of what it says.
type linker struct {
	texts map[string][]byte
	done  map[string]*file
	open  map[string]bool
}

func (l *linker) link(name string) (*file, error) {
	if f := l.done[name]; f != nil {
		return f, nil
	}
	text, ok := l.texts[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if l.open[name] {
		return nil, fmt.Errorf("%s: %w", name, errCircle)
	}
	l.open[name] = true
	text, err := l.rewrite(name, text)
	if err != nil {
		return nil, err
	}
	f := newFile(name, text)
	l.done[name] = f
	return f, nil
}

// rewrite puts the hashed addresses in the place of the written ones. Vendored
// files are left exactly as they are.
func (l *linker) rewrite(name string, text []byte) ([]byte, error) {
	if strings.HasPrefix(name, "vendor/") {
		return text, nil
	}
	var failed error
	replace := func(target string) string {
		f, err := l.link(target)
		if err != nil {
			failed = errors.Join(failed, err)
			return ""
		}
		return Prefix + f.hashed
	}
	text = imports.ReplaceAllFunc(text, func(m []byte) []byte {
		part := imports.FindSubmatch(m)
		return fmt.Appendf(nil, "%s%q", part[1], replace(path.Join(path.Dir(name), string(part[2]))))
	})
	text = references.ReplaceAllFunc(text, func(m []byte) []byte {
		return []byte(replace(string(references.FindSubmatch(m)[1])))
	})
	return text, failed
}

func newFile(name string, text []byte) *file {
	sum := sha256.Sum256(text)
	hash := encoding.EncodeToString(sum[:])[:10]
	ext := path.Ext(name)
	return &file{
		hashed:      strings.TrimSuffix(name, ext) + "." + hash + ext,
		hash:        hash,
		contentType: contentType(ext),
		plain:       text,
	}
}

func contentType(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
