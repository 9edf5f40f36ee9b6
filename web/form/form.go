package form

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"tuval/internal/fault"
)

// MaxBytes is what a form without a file may have.
const MaxBytes = 64 << 10

const maxFields = 100

// Form is what was typed, each field once.
type Form struct{ values map[string][]string }

// Read takes a form from a request's body: of the kind that browsers send
// (else Unsupported), at most MaxBytes (else TooLarge), well-formed (else
// Invalid). What stands in the address is no part of it.
func Read(w http.ResponseWriter, r *http.Request) (Form, error) {
	if err := kind(r, "application/x-www-form-urlencoded"); err != nil {
		return Form{}, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBytes))
	if err != nil {
		return Form{}, broken(w, r, err)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return Form{}, fault.New(fault.Invalid, "This form is not well-formed.").Because(err)
	}
	return Of(values)
}

// Of takes values that were read already, of an address say.
func Of(values url.Values) (Form, error) {
	if len(values) > maxFields {
		return Form{}, fault.New(fault.Invalid, fmt.Sprintf("This form has more than %d fields.", maxFields))
	}
	f := Form{values}
	for name := range values {
		if !isText(name) {
			return f, fault.New(fault.Invalid, "The name of a field is not text (UTF-8).")
		}
	}
	return f, nil
}

// kind wants a body of the given media type. A request without any body is a
// form without fields.
func kind(r *http.Request, want string) error {
	given := r.Header.Get("Content-Type")
	if given == "" && r.ContentLength == 0 {
		return nil
	}
	if got, _, err := mime.ParseMediaType(given); err == nil && got == want {
		return nil
	}
	return fault.New(fault.Unsupported, "This address takes forms of the kind "+want+" only.")
}

// broken is a body that cannot be read to its end.
func broken(w http.ResponseWriter, r *http.Request, err error) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		drain(w, r, r.Body)
		return fault.New(fault.TooLarge, fmt.Sprintf("This form is too long: at most %d kB can be sent.", MaxBytes>>10)).Because(err)
	}
	return fault.New(fault.Invalid, "The request broke off before it was complete.").Because(err)
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Get is a field's value, empty when it was not sent. A field that was sent
// twice, or that is not text, is at fault.
func (f Form) Get(name string) (string, error) {
	switch all := f.values[name]; {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", fault.Field(name, fmt.Sprintf("%s was sent %d times; once is right.", name, len(all)))
	case !utf8.ValidString(all[0]):
		return "", fault.Field(name, name+" holds bytes that are not text (UTF-8).")
	case strings.Contains(all[0], "\x00"):
		return "", fault.Field(name, name+" holds a NUL character.")
	default:
		return all[0], nil
	}
}

// Has reports whether a field was sent at all.
func (f Form) Has(name string) bool { return len(f.values[name]) > 0 }

// Typed is a field as it can be shown again: text, not longer than anybody
// types.
func (f Form) Typed(name string) string {
	all := f.values[name]
	if len(all) == 0 {
		return ""
	}
	s := strings.ReplaceAll(strings.ToValidUTF8(all[0], "\uFFFD"), "\x00", "\uFFFD")
	const most = 4096
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// Names lists the fields that were sent, in order of the alphabet.
func (f Form) Names() []string {
	names := make([]string, 0, len(f.values))
	for name := range f.values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
