package stripesim

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A form's keys nest: line_items[0][price_data][currency]=usd. node is one
// place in that tree: a value, or fields in the order in which they came.
// A list is fields that are all numbers.
type node struct {
	value  string
	leaf   bool
	names  []string
	fields map[string]*node
}

const (
	maxPairs = 2000
	maxDepth = 8
)

// parseForm reads "a[b][]=c&d=e". Pairs are read in order, since "[]" means
// the next place in its list. It refuses broken escapes and brackets, and one
// name used both as a value and as a parent.
func parseForm(raw string) (*node, *Error) {
	root := &node{}
	if raw == "" {
		return root, nil
	}
	pairs := strings.Split(raw, "&")
	if len(pairs) > maxPairs {
		return nil, invalid("", "", "Too many parameters.")
	}
	for _, pair := range pairs {
		if pair == "" {
			continue
		}
		if err := root.addPair(pair); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func (n *node) addPair(pair string) *Error {
	k, v, _ := strings.Cut(pair, "=")
	key, err1 := url.QueryUnescape(k)
	value, err2 := url.QueryUnescape(v)
	if err1 != nil || err2 != nil {
		return invalid("", "", "Invalid request body: it is not form-encoded.")
	}
	path, ok := splitKey(key)
	if !ok || !n.put(path, value) {
		return invalid(key, "", "Invalid parameter name or two shapes of one parameter: %s", key)
	}
	return nil
}

// splitKey turns a[b][] into a, b and the empty name.
func splitKey(key string) ([]string, bool) {
	name, rest, nested := strings.Cut(key, "[")
	if name == "" || strings.Contains(name, "]") {
		return nil, false
	}
	path := []string{name}
	for nested {
		var part string
		part, rest, nested = strings.Cut(rest, "]")
		if !nested || strings.Contains(part, "[") || len(path) == maxDepth {
			return nil, false
		}
		path = append(path, part)
		if rest == "" {
			return path, true
		}
		var before string
		before, rest, nested = strings.Cut(rest, "[")
		if before != "" {
			return nil, false
		}
	}
	return path, len(path) == 1 && rest == ""
}

// put stores a value at a path and reports whether it fits the shape so far.
func (n *node) put(path []string, value string) bool {
	if len(path) == 0 {
		if len(n.names) > 0 {
			return false
		}
		n.leaf, n.value = true, value
		return true
	}
	if n.leaf {
		return false
	}
	name := path[0]
	if name == "" {
		name = n.nextPlace(path[1:])
	}
	return n.field(name).put(path[1:], value)
}

// nextPlace is where "[]" goes: the last element while it has no such path
// yet (a list of objects is sent field by field), else a new one.
func (n *node) nextPlace(rest []string) string {
	last := len(n.names) - 1
	if last >= 0 && len(rest) > 0 && !n.fields[n.names[last]].has(rest) {
		return n.names[last]
	}
	return strconv.Itoa(len(n.names))
}

func (n *node) has(path []string) bool {
	for _, name := range path {
		if n = n.fields[name]; n == nil {
			return false
		}
	}
	return true
}

func (n *node) field(name string) *node {
	if f, ok := n.fields[name]; ok {
		return f
	}
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	f := &node{}
	n.names = append(n.names, name)
	n.fields[name] = f
	return f
}

// flat lists the leaves by full name, sorted: the same parameters in another
// order are the same request.
func (n *node) flat() [][2]string {
	var all [][2]string
	n.walk("", func(name, value string) { all = append(all, [2]string{name, value}) })
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

func (n *node) walk(at string, leaf func(name, value string)) {
	if n.leaf {
		leaf(at, n.value)
	}
	for _, name := range n.names {
		inner := name
		if at != "" {
			inner = at + "[" + name + "]"
		}
		n.fields[name].walk(inner, leaf)
	}
}
