package form

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"time"

	"tuval/internal/fault"
)

// Limits bound one upload.
type Limits struct {
	File  string        // name of the field that carries the file
	Bytes int64         // of the file
	Start time.Duration // before a least rate is asked for; 0: the usual
}

// overhead is what an upload may have besides the file: fields, boundaries,
// headers of parts.
const overhead = 256 << 10

// Upload is a form with a file. File is nil when none was chosen.
type Upload struct {
	Form
	File []byte
}

// ReadUpload takes a multipart form with at most one file. A file that is too
// long is TooLarge and of the field l.File; a body that comes too slowly or
// breaks off is Invalid. What was read of the fields comes back with the
// fault, so that it can be shown again.
func ReadUpload(w http.ResponseWriter, r *http.Request, l Limits) (Upload, error) {
	if err := kind(r, "multipart/form-data"); err != nil {
		return Upload{}, err
	}
	if l.Start == 0 {
		l.Start = startTime
	}
	body := r.Body
	most := l.Bytes + overhead
	if r.ContentLength > most {
		drain(w, r, body)
		return Upload{}, tooLong(l)
	}
	pace := paced(w, body, l.Start)
	boundary := boundaryOf(r)
	r.Body = http.MaxBytesReader(w, io.NopCloser(&withoutNUL{body: pace, delimiter: "\r\n--" + boundary}), most)
	u := Upload{}
	values, err := u.parts(r, l)
	u.Form = Form{values}
	if pace.err != nil {
		// The reader of parts may have said something else about it.
		err = unread(pace.err, l)
	} else if err == nil && !bytes.Contains(pace.tail, []byte("--"+boundary+"--")) {
		// The reader of parts does not insist on the last boundary.
		err = unread(io.ErrUnexpectedEOF, l)
	}
	if f := fault.As(err); f.Kind == fault.TooLarge {
		drain(w, r, body)
	}
	return u, err
}

func boundaryOf(r *http.Request) string {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // looked at by kind
	return params["boundary"]
}

// parts reads one part after the other, as they come.
func (u *Upload) parts(r *http.Request, l Limits) (url.Values, error) {
	values := url.Values{}
	parts, err := r.MultipartReader()
	if err != nil {
		return values, malformed(err)
	}
	for range maxFields + 1 {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return values, unread(err, l)
		}
		if err := u.take(part, values, l); err != nil {
			return values, err
		}
	}
	return values, fault.New(fault.Invalid, fmt.Sprintf("This form has more than %d fields.", maxFields))
}

// take reads one part. Whether it is the file is decided by the field's name.
func (u *Upload) take(part *multipart.Part, values url.Values, l Limits) error {
	name := part.FormName()
	switch {
	case !isText(name):
		return fault.New(fault.Invalid, "The name of a field is not text (UTF-8).")
	case name != l.File:
		return takeText(part, name, values, l)
	case u.File != nil:
		return fault.Field(name, "Two files were sent; one is right.")
	}
	file, err := io.ReadAll(io.LimitReader(part, l.Bytes+1))
	switch {
	case err != nil:
		return unread(err, l)
	case int64(len(file)) > l.Bytes:
		return tooLong(l)
	case len(file) > 0 || part.FileName() != "":
		u.File = file
	}
	return nil
}

func takeText(part *multipart.Part, name string, values url.Values, l Limits) error {
	text, err := io.ReadAll(io.LimitReader(part, MaxBytes+1))
	if err != nil {
		return unread(err, l)
	}
	if len(text) > MaxBytes {
		return fault.Field(name, fmt.Sprintf("%s is longer than %d bytes.", name, MaxBytes))
	}
	values.Add(name, string(text))
	return nil
}

func tooLong(l Limits) *fault.Error {
	f := fault.New(fault.TooLarge, fmt.Sprintf("The file may have at most %d MB.", l.Bytes/1_000_000))
	f.Field = l.File
	return f
}

func malformed(err error) error {
	return fault.New(fault.Invalid, "This upload is not well-formed.").Because(err)
}

// unread says why a body could not be read to its end.
func unread(err error, l Limits) error {
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return tooLong(l)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.Field(l.File, "The upload came too slowly and was given up. Please try again.").Because(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Field(l.File, "The upload broke off before it was complete. Please try again.").Because(err)
	}
	return malformed(err)
}
