package api

import (
	"context"
	"net/http"

	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/web/repeat"
	"tuval/web/visitor"
)

// keyHeader is by what a client says that it asks the same again.
const keyHeader = "Idempotency-Key"

// request is how a request that is sent again is recognised: by its key,
// within its address and whoever sends it.
func request(r *http.Request, v visitor.Visitor, body any) (market.Request, error) {
	req := market.Request{Scope: r.Method + " " + r.URL.Path, Caller: v.Caller(), Body: body, Field: keyHeader}
	switch sent := r.Header.Values(keyHeader); {
	case len(sent) == 0:
		return req, nil
	case len(sent) > 1 || sent[0] == "":
		return req, fault.Field(keyHeader, keyHeader+" must be 8 to 200 printable ASCII characters, sent once")
	default:
		req.Key = sent[0]
		return req, repeat.Check(keyHeader, req.Key)
	}
}

// once runs a verb of a single database at most once for a key.
func once[T any](ctx context.Context, a *api, req market.Request, run func() (T, error)) (T, error) {
	return repeat.Once(ctx, a.memory, req, run)
}

// onceOutside is once for a verb that asks Stripe.
func onceOutside[T any](ctx context.Context, a *api, req market.Request, run func() (T, error)) (T, error) {
	return repeat.Outside(ctx, a.memory, req, run)
}
