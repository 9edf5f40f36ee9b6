package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const head = `# Benchmarks

Figures of one run on one machine, for comparing what stands in one table; nothing here is a test. Anew: ` + "`make bench`" + `
(all), or ` + "`go run ./internal/bench -only raw,ways`" + ` (some). PostgreSQL is private to the run and writes to the disk as in
production: fsync and synchronous_commit on.
`

// write puts the part between its markers in benchmarks.md, and its charts
// beside it. Other parts stay as they are.
func write(dir, name string, p part, b *bench) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(dir, "benchmarks.md")
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	body := fmt.Sprintf("## %s\n\n%s\n_%s_\n", p.title, p.text, b.machine)
	if err := os.WriteFile(file, []byte(splice(string(old), name, body)), 0o644); err != nil {
		return err
	}
	for chart, svg := range p.charts {
		if err := os.WriteFile(filepath.Join(dir, chart), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// splice replaces one part of the document, in the order of sections.
func splice(doc, name, body string) string {
	parts := map[string]string{}
	for _, s := range sections() {
		from, to := markers(s.name)
		if _, rest, ok := strings.Cut(doc, from); ok {
			if inner, _, ok := strings.Cut(rest, to); ok {
				parts[s.name] = strings.Trim(inner, "\n") + "\n"
			}
		}
	}
	parts[name] = body
	var out strings.Builder
	out.WriteString(head)
	for _, s := range sections() {
		if text := parts[s.name]; text != "" {
			from, to := markers(s.name)
			fmt.Fprintf(&out, "\n%s\n\n%s\n%s\n", from, text, to)
		}
	}
	return out.String()
}

func markers(name string) (from, to string) {
	return "<!-- " + name + " -->", "<!-- end of " + name + " -->"
}

// thousands writes a rate as people read it: three digits, in groups.
func thousands(v float64) string {
	n := int64(v + 0.5)
	if v > 0 && v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
