package market

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"tuval/internal/fault"
	"tuval/internal/rental"
)

// Token is what proves that its bearer made the hold. It is derived, not
// stored, so that the same answer can be given again.
func (m *Market) Token(key string, version int) string {
	mac := hmac.New(sha256.New, m.rules.Secret)
	fmt.Fprintf(mac, "rental token\x00%s\x00%d", key, version)
	return key + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ByToken finds the rental whose token this is. It returns Unauthenticated
// for anything else.
func (m *Market) ByToken(ctx context.Context, token string) (rental.Rental, error) {
	wrong := fault.New(fault.Unauthenticated, "This token is not valid.")
	key, _, ok := strings.Cut(token, ".")
	if !ok || len(token) > 200 {
		return rental.Rental{}, wrong
	}
	r, err := rental.ByKey(ctx, m.pool, key)
	if fault.Is(err, "not_found") {
		return rental.Rental{}, wrong
	}
	if err != nil {
		return rental.Rental{}, err
	}
	if !hmac.Equal([]byte(token), []byte(m.Token(r.Key, r.TokenVersion))) {
		return rental.Rental{}, wrong
	}
	return r, nil
}
