package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// contract is the document that every request and answer of these tests is
// held against.
type contract struct {
	doc    *openapi3.T
	router routers.Router
	judged *sync.Map // refusals that were found right; many are the same
}

// readContract reads the document once for all tests.
var readContract = sync.OnceValues(func() (contract, error) {
	// A file may be sent as any type; the bytes decide.
	for _, kind := range []string{"image/png", "image/jpeg", "text/html"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
	}
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return contract{}, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return contract{}, err
	}
	router, err := legacy.NewRouter(doc)
	return contract{doc, router, &sync.Map{}}, err
})

func loadContract(t *testing.T) contract {
	t.Helper()
	c, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exchange is a request with its answer.
type exchange struct {
	request  *http.Request
	sent     []byte
	response *http.Response
	got      []byte
}

func options() *openapi3filter.Options {
	return &openapi3filter.Options{
		IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}
}

// check says what of an exchange is not as the document has it. What the
// document allows may still be refused, but what it forbids is never carried
// out.
func (c contract) check(x exchange) error {
	switch {
	case x.request.Method == http.MethodHead:
		return nil // GET without the body
	case strings.HasSuffix(x.request.URL.Path, "/"):
		return c.checkUnknown(x) // the router would not mind the slash
	}
	// The document's server is a path; it is found by a path.
	x.request.URL = &url.URL{Path: x.request.URL.Path, RawQuery: x.request.URL.RawQuery}
	route, params, err := c.router.FindRoute(x.request)
	if err != nil {
		return c.checkUnknown(x)
	}
	in := &openapi3filter.RequestValidationInput{Request: x.request, PathParams: params, Route: route, Options: options()}
	if x.response.StatusCode >= 300 {
		return c.checkRefusal(in, x)
	}
	x.request.Body = io.NopCloser(bytes.NewReader(x.sent))
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		return errors.Join(errors.New("carried out though the document forbids it"), err)
	}
	return c.checkAnswer(in, x)
}

func (c contract) checkAnswer(in *openapi3filter.RequestValidationInput, x exchange) error {
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.response.StatusCode, Header: x.response.Header, Options: options(),
	}
	if len(x.got) > 0 {
		out.SetBodyBytes(x.got)
	}
	return openapi3filter.ValidateResponse(context.Background(), out)
}

func (c contract) checkRefusal(in *openapi3filter.RequestValidationInput, x exchange) error {
	name := fmt.Sprintf("%p %d %s", in.Route.Operation, x.response.StatusCode, x.got)
	if _, known := c.judged.Load(name); known {
		return nil
	}
	if err := c.checkAnswer(in, x); err != nil {
		return err
	}
	c.judged.Store(name, true)
	return nil
}

// checkUnknown is for addresses and methods that the document does not have.
func (c contract) checkUnknown(x exchange) error {
	allow := x.response.Header.Get("Allow")
	switch status := x.response.StatusCode; {
	case status == http.StatusMethodNotAllowed && allow == "":
		return errors.New("405 without Allow")
	case status != http.StatusNotFound && status != http.StatusMethodNotAllowed:
		return errors.New("an address that the document does not have was answered " + x.response.Status)
	}
	if kind := x.response.Header.Get("Content-Type"); kind != "application/json" {
		return errors.New("refused as " + kind)
	}
	v, err := decode(x.got)
	if err != nil {
		return err
	}
	return c.doc.Components.Schemas["Error"].Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
}

func TestTheDocumentIsValid(t *testing.T) {
	t.Parallel()
	c := loadContract(t)
	if err := c.doc.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c.doc.OpenAPI != "3.1.0" {
		t.Errorf("it is of version %s", c.doc.OpenAPI)
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	s := newStack(t)
	a := s.stranger().get("/api/openapi.yaml").wants(http.StatusOK)
	text := must(os.ReadFile("openapi.yaml"))
	if !bytes.Equal(a.body, text) || a.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%d bytes of %s", len(a.body), a.header.Get("Content-Type"))
	}
	s.stranger().with("If-None-Match", a.header.Get("ETag")).get("/api/openapi.yaml").wants(http.StatusNotModified)
}

// TestEveryCallOfTheDocumentExists asks for each with nothing to show for it.
func TestEveryCallOfTheDocumentExists(t *testing.T) {
	s := newStack(t)
	for path, item := range s.spec.doc.Paths.Map() {
		for method := range item.Operations() {
			a := s.stranger().send(method, "/api/v1"+strings.NewReplacer("{id}", "none", "{hash}", "none").Replace(path), nil)
			open := method == http.MethodGet && (path == "/board" || path == "/slots") || method == http.MethodPost && path == "/holds"
			switch {
			case !open && a.status != http.StatusUnauthorized:
				t.Errorf("%s %s: %d without credentials", method, path, a.status)
			case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed:
				t.Errorf("%s %s: %d", method, path, a.status)
			}
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	s := newStack(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/api/", 404, ""},
		{"GET", "/api/v1", 404, ""},
		{"GET", "/api/v1/", 404, ""},
		{"GET", "/api/v2/board", 404, ""},
		{"GET", "/api/v1/board/", 404, ""},
		{"GET", "/api/v1/spots?w=1&h=1", 404, ""},
		{"POST", "/api/v1/placements", 404, ""},
		{"GET", "/api/v1/rentals/", 404, ""},
		{"GET", "/api/v1/rentals/%FF", 404, ""},
		{"GET", "/api/v1/rentals/a%00b", 404, ""},
		{"POST", "/api/v1/board", 405, "GET, HEAD"},
		{"OPTIONS", "/api/v1/board", 405, "GET, HEAD"},
		{"PATCH", "/api/v1/holds", 405, "POST"},
		{"GET", "/api/v1/holds", 405, "POST"},
		{"GET", "/api/v1/holds/x/keep", 405, "POST"},
		{"PUT", "/api/v1/admin/blocked", 405, "GET, HEAD, POST"},
		{"POST", "/api/v1/rentals/x/creative", 405, "PUT"},
	} {
		a := s.stranger().send(c.method, c.path, nil)
		code := map[int]string{404: "not_found", 405: "method_not_allowed"}[c.status]
		if a.wants(c.status); a.code() != code || a.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %s, Allow %q", c.method, c.path, a.code(), a.header.Get("Allow"))
		}
	}
}
