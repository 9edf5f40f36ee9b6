package market

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Request identifies a repeated request: a form's request_id or the API's
// Idempotency-Key, within an endpoint and a caller. An empty Key means that
// the request cannot be recognised again.
type Request struct {
	Scope  string // endpoint
	Caller string // session, bearer token or network address, hashed
	Key    string
	Body   any    // what was asked, to tell a repeat from another request
	Field  string // what to name when the key is wrong: request_id or Idempotency-Key
}

// The length of a key, in printable ASCII characters.
const minKey, maxKey = 8, 200

// check judges the key's form.
func (r Request) check() error {
	if r.Key == "" {
		return nil
	}
	wrong := len(r.Key) < minKey || len(r.Key) > maxKey
	for i := range len(r.Key) {
		wrong = wrong || r.Key[i] < ' ' || r.Key[i] > '~'
	}
	if wrong {
		return fault.Field(r.field(), fmt.Sprintf("%s must be %d to %d printable ASCII characters", r.field(), minKey, maxKey))
	}
	return nil
}

func (r Request) field() string {
	if r.Field == "" {
		return "Idempotency-Key"
	}
	return r.Field
}

func (r Request) hash() []byte {
	b, err := json.Marshal(r.Body)
	if err != nil {
		b = []byte(fmt.Sprint(r.Body))
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// remembered looks for the answer of an earlier request, without waiting for
// one that is under way. It returns the answer, or false.
func remembered[T any](ctx context.Context, q db.Querier, r Request) (T, bool, error) {
	var answer T
	if r.Key == "" {
		return answer, false, nil
	}
	const sql = `SELECT body_hash, answer FROM requests
		WHERE scope = $1 AND caller = $2 AND key = $3 AND created_at > now() - interval '24 hours'`
	var hash, raw []byte
	err := q.QueryRow(ctx, sql, r.Scope, r.Caller, r.Key).Scan(&hash, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return answer, false, nil
	}
	if err != nil {
		return answer, false, db.Explain("market: look for the request", err)
	}
	if !bytes.Equal(hash, r.hash()) {
		return answer, false, fault.Field(r.field(), r.field()+" was used for another request before")
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, false, fmt.Errorf("market: read the remembered answer: %w", err)
	}
	return answer, true, nil
}

// enter writes the request's row, first in the transaction, so that a second
// copy waits here for the first instead of losing to it. It reports whether
// the request is new; if not, remembered has its answer.
func enter(ctx context.Context, tx pgx.Tx, r Request) (bool, error) {
	if r.Key == "" {
		return true, nil
	}
	const sql = `
		INSERT INTO requests AS r (scope, caller, key, body_hash) VALUES ($1, $2, $3, $4)
		ON CONFLICT (scope, caller, key) DO UPDATE SET body_hash = excluded.body_hash, answer = NULL, created_at = now()
		WHERE r.created_at <= now() - interval '24 hours'`
	tag, err := tx.Exec(ctx, sql, r.Scope, r.Caller, r.Key, r.hash())
	if err != nil {
		return false, fmt.Errorf("market: enter the request: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// remember stores a success. A refusal rolls the row back, so that the same
// key may be used again.
func remember(ctx context.Context, tx pgx.Tx, r Request, answer any) error {
	if r.Key == "" {
		return nil
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("market: remember the answer: %w", err)
	}
	const sql = `UPDATE requests SET answer = $4 WHERE scope = $1 AND caller = $2 AND key = $3`
	if _, err := tx.Exec(ctx, sql, r.Scope, r.Caller, r.Key, raw); err != nil {
		return fmt.Errorf("market: remember the answer: %w", err)
	}
	return nil
}

// once runs fn in a transaction at most once for a request, and gives every
// copy of it the first answer.
func once[T any](ctx context.Context, m *Market, name string, r Request, fn func(ctx context.Context, tx pgx.Tx) (T, error)) (T, error) {
	var answer T
	if err := r.check(); err != nil {
		return answer, err
	}
	err := m.contend(ctx, name, func(ctx context.Context, tx pgx.Tx) error {
		fresh, err := enter(ctx, tx, r)
		if err != nil {
			return err
		}
		if !fresh {
			answer, _, err = remembered[T](ctx, tx, r)
			return err
		}
		if answer, err = fn(ctx, tx); err != nil {
			return err
		}
		return remember(ctx, tx, r, answer)
	})
	return answer, err
}
