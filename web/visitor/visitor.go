package visitor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"tuval/internal/market"
	"tuval/internal/rental"
)

// Visitor is who asks. The zero value is a stranger from nowhere.
type Visitor struct {
	Network []byte // keyed hash of the network address, limits.Key

	// Of the browser's session. Without a cookie it is an empty one.
	HasSession bool    // the session was looked for; it can be written to
	Session    string  // whom requests of this session are told apart by; empty before it did anything
	Persons    []int64 // all that this browser has been
	Account    int64   // the account it is signed in to
	Admin      Admin

	// Of the rental whose token was shown, see Bearing.
	Rental rental.ID
	Token  string // hash of that token
}

// Admin is an admin who asks; the zero value is none.
type Admin struct {
	ID    int64
	Email string
}

// Is reports whether it is one.
func (a Admin) Is() bool { return a.ID != 0 }

// SignedIn reports whether the browser is signed in to an account.
func (v Visitor) SignedIn() bool { return v.Account != 0 }

// Viewer is what the market's reads need to know.
func (v Visitor) Viewer() rental.Viewer {
	return rental.Viewer{Persons: slices.Clone(v.Persons), Account: v.Account, Rental: v.Rental, Admin: v.Admin.Is()}
}

// Who is what the market's verbs need to know.
func (v Visitor) Who() market.Who { return market.Who{Viewer: v.Viewer(), Address: v.Network} }

// Caller is within what repeated requests are recognised: the token that was
// shown, else the session, else the network.
func (v Visitor) Caller() string {
	switch {
	case v.Token != "":
		return "token:" + v.Token
	case v.Session != "":
		return "session:" + v.Session
	}
	return "network:" + v.NetworkKey()
}

// NetworkKey is the network as a key of rates.
func (v Visitor) NetworkKey() string { return hex.EncodeToString(v.Network) }

// Bearing is the same network's visitor who shows the token of a rental, and
// with it nothing else: neither session nor admin.
func (v Visitor) Bearing(token string, id rental.ID) Visitor {
	sum := sha256.Sum256([]byte(token))
	return Visitor{Network: v.Network, Rental: id, Token: hex.EncodeToString(sum[:])}
}

type key struct{}

// With puts a visitor into the context.
func With(ctx context.Context, v Visitor) context.Context { return context.WithValue(ctx, key{}, v) }

// From returns the visitor of a request, a stranger if nobody looked.
func From(ctx context.Context) Visitor {
	v, _ := ctx.Value(key{}).(Visitor)
	return v
}
