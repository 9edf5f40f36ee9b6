package stripesim

import (
	"context"
	"time"
)

// CheckExpiry judges a session that ends so many seconds after its creation.
func CheckExpiry(seconds int64) error {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return checkExpiry(now, now.Add(time.Duration(seconds)*time.Second))
}

// FlatForm is the parsed form again, for properties.
func FlatForm(raw string) ([][2]string, error) {
	n, err := parseForm(raw)
	if err != nil {
		return nil, err
	}
	return n.flat(), nil
}

// ReadCheckout parses and checks a form as a new session.
func ReadCheckout(raw string) error {
	n, err := parseForm(raw)
	if err != nil {
		return err
	}
	if _, err := readNewSession(newScope(n)); err != nil {
		return err
	}
	return nil
}

// Claim claims and leaves an idempotency key, as a process does that dies.
func (s *Sim) Claim(ctx context.Context, key string) error {
	const insert = `
		INSERT INTO stripesim.idempotency_keys (key, endpoint, fingerprint, owner, created, busy_until)
		VALUES ($1, 'POST /v1/refunds', '', 'req_dead', now(), now() + interval '1 hour')`
	_, err := s.o.Pool.Exec(ctx, insert, key)
	return err
}

// Doubling is the usual gap between two tries.
var Doubling = doubling
