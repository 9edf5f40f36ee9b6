package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestArchitecture(t *testing.T) {
	t.Parallel()
	pkgs, err := list(os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 20 {
		t.Fatalf("only %d packages found", len(pkgs))
	}
	for _, line := range judge(tuval(), pkgs) {
		t.Error(line)
	}
}

// TestRulesAreSound checks the rules themselves: each package once, exceptions
// about packages that exist.
func TestRulesAreSound(t *testing.T) {
	t.Parallel()
	r := tuval()
	var all []string
	for _, row := range r.rows {
		all = append(all, row.packages...)
	}
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
		t.Error("a package is in two rows")
	}
	named := slices.Concat(r.pure, r.domain, r.envReaders)
	for _, m := range []map[string][]string{r.sideways, r.importers} {
		for name, others := range m {
			named = append(append(named, name), others...)
		}
	}
	for _, name := range named {
		if r.height(name) < 0 {
			t.Errorf("%s is in a rule, but in no row", name)
		}
	}
}

// TestJudge shows that each rule catches what it is for.
func TestJudge(t *testing.T) {
	t.Parallel()
	doc := source{path: "doc.go", text: []byte("// Package x is documented.\npackage x\n")}
	file := func(text string) source { return source{path: "x.go", text: []byte("package x\n" + text)} }
	for name, c := range map[string]struct {
		p    pkg
		want string // part of the only line; "": none
	}{
		"fine":          {pkg{name: "internal/rental", imports: []string{"internal/db", "time"}}, ""},
		"written down":  {pkg{name: "internal/payment", imports: []string{"internal/rental"}}, ""},
		"unknown":       {pkg{name: "internal/utils"}, "add it to tuval()"},
		"upward":        {pkg{name: "internal/db", imports: []string{"internal/rental"}}, "point down only"},
		"sideways":      {pkg{name: "internal/rental", imports: []string{"internal/payment"}}, "own row"},
		"reserved":      {pkg{name: "internal/app", imports: []string{"views"}}, "which only"},
		"part of web":   {pkg{name: "web/reply", imports: []string{"views", "internal/market"}}, ""},
		"up from part":  {pkg{name: "web/reply", imports: []string{"web"}}, "point down only"},
		"test helper":   {pkg{name: "cmd/tuval", imports: []string{"internal/testdb"}}, "internal/testdb"},
		"not pure":      {pkg{name: "internal/grid", imports: []string{"github.com/jackc/pgx/v5"}}, "is pure but"},
		"url is pure":   {pkg{name: "internal/link", imports: []string{"net/url"}}, ""},
		"HTTP":          {pkg{name: "internal/market", imports: []string{"net/http"}}, "net/http"},
		"not its owner": {pkg{name: "internal/market", imports: []string{"github.com/stripe/stripe-go/v76/refund"}}, "which only"},
		"environment":   {pkg{name: "internal/mail", files: []source{file(`var _ = os.Getenv("HOME")`)}}, "reads the environment"},
		"clock":         {pkg{name: "internal/market", files: []source{file(`var _ = time.Now()`)}}, "x.go:2:9: time.Now"},
		"clock allowed": {pkg{name: "web", files: []source{file(`var _ = time.Now()`)}}, ""},
		"init":          {pkg{name: "web", files: []source{file(`func init() {}`)}}, "func init"},
		"sleep":         {pkg{name: "web", tests: []source{file(`func f() { time.Sleep(1) }`)}}, "waits for a signal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.p.files = append(c.p.files, doc)
			lines := judge(tuval(), []pkg{c.p})
			switch {
			case c.want == "" && len(lines) > 0:
				t.Errorf("unexpected: %q", lines)
			case c.want != "" && !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, c.want) }):
				t.Errorf("got %q, want a line with %q", lines, c.want)
			}
		})
	}
	if lines := judge(tuval(), []pkg{{name: "web", files: []source{file("")}}}); len(lines) != 1 {
		t.Errorf("no doc.go: %q", lines)
	}
}
