package static

import (
	"embed"
	"fmt"
	"io/fs"
)

// Prefix is the path below which all assets are served.
const Prefix = "/assets/"

//go:embed css/*.css js/*.js img/* vendor/*/*.js noscript.css site.webmanifest robots.txt
var sources embed.FS

// Assets is the set of files of one build, ready to be sent. It does not
// change after New and is safe for concurrent use.
type Assets struct {
	files map[string]*file // by source name, e.g. "js/app.js"
	names map[string]string
}

// New prepares the embedded files. It fails only if they contradict each
// other: a reference to a file that is not there, or scripts that import each
// other in a circle.
func New() (*Assets, error) {
	return build(sources)
}

// Path returns the address of a file by its source name ("app.css",
// "js/app.js", "img/icon.svg"). An unknown name gives an address that answers
// 404; the tests of the pages look for those.
func (a *Assets) Path(name string) string {
	if f, ok := a.files[name]; ok {
		return Prefix + f.hashed
	}
	return Prefix + name
}

// Has reports whether there is a file of that source name.
func (a *Assets) Has(name string) bool {
	_, ok := a.files[name]
	return ok
}

func build(fsys fs.FS) (*Assets, error) {
	texts, err := read(fsys)
	if err != nil {
		return nil, err
	}
	l := linker{texts: texts, done: map[string]*file{}, open: map[string]bool{}}
	for name := range texts {
		if _, err := l.link(name); err != nil {
			return nil, fmt.Errorf("link %s: %w", name, err)
		}
	}
	if err := compressAll(l.done); err != nil {
		return nil, err
	}
	a := &Assets{files: l.done, names: make(map[string]string, len(l.done))}
	for name, f := range l.done {
		a.names[f.hashed] = name
	}
	return a, nil
}
