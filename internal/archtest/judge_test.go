package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// judge returns one line for each thing in pkgs that is against the rules.
func judge(r rules, pkgs []pkg) (lines []string) {
	for _, p := range pkgs {
		if r.height(p.name) < 0 {
			lines = append(lines, fmt.Sprintf("%s: in no row: add it to tuval() in internal/archtest/rules_test.go, to the lowest row that works", p.name))
			continue
		}
		lines = append(lines, r.imports(p)...)
		lines = append(lines, r.foreign(p)...)
		lines = append(lines, r.sources(p)...)
	}
	return lines
}

// height returns the row of a package, counted from the lowest, -1: in none. Its own
// name wins over a pattern.
func (r rules) height(name string) int {
	below := -1
	for i, row := range r.rows {
		if slices.Contains(row.packages, name) {
			return i
		}
		if matches(name, row.packages...) {
			below = i
		}
	}
	return below
}

// imports judges what p imports of the module's own.
func (r rules) imports(p pkg) (lines []string) {
	own := r.height(p.name)
	for _, path := range p.imports {
		theirs := r.height(path)
		switch {
		case theirs < 0:
			continue
		case theirs > own:
			lines = append(lines, fmt.Sprintf("%s (%s) imports %s (%s): imports point down only", p.name, r.rows[own].name, path, r.rows[theirs].name))
		case theirs == own && !slices.Contains(r.sideways[p.name], path):
			lines = append(lines, fmt.Sprintf("%s imports %s of its own row (%s)", p.name, path, r.rows[own].name))
		}
		if only, limited := r.importers[path]; limited && !matches(p.name, only...) {
			lines = append(lines, fmt.Sprintf("%s imports %s, which only %v may", p.name, path, only))
		}
	}
	return lines
}

// foreign judges what p imports from outside.
func (r rules) foreign(p pkg) (lines []string) {
	for _, path := range p.imports {
		if slices.Contains(r.pure, p.name) && matches(path, r.impure...) {
			lines = append(lines, fmt.Sprintf("%s is pure but imports %s", p.name, path))
		}
		if slices.Contains(r.domain, p.name) && path == "net/http" {
			lines = append(lines, fmt.Sprintf("%s is the domain but imports net/http", p.name))
		}
		for pattern, only := range r.owners {
			if matches(path, pattern) && !matches(p.name, only...) {
				lines = append(lines, fmt.Sprintf("%s imports %s, which only %v may", p.name, path, only))
			}
		}
	}
	return lines
}

func matches(path string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		below, wide := strings.CutSuffix(pattern, "/...")
		return path == below || wide && strings.HasPrefix(path, below+"/")
	})
}

// documents matches the beginning of a package comment.
var documents = regexp.MustCompile(`(?m)^// (Package|Command) `)

// sources judges what stands in p's files.
func (r rules) sources(p pkg) (lines []string) {
	forbidden := map[string]string{}
	if !slices.Contains(r.envReaders, p.name) {
		for _, call := range []string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "syscall.Getenv"} {
			forbidden[call] = "only config reads the environment"
		}
	}
	if slices.Contains(r.domain, p.name) {
		for _, call := range []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.NewTimer"} {
			forbidden[call] = "the domain knows the database's time only"
		}
	}
	documented := false
	for _, s := range p.files {
		documented = documented || filepath.Base(s.path) == "doc.go" && documents.Match(s.text)
		lines = append(lines, calls(s, forbidden)...)
	}
	for _, s := range p.tests {
		lines = append(lines, calls(s, map[string]string{"time.Sleep": "a test waits for a signal"})...)
	}
	if !documented {
		lines = append(lines, fmt.Sprintf("%s: no doc.go that says what the package owns and promises", p.name))
	}
	return lines
}

// calls finds the forbidden names of other packages, and functions called init.
func calls(s source, forbidden map[string]string) (lines []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, s.path, s.text, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if why, bad := forbidden[x.Name+"."+n.Sel.Name]; bad {
					lines = append(lines, fmt.Sprintf("%s: %s.%s: %s", files.Position(n.Pos()), x.Name, n.Sel.Name, why))
				}
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				lines = append(lines, fmt.Sprintf("%s: func init: nothing happens by being imported", files.Position(n.Pos())))
			}
		}
		return true
	})
	return lines
}
