package web_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// browser is one person's: it keeps cookies and looks at redirects before it
// follows them.
type browser struct {
	t      *testing.T
	base   string
	client *http.Client
	htmx   bool
}

func (s *stack) browser() *browser {
	client := &http.Client{
		Jar:           must(cookiejar.New(nil)),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &browser{t: s.t, base: s.server.URL, client: client}
}

// scripted is the same browser, asking as the scripts of our pages do.
func (b *browser) scripted() *browser {
	c := *b
	c.htmx = true
	return &c
}

// answer is what came back.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   string
}

func (b *browser) send(r *http.Request) *answer {
	b.t.Helper()
	if b.htmx {
		r.Header.Set("HX-Request", "true")
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &answer{b.t, r.Method + " " + r.URL.Path, resp.StatusCode, resp.Header, string(body)}
}

func (b *browser) request(method, path string, body io.Reader, headers ...string) *http.Request {
	b.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = b.base + path
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (b *browser) get(path string, headers ...string) *answer {
	b.t.Helper()
	return b.send(b.request("GET", path, nil, headers...))
}

// post sends a form of names and values.
func (b *browser) post(path string, pairs ...string) *answer {
	b.t.Helper()
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return b.postRaw(path, "application/x-www-form-urlencoded", v.Encode())
}

func (b *browser) postRaw(path, kind, body string, headers ...string) *answer {
	b.t.Helper()
	r := b.request("POST", path, strings.NewReader(body), headers...)
	r.Header.Set("Content-Type", kind)
	return b.send(r)
}

// upload sends a file with names and values.
func (b *browser) upload(path, filename, kind string, file []byte, pairs ...string) *answer {
	b.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		_ = m.WriteField(pairs[i], pairs[i+1])
	}
	if file != nil {
		head := textproto.MIMEHeader{}
		head.Set("Content-Disposition", `form-data; name="image"; filename="`+filename+`"`)
		head.Set("Content-Type", kind)
		_, _ = must(m.CreatePart(head)).Write(file)
	}
	_ = m.Close()
	return b.postRaw(path, m.FormDataContentType(), body.String())
}

// follow goes where the answer leads.
func (b *browser) follow(a *answer) *answer {
	b.t.Helper()
	to := a.leads()
	if to == "" {
		b.t.Fatalf("%s leads nowhere: %d", a.what, a.status)
	}
	return b.get(to)
}

// leads is where an answer sends the browser, by redirect or by htmx.
func (a *answer) leads() string {
	if to := a.header.Get("HX-Redirect"); to != "" {
		return to
	}
	return a.header.Get("Location")
}

// wants fails the test unless the status is one of these.
func (a *answer) wants(status ...int) *answer {
	a.t.Helper()
	if !slices.Contains(status, a.status) {
		a.t.Fatalf("%s: %d, want %v\n%s", a.what, a.status, status, a.words())
	}
	return a
}

// says fails the test unless the visible words are there.
func (a *answer) says(words ...string) *answer {
	a.t.Helper()
	for _, w := range words {
		if !strings.Contains(a.words(), w) {
			a.t.Errorf("%s (%d) does not say %q:\n%s", a.what, a.status, w, a.words())
		}
	}
	return a
}

func (a *answer) saysNot(words ...string) *answer {
	a.t.Helper()
	for _, w := range words {
		if strings.Contains(a.body, w) {
			a.t.Errorf("%s (%d) says %q", a.what, a.status, w)
		}
	}
	return a
}

func (a *answer) doc() *html.Node {
	doc, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		a.t.Fatal(err)
	}
	return doc
}

// whole fails the test unless the answer is a whole styled page (or, for
// scripts, a part of one).
func (a *answer) whole(yes bool) *answer {
	a.t.Helper()
	if got := strings.Contains(a.body, "<html") && strings.Contains(a.body, "/assets/app."); got != yes {
		a.t.Errorf("%s: a whole page: %v, want %v", a.what, got, yes)
	}
	return a
}

// words are all texts of the page, blanks folded.
func (a *answer) words() string {
	var b strings.Builder
	for n := range a.doc().Descendants() {
		if n.Type == html.TextNode && (n.Parent == nil || n.Parent.Data != "script" && n.Parent.Data != "style") {
			b.WriteString(n.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// all are the elements of that name whose attributes have these values.
func (a *answer) all(element string, pairs ...string) []*html.Node {
	var found []*html.Node
	for n := range a.doc().Descendants() {
		if n.Type != html.ElementNode || element != "" && n.Data != element {
			continue
		}
		fits := true
		for i := 0; i < len(pairs); i += 2 {
			v, ok := attr(n, pairs[i])
			fits = fits && ok && v == pairs[i+1]
		}
		if fits {
			found = append(found, n)
		}
	}
	return found
}

// has fails the test unless there is such an element.
func (a *answer) has(element string, pairs ...string) *answer {
	a.t.Helper()
	if len(a.all(element, pairs...)) == 0 {
		a.t.Errorf("%s (%d) has no <%s %v>:\n%s", a.what, a.status, element, pairs, a.words())
	}
	return a
}

func (a *answer) hasNot(element string, pairs ...string) *answer {
	a.t.Helper()
	if len(a.all(element, pairs...)) > 0 {
		a.t.Errorf("%s (%d) has a <%s %v>", a.what, a.status, element, pairs)
	}
	return a
}

// marks fails the test unless the field is marked as wrong.
func (a *answer) marks(field string) *answer {
	a.t.Helper()
	for _, name := range []string{"input", "textarea", "select"} {
		if len(a.all(name, "name", field, "aria-invalid", "true")) > 0 {
			return a
		}
	}
	if len(a.all("", "id", field+"-error")) == 0 {
		a.t.Errorf("%s (%d) does not mark %s:\n%s", a.what, a.status, field, a.words())
	}
	return a
}

// value is what the field holds.
func (a *answer) value(field string) string {
	if found := a.all("input", "name", field); len(found) > 0 {
		v, _ := attr(found[0], "value")
		return v
	}
	if found := a.all("textarea", "name", field); len(found) > 0 && found[0].FirstChild != nil {
		return found[0].FirstChild.Data
	}
	return ""
}

// form is the values of the hidden and other fields of the form with that
// action.
func (a *answer) form(action string) url.Values {
	a.t.Helper()
	forms := a.all("form", "action", action)
	if len(forms) == 0 {
		a.t.Fatalf("%s (%d) has no form for %s:\n%s", a.what, a.status, action, a.words())
	}
	v := url.Values{}
	for n := range forms[0].Descendants() {
		if n.Type == html.ElementNode && n.Data == "input" {
			name, _ := attr(n, "name")
			value, _ := attr(n, "value")
			v.Add(name, value)
		}
	}
	return v
}
