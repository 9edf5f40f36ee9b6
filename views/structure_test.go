package views_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
)

// document is a rendered page, parsed as a browser would.
type document struct {
	source string
	nodes  []*html.Node // elements, in order
}

func render(t testing.TB, c templ.Component) document {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := html.Render(&whole, root); err != nil {
		t.Fatal(err)
	}
	d := document{source: whole.String()}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			d.nodes = append(d.nodes, n)
		}
	}
	return d
}

func (d document) all(names ...string) []*html.Node {
	var found []*html.Node
	for _, n := range d.nodes {
		if slices.Contains(names, n.Data) {
			found = append(found, n)
		}
	}
	return found
}

// actions are the addresses that the forms of the page post to.
func (d document) actions() []string {
	var list []string
	for _, f := range d.all("form") {
		if attr(f, "method") == "post" {
			list = append(list, attr(f, "action"))
		}
	}
	return list
}

// fields are the names of the controls of the form with that action.
func (d document) fields(action string) []string {
	var names []string
	for _, n := range d.all("input", "select", "textarea", "button") {
		form := ancestor(n, "form")
		if form != nil && attr(form, "action") == action && attr(n, "name") != "" && !slices.Contains(names, attr(n, "name")) {
			names = append(names, attr(n, "name"))
		}
	}
	slices.Sort(names)
	return names
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func ancestor(n *html.Node, names ...string) *html.Node {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && slices.Contains(names, p.Data) {
			return p
		}
	}
	return nil
}

// text is what a reader gets of a node, blanks squeezed.
func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (d document) text() string {
	var b strings.Builder
	for _, n := range d.all("main") {
		b.WriteString(text(n) + " ")
	}
	return b.String()
}

// sound checks what holds for every page, whatever is on it.
func (d document) sound(t testing.TB) {
	t.Helper()
	d.outline(t)
	d.policy(t)
	d.names(t)
	d.references(t)
	d.moments(t)
}

// outline: one title, one h1, no level of heading skipped.
func (d document) outline(t testing.TB) {
	t.Helper()
	if n := len(d.all("h1")); n != 1 {
		t.Errorf("%d h1", n)
	}
	if n := len(d.all("main")); n != 1 {
		t.Errorf("%d main", n)
	}
	level := 0
	for _, h := range d.all("h1", "h2", "h3", "h4") {
		now := int(h.Data[1] - '0')
		if now > level+1 {
			t.Errorf("<%s> %q comes after an h%d", h.Data, text(h), level)
		}
		level = now
	}
}

// policy: nothing that the Content-Security-Policy refuses or htmx runs.
func (d document) policy(t testing.TB) {
	t.Helper()
	for _, n := range d.nodes {
		if n.Data == "style" || n.Data == "iframe" || n.Data == "script" && attr(n, "src") == "" {
			t.Errorf("inline <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(a.Key, "hx-on") || a.Key == "hx-boost" {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
			if (a.Key == "href" || a.Key == "action") && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				t.Errorf("<%s> leads to %q", n.Data, a.Val)
			}
		}
	}
}

// names: every control, picture, button and link says what it is.
func (d document) names(t testing.TB) {
	t.Helper()
	labels := map[string]string{}
	for _, l := range d.all("label") {
		labels[attr(l, "for")] = text(l)
	}
	for _, n := range d.nodes {
		named := attr(n, "aria-label") != "" || attr(n, "aria-labelledby") != ""
		switch n.Data {
		case "input", "select", "textarea":
			wrapped := ancestor(n, "label") != nil
			if attr(n, "type") != "hidden" && labels[attr(n, "id")] == "" && !wrapped && !named {
				t.Errorf("no label for <%s name=%q>", n.Data, attr(n, "name"))
			}
			if attr(n, "type") == "radio" && ancestor(n, "fieldset") == nil {
				t.Errorf("radio button %q stands outside a fieldset", attr(n, "name"))
			}
		case "button":
			if attr(n, "type") == "" || text(n) == "" && !named && !has(n, "data-keys") {
				t.Errorf("button without type or words: %q", text(n))
			}
		case "a":
			if text(n) == "" && !named {
				t.Errorf("link without words to %q", attr(n, "href"))
			}
		case "img":
			if !has(n, "alt") {
				t.Errorf("picture without alt: %q", attr(n, "src"))
			}
		case "svg":
			if attr(n, "aria-hidden") != "true" && !named && ancestor(n, "div") == nil {
				t.Error("an svg that neither hides nor says what it is")
			}
		case "form":
			if m := attr(n, "method"); m != "post" && m != "get" || !strings.HasPrefix(attr(n, "action"), "/") {
				t.Errorf("form with method %q to %q", m, attr(n, "action"))
			}
		}
	}
}

// references: ids are unique and what refers to one finds it.
func (d document) references(t testing.TB) {
	t.Helper()
	ids := map[string]bool{}
	for _, n := range d.nodes {
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("id %q twice", id)
			}
			ids[id] = true
		}
	}
	for _, n := range d.nodes {
		if n.Data == "script" {
			continue
		}
		for _, name := range []string{"for", "aria-describedby", "aria-labelledby", "data-upload", "data-preview", "data-preview-for", "data-local-for"} {
			for _, id := range strings.Fields(attr(n, name)) {
				if !ids[id] {
					t.Errorf("<%s %s=%q>: no such id", n.Data, name, id)
				}
			}
		}
		for _, name := range []string{"hx-target", "href"} {
			if id, ok := strings.CutPrefix(attr(n, name), "#"); ok && !ids[id] {
				t.Errorf("<%s %s=%q>: no such id", n.Data, name, id)
			}
		}
	}
}

// moments: the zone stands in every time that is not a countdown.
func (d document) moments(t testing.TB) {
	t.Helper()
	for _, n := range d.all("time") {
		if attr(n, "datetime") == "" {
			t.Errorf("a time without datetime: %q", text(n))
		}
		if !has(n, "data-countdown") && !strings.HasSuffix(text(n), "UTC") {
			t.Errorf("no zone in %q", text(n))
		}
	}
}
