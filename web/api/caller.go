package api

import (
	"net/http"
	"strings"

	"tuval/internal/fault"
	"tuval/web/visitor"
)

// bearer is the token that a request shows, or empty when it shows nothing.
// Other ways to show who one is are refused: they would be ignored otherwise.
func bearer(r *http.Request) (string, error) {
	shown := r.Header.Values("Authorization")
	if len(shown) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(shown[0], " ")
	token = strings.TrimSpace(token)
	if len(shown) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", fault.New(fault.Unauthenticated, "Show a token as Authorization: Bearer <token>.")
	}
	return token, nil
}

// bearing is the visitor whom a request's token makes: what the rental it was
// given for may do, and nothing else. It reports false when there is no token.
func (a *api) bearing(r *http.Request) (visitor.Visitor, bool, error) {
	v := visitor.From(r.Context())
	token, err := bearer(r)
	if err != nil || token == "" {
		return v, false, err
	}
	found, err := a.Market.ByToken(r.Context(), token)
	if err != nil {
		return v, false, err
	}
	v = v.Bearing(token, found.ID)
	v.Persons = []int64{found.PersonID}
	return v, true, nil
}

// holder is whoever places a hold: anybody. A token joins the new hold to the
// person who made the earlier one.
func (a *api) holder(r *http.Request) (visitor.Visitor, error) {
	v, _, err := a.bearing(r)
	return v, err
}
