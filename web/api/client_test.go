package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
)

// client is a program that asks, with what it shows of itself.
type client struct {
	s       *stack
	headers []string // name, value, ...
	http    *http.Client
}

// stranger shows nothing.
func (s *stack) stranger() *client {
	keep := http.ErrUseLastResponse
	return &client{s: s, http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return keep }}}
}

// bearer shows a token.
func (s *stack) bearer(token string) *client {
	return s.stranger().with("Authorization", "Bearer "+token)
}

func (s *stack) admin() *client { return s.bearer(s.adminToken()) }

// browser keeps cookies, as a page's scripts would.
func (s *stack) browser() *client {
	c := s.stranger()
	c.http.Jar = must(cookiejar.New(nil))
	return c
}

// with is the same client with one more header.
func (c *client) with(name, value string) *client {
	copied := *c
	copied.headers = append(append([]string{}, c.headers...), name, value)
	return &copied
}

func (c *client) get(path string) *answer { c.s.t.Helper(); return c.send("GET", path, nil) }

func (c *client) delete(path string) *answer { c.s.t.Helper(); return c.send("DELETE", path, nil) }

// post sends a value as JSON, or, if it is a text, that text as it is.
func (c *client) post(path string, body any) *answer {
	c.s.t.Helper()
	text, ok := body.(string)
	if !ok {
		text = string(must(json.Marshal(body)))
	}
	return c.with("Content-Type", "application/json").send("POST", path, []byte(text))
}

// form sends a form as pages do.
func (c *client) form(path string, fields ...string) *answer {
	c.s.t.Helper()
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return c.with("Content-Type", "application/x-www-form-urlencoded").send("POST", path, []byte(values.Encode()))
}

// file is a file to be sent.
type file struct {
	name, kind string
	bytes      []byte
}

// upload sends a file with fields, or none if it is nil.
func (c *client) upload(path string, f *file, fields ...string) *answer {
	c.s.t.Helper()
	kind, body := multiparts(f, fields...)
	return c.with("Content-Type", kind).send("PUT", path, body)
}

func multiparts(f *file, fields ...string) (string, []byte) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if f != nil {
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="image"; filename=%q`, f.name)}}
		if f.kind != "" {
			h.Set("Content-Type", f.kind)
		}
		part := must(w.CreatePart(h))
		must(part.Write(f.bytes))
	}
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return w.FormDataContentType(), body.Bytes()
}

// send asks, and holds request and answer against the contract.
func (c *client) send(method, path string, body []byte) *answer {
	t := c.s.t
	t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = c.s.server.URL + path
	}
	r, err := http.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(c.headers); i += 2 {
		r.Header.Add(c.headers[i], c.headers[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{t: t, what: method + " " + r.URL.Path, status: resp.StatusCode, header: resp.Header, body: got}
	if strings.HasPrefix(r.URL.Path, "/api/v1/") {
		if err := c.s.spec.check(exchange{r, body, resp, got}); err != nil {
			t.Errorf("%s is not as the document has it: %v\nsent %.300q\ngot %d %.1000s", a.what, err, body, a.status, got)
		}
	}
	return a
}

// answer is what came back.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

// wants fails the test unless the status is the one.
func (a *answer) wants(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %.1000s", a.what, a.status, status, a.body)
	}
	return a
}

// refused is a refusal.
type refused struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Field   string          `json:"field"`
	Details json.RawMessage `json:"details"`
}

func (a *answer) refusal() refused {
	a.t.Helper()
	return as[map[string]refused](a)["error"]
}

func (a *answer) code() string { a.t.Helper(); return a.refusal().Code }

// refuses fails the test unless this was refused with the status, code and
// field.
func (a *answer) refuses(status int, code, field string) refused {
	a.t.Helper()
	r := a.wants(status).refusal()
	if r.Code != code || r.Field != field {
		a.t.Errorf("%s: code %q, field %q, want %q, %q: %s", a.what, r.Code, r.Field, code, field, r.Message)
	}
	return r
}

// as reads an answer.
func as[T any](a *answer) T {
	a.t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%s: %v: %.300q", a.what, err, a.body)
	}
	return v
}

func decode(b []byte) (any, error) {
	var v any
	err := json.Unmarshal(b, &v)
	return v, err
}
