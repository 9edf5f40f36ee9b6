package form_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tuval/internal/fault"
	"tuval/web/form"
)

func post(kind, body string) (form.Form, error) {
	r := httptest.NewRequest("POST", "/?w=9", strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return form.Read(httptest.NewRecorder(), r)
}

const urlencoded = "application/x-www-form-urlencoded"

func TestReadTakesWhatBrowsersSend(t *testing.T) {
	f, err := post(urlencoded+"; charset=utf-8", "w=3&title=a+b%26&other=1")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"w": "3", "title": "a b&", "absent": ""} {
		if got, err := f.Get(name); got != want || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if f.Has("absent") || !f.Has("w") {
		t.Error("fields are not told from absent ones")
	}
	if f, err := post("", ""); err != nil || f.Has("w") {
		t.Errorf("a request without a body: %v", err)
	}
}

func TestReadRefusesWhatIsNoForm(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       fault.Kind
	}{
		{"application/json", `{"w":3}`, fault.Unsupported},
		{"text/plain", "w=3", fault.Unsupported},
		{"", "w=3", fault.Unsupported},
		{";;;", "w=3", fault.Unsupported},
		{"multipart/form-data; boundary=x", "--x--", fault.Unsupported},
		{urlencoded, "w=%zz", fault.Invalid},
		{urlencoded, "w=1;h=2", fault.Invalid},
		{urlencoded, "%ff=1", fault.Invalid},
		{urlencoded, "a=" + strings.Repeat("x", form.MaxBytes), fault.TooLarge},
		{urlencoded, many(101), fault.Invalid},
	} {
		if _, err := post(c.kind, c.body); err == nil || fault.As(err).Kind != c.want {
			t.Errorf("%s %.20q: %v, want kind %d", c.kind, c.body, err, c.want)
		}
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d=1&", i)
	}
	return b.String()
}

func TestGetNamesTheFieldAtFault(t *testing.T) {
	f, err := post(urlencoded, "w=1&w=2&bad=%ff&nul=a%00b")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"w", "bad", "nul"} {
		_, err := f.Get(name)
		if p := fault.As(err); err == nil || p.Kind != fault.Invalid || p.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := f.Typed("nul"); got != "a\uFFFDb" {
		t.Errorf("shown again as %q", got)
	}
	if got := f.Typed("w"); got != "1" {
		t.Errorf("shown again as %q", got)
	}
}

func TestCheckGathersAllProblems(t *testing.T) {
	f, _ := form.Of(url.Values{"a": {"x"}, "b": {"1", "2"}})
	var c form.Check
	length := func(s string) (int, error) { return len(s), nil }
	refuse := func(string) (int, error) { return 0, fault.New(fault.Invalid, "No.") }
	if n := form.Text(&c, f, "a", length); n != 1 || c.Err() != nil {
		t.Errorf("%d, %v", n, c.Err())
	}
	form.Text(&c, f, "a", refuse)
	form.Text(&c, f, "b", length)
	if ps := c.Problems(); len(ps) != 2 || ps[0].Field != "a" || ps[1].Field != "b" || fault.As(c.Err()).Field != "a" {
		t.Errorf("problems: %+v", ps)
	}
}

var limits = form.Limits{File: "image", Bytes: 1000}

func upload(body string, length int64, kind string) (form.Upload, *httptest.ResponseRecorder, error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.ContentLength = length
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	u, err := form.ReadUpload(w, r, limits)
	return u, w, err
}

const multi = "multipart/form-data; boundary=x"

func part(head, body string) string {
	return "--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
}

func TestReadUploadTakesAFileAndFields(t *testing.T) {
	body := part(`name="link"`, "https://a.example") + part(`name="image"; filename="../../ü.png"`, "PNG") + "--x--\r\n"
	u, _, err := upload(body, -1, multi)
	if err != nil {
		t.Fatal(err)
	}
	if link, _ := u.Get("link"); link != "https://a.example" || string(u.File) != "PNG" {
		t.Errorf("got %q and %q", link, u.File)
	}
	u, _, err = upload(part("name=\"image\"; filename=\"a\x00.png\"", "P\x00\r\n--\x00G\r")+part(`name="alt"`, "a\x00")+"--x--\r\n", -1, multi)
	if err != nil || string(u.File) != "P\x00\r\n--\x00G\r" {
		t.Errorf("a NUL in the name: %q, %v", u.File, err)
	}
	if _, err := u.Get("alt"); fault.As(err).Field != "alt" {
		t.Errorf("a NUL in a text: %v", err)
	}
	u, _, err = upload(part(`name="image"; filename=""`, "")+"--x--\r\n", -1, multi)
	if err != nil || u.File != nil {
		t.Errorf("no file was chosen: %q, %v", u.File, err)
	}
	u, _, err = upload(part(`name="image"; filename="empty.png"`, "")+"--x--\r\n", -1, multi)
	if err != nil || u.File == nil {
		t.Errorf("an empty file was chosen: %v, %v", u.File, err)
	}
}

func TestReadUploadRefuses(t *testing.T) {
	long := strings.Repeat("x", 1001)
	for _, c := range []struct {
		why, kind, body string
		length          int64
		want            fault.Kind
		field           string
	}{
		{"another kind", urlencoded, "a=1", 3, fault.Unsupported, ""},
		{"no boundary", "multipart/form-data", "a", 1, fault.Invalid, ""},
		{"no parts", multi, "hello", 5, fault.Invalid, "image"},
		{"only a beginning", multi, "--x\r\n", 5, fault.Invalid, ""},
		{"cut off in a part", multi, part(`name="image"; filename="a"`, "PNG")[:60], 60, fault.Invalid, ""},
		{"cut off between parts", multi, part(`name="link"`, "x"), -1, fault.Invalid, "image"},
		{"a file too long", multi, part(`name="image"; filename="a"`, long) + "--x--\r\n", -1, fault.TooLarge, "image"},
		{"a length too long", multi, "", 100_000_000, fault.TooLarge, "image"},
		{"two files", multi, part(`name="image"; filename="a"`, "1") + part(`name="image"; filename="b"`, "2") + "--x--\r\n", -1, fault.Invalid, "image"},
		{"a text too long", multi, part(`name="alt"`, strings.Repeat("x", form.MaxBytes+1)) + "--x--\r\n", -1, fault.Invalid, "alt"},
		{"a name that is no text", multi, part("name=\"\xff\"", "1") + "--x--\r\n", -1, fault.Invalid, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, w, err := upload(c.body, c.length, c.kind)
			p := fault.As(err)
			if err == nil || p.Kind != c.want || c.field != "" && p.Field != c.field {
				t.Errorf("%+v", p)
			}
			if c.want == fault.TooLarge && w.Header().Get("Connection") != "close" {
				t.Error("the connection stays open")
			}
		})
	}
}

func TestAFieldSentTwiceIsNamedInUploadsToo(t *testing.T) {
	u, _, err := upload(part(`name="alt"`, "a")+part(`name="alt"`, "b")+"--x--\r\n", -1, multi)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Get("alt"); fault.As(err).Field != "alt" {
		t.Errorf("%v", err)
	}
}

// serve answers uploads with the status of their fault, over a real
// connection.
func serve(t *testing.T, l form.Limits) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := form.ReadUpload(w, r, l)
		switch {
		case err == nil:
			w.WriteHeader(http.StatusOK)
		case fault.As(err).Kind == fault.TooLarge:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		default:
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		}
	}))
	t.Cleanup(s.Close)
	return s
}
