package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tuval/internal/fault"
	"tuval/web/reply"
)

// maxBody is what a body of JSON may have, in bytes.
const maxBody = 64 << 10

// read takes a request's body as one JSON object with these fields and no
// others. A request without any body has no fields.
func read(w http.ResponseWriter, r *http.Request, known ...string) (*fields, error) {
	data, err := body(w, r)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return &fields{}, nil
	}
	if err := isJSON(r); err != nil {
		return nil, err
	}
	names, values, err := parse(data)
	if err != nil {
		return nil, err
	}
	takes := "this call takes none"
	if len(known) > 0 {
		takes = "known are: " + strings.Join(known, ", ")
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fault.Field(short(name), fmt.Sprintf("There is no field %q here; %s.", short(name), takes))
		}
	}
	return &fields{values: values}, nil
}

// body reads all of it, or refuses at the first byte too many.
func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fault.New(fault.Invalid, "The request broke off before it was complete.").Because(err)
	}
	if len(data) > maxBody {
		swallow(w, r)
		return nil, fault.New(fault.TooLarge, "The body is too long: at most "+reply.Size(maxBody)+" can be sent.")
	}
	return data, nil
}

// A client that sends all before it listens would see a broken connection in
// place of the answer, so the rest of a body that is too long is swallowed,
// for a moment.
const (
	swallowTime  = 1500 * time.Millisecond
	swallowBytes = 32 << 20
)

func swallow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	if r.Header.Get("Expect") != "" {
		return // it asks first, and the answer is no
	}
	// A recorder in a test has no connection and no deadlines, which is fine.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(swallowTime))
	_, _ = io.CopyN(io.Discard, r.Body, swallowBytes)
}

func isJSON(r *http.Request) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	if err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return fault.New(fault.Unsupported, "Bodies are taken as application/json only.")
}

func malformed(msg string) *fault.Error { return fault.New(fault.Invalid, msg) }

// parse takes an object apart. It is stricter than the standard decoder, which
// lets the last of two values win and mends what is not text.
func parse(data []byte) ([]string, map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, nil, malformed("The body holds bytes that are not text (UTF-8).")
	}
	in := json.NewDecoder(bytes.NewReader(data))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, malformed("The body must be one JSON object.").Because(err)
	}
	names, values, err := members(in)
	if err != nil {
		return nil, nil, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, malformed("Something stands behind the JSON object.").Because(err)
	}
	return names, values, nil
}

func members(in *json.Decoder) ([]string, map[string]json.RawMessage, error) {
	var names []string
	values := map[string]json.RawMessage{}
	for in.More() {
		key, err := in.Token()
		name, isName := key.(string)
		if err != nil || !isName {
			return nil, nil, malformed("The body is not well-formed JSON.").Because(err)
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, nil, malformed("The body is not well-formed JSON.").Because(err)
		}
		if _, twice := values[name]; twice {
			return nil, nil, fault.Field(short(name), fmt.Sprintf("%s stands there twice; once is right.", short(name)))
		}
		names, values[name] = append(names, name), value
	}
	if _, err := in.Token(); err != nil {
		return nil, nil, malformed("The body is not well-formed JSON.").Because(err)
	}
	return names, values, nil
}

// short is a name as it can be said back.
func short(name string) string {
	const most = 60
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}
