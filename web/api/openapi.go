package api

import (
	_ "embed"
	"net/http"

	"tuval/web/reply"
)

// description is the API in words that programs understand.
//
//go:embed openapi.yaml
var description []byte

// document serves the description.
func (a *api) document(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, no-cache")
	reply.Bytes(w, r, etag(description), "application/yaml", description)
	return nil
}
