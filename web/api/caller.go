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

// holder is whoever places a hold: anybody. A token joins the new hold to the
// person who made the one it was given for.
func (a *api) holder(r *http.Request) (visitor.Visitor, error) {
	v := visitor.From(r.Context())
	token, err := bearer(r)
	if err != nil || token == "" {
		return v, err
	}
	found, err := a.Market.ByToken(r.Context(), token)
	if err != nil {
		return v, err
	}
	v = v.Bearing(token, found.ID)
	v.Persons = []int64{found.PersonID}
	return v, nil
}

// buyer is whoever may ask for a rental of theirs: by its token, or by a
// session that has done something. It is not known yet whose the rental is.
func (a *api) buyer(r *http.Request) (visitor.Visitor, error) {
	v := visitor.From(r.Context())
	token, err := bearer(r)
	switch {
	case err != nil:
		return v, err
	case token != "":
		return a.bearing(r, token)
	case len(v.Persons) == 0:
		return v, fault.New(fault.Unauthenticated, "This needs the token that came with the hold, as Authorization: Bearer <token>.")
	}
	return v, nil
}

// bearing may do what the rental of the token may, and nothing else.
func (a *api) bearing(r *http.Request, token string) (visitor.Visitor, error) {
	v := visitor.From(r.Context())
	found, err := a.Market.ByToken(r.Context(), token)
	if err != nil {
		return v, err
	}
	return v.Bearing(token, found.ID), nil
}

// admin is an admin, by an API token or a signed-in session.
func (a *api) admin(r *http.Request) (visitor.Visitor, error) {
	v := visitor.From(r.Context())
	token, err := bearer(r)
	switch {
	case err != nil:
		return v, err
	case token != "":
		found, err := a.Admins.AdminByToken(r.Context(), token)
		v = v.Bearing(token, 0)
		v.Admin = visitor.Admin{ID: found.ID, Email: found.Email}
		return v, err
	case v.Admin.Is():
		return v, nil
	case len(v.Persons) == 0:
		return v, fault.New(fault.Unauthenticated, "This needs an admin's token, as Authorization: Bearer <token>.")
	}
	return v, fault.New(fault.Forbidden, "Only admins may do this.")
}

// viewer is whoever may look at a rental: its buyer or an admin.
func (a *api) viewer(r *http.Request) (visitor.Visitor, error) {
	v := visitor.From(r.Context())
	token, err := bearer(r)
	switch {
	case err != nil:
		return v, err
	case token == "" && v.Admin.Is():
		return v, nil
	case token != "":
		if admin, err := a.admin(r); fault.As(err).Kind != fault.Unauthenticated {
			return admin, err
		}
	}
	return a.buyer(r)
}
