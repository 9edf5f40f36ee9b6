package api

import (
	"net/http"

	"tuval/internal/limits"
	"tuval/web/visitor"
)

// routes is every call of the API. What everybody may read has no rate: it is
// answered out of memory. Holds and uploads have one more of their own.
func (a *api) routes() {
	a.on("GET /api/openapi.yaml", nil, a.document)
	a.on("GET /api/v1/board", nil, a.board)

	usual := a.per(a.Limits.API)
	a.on("POST /api/v1/holds", usual, a.hold)
}

// per counts a call for the network it comes from.
func (a *api) per(k *limits.Keyed) rate {
	return func(r *http.Request) error { return k.Allow(visitor.From(r.Context()).NetworkKey()) }
}
