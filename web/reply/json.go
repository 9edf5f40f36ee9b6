package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// JSON answers with a value. Unless the caller said otherwise it is not kept
// by any cache.
func JSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	body, err := encode(v)
	if err != nil {
		Fault(w, r, fmt.Errorf("encode the answer: %w", err))
		return
	}
	write(w, status, "application/json", body)
}

// problem is an error as the API's document describes it.
type problem struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Field   string         `json:"field,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// Fault answers with an error as JSON: {"error":{"code","message","field"?,
// "details"?}}, its status by its kind.
func Fault(w http.ResponseWriter, r *http.Request, err error) {
	f := refuse(w, r, err)
	p := problem{Code: f.Code, Message: f.Msg, Field: f.Field, Details: f.Details}
	body, encodeErr := encode(map[string]problem{"error": p})
	if encodeErr != nil { // a detail that JSON cannot say
		p.Details = nil
		body, _ = encode(map[string]problem{"error": p})
	}
	write(w, Status(f.Kind), "application/json", body)
}

// encode writes JSON for programs: words stay as they are, for it is never
// part of a page.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}

// write sends a complete body. What goes wrong now is the connection's.
func write(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
