package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is what the rules look at.
type pkg struct {
	name    string // without the module
	imports []string
	files   []source // all, also those for other platforms
	tests   []source
}

// source is one file: its path for messages, and its text.
type source struct {
	path string
	text []byte
}

// listed is what "go list -json" says.
type listed struct {
	Dir, ImportPath                           string
	GoFiles, IgnoredGoFiles, CgoFiles         []string
	TestGoFiles, XTestGoFiles, OtherTestFiles []string
	Module                                    *struct{ Path, Dir string }
}

// list returns all packages of the module of the working directory.
func list(read func(string) ([]byte, error)) ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,GoFiles,IgnoredGoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Module", "tuval/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var all []pkg
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := in.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		p, err := l.read(read)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

func (l listed) read(read func(string) ([]byte, error)) (pkg, error) {
	p := pkg{name: strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, l.Module.Path), "/")}
	for _, name := range slices.Concat(l.GoFiles, l.CgoFiles, l.IgnoredGoFiles, l.TestGoFiles, l.XTestGoFiles) {
		text, err := read(filepath.Join(l.Dir, name))
		if err != nil {
			return pkg{}, err
		}
		s := source{path: filepath.Join(p.name, name), text: text}
		if strings.HasSuffix(name, "_test.go") {
			p.tests = append(p.tests, s)
			continue
		}
		p.files = append(p.files, s)
		imports, err := importsOf(s, l.Module.Path)
		if err != nil {
			return pkg{}, err
		}
		p.imports = append(p.imports, imports...)
	}
	slices.Sort(p.imports)
	p.imports = slices.Compact(p.imports)
	return p, nil
}

// importsOf reads them from the file, for all platforms. Those of the module are
// named without it.
func importsOf(s source, module string) (paths []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), s.path, s.text, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, "\"`")
		if own, ok := strings.CutPrefix(path, module+"/"); ok {
			path = own
		}
		paths = append(paths, path)
	}
	return paths, nil
}
