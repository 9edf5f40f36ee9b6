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
	a.on("GET /api/v1/slots", nil, a.slots)

	usual := a.per(a.Limits.API)
	a.on("POST /api/v1/holds", usual, a.hold)
	a.on("POST /api/v1/holds/{id}/keep", usual, a.keep)
	a.on("DELETE /api/v1/holds/{id}", usual, a.letGo)
	a.on("GET /api/v1/rentals/{id}", usual, a.rental)
	a.on("POST /api/v1/rentals/{id}/checkout", usual, a.checkout)
	a.on("POST /api/v1/rentals/{id}/extensions", usual, a.extend)
	a.on("POST /api/v1/rentals/{id}/renewals", usual, a.renew)
	a.on("POST /api/v1/rentals/{id}/withdraw", usual, a.withdraw)
	a.on("PUT /api/v1/rentals/{id}/creative", usual, a.submit)
	a.on("GET /api/v1/rentals/{id}/pictures/{hash}", usual, a.picture)

	a.on("GET /api/v1/admin/reviews", usual, a.reviews)
	a.on("POST /api/v1/admin/creatives/{id}/approve", usual, a.approve)
	a.on("POST /api/v1/admin/creatives/{id}/reject", usual, a.reject)
	a.on("GET /api/v1/admin/blocked", usual, a.blocked)
	a.on("POST /api/v1/admin/blocked", usual, a.block)
	a.on("DELETE /api/v1/admin/blocked/{id}", usual, a.unblock)
	a.on("GET /api/v1/admin/anomalies", usual, a.anomalies)
	a.on("POST /api/v1/admin/reconcile", usual, a.reconcile)
	a.on("GET /api/v1/admin/rentals", usual, a.rentals)
	a.on("POST /api/v1/admin/rentals/{id}/refund", usual, a.refund)
	a.on("POST /api/v1/admin/rentals/{id}/hide", usual, a.hide)
	a.on("POST /api/v1/admin/rentals/{id}/unhide", usual, a.unhide)
	a.on("POST /api/v1/admin/rentals/{id}/close", usual, a.remove)
	a.on("GET /api/v1/admin/ledger", usual, a.ledger)
	a.on("GET /api/v1/admin/capacity", usual, a.capacity)
}

// per counts a call for the network it comes from.
func (a *api) per(k *limits.Keyed) rate {
	return func(r *http.Request) error { return k.Allow(visitor.From(r.Context()).NetworkKey()) }
}
