package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/market"
	"tuval/web/visitor"
)

// keyHeader is by what a client says that it asks the same again.
const keyHeader = "Idempotency-Key"

// The length of a key, in printable ASCII characters.
const minKey, maxKey = 8, 200

// request is how a request that is sent again is recognised: by its key,
// within its address and whoever sends it.
func request(r *http.Request, v visitor.Visitor, body any) (market.Request, error) {
	req := market.Request{Scope: r.Method + " " + r.URL.Path, Caller: v.Caller(), Body: body, Field: keyHeader}
	sent := r.Header.Values(keyHeader)
	if len(sent) == 0 {
		return req, nil
	}
	req.Key = sent[0]
	wrong := len(sent) > 1 || len(req.Key) < minKey || len(req.Key) > maxKey
	for i := range len(req.Key) {
		wrong = wrong || req.Key[i] < ' ' || req.Key[i] > '~'
	}
	if wrong {
		return req, fault.Field(keyHeader, fmt.Sprintf("%s must be %d to %d printable ASCII characters, sent once", keyHeader, minKey, maxKey))
	}
	return req, nil
}

// Holds, keeps and submissions are remembered by the market, in their own
// transactions. What follows does the same for verbs that have several
// transactions, or none of their own to put an answer in.

// turns bounds how many requests hold a connection for their key while their
// verb needs another one.
const turns = 4

// once runs a verb at most once for a key. Its row is inserted first, so that
// a second copy waits for the first one and gets its answer. A refusal leaves
// no trace: the same key may be used again. Nothing but PostgreSQL may be
// waited for inside.
func once[T any](ctx context.Context, a *api, req market.Request, run func() (T, error)) (T, error) {
	if req.Key == "" {
		return run()
	}
	var answer T
	select {
	case a.turns <- struct{}{}:
		defer func() { <-a.turns }()
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	done := false
	err := db.InTx(ctx, a.Pool, "remember a request", func(ctx context.Context, tx pgx.Tx) error {
		fresh, err := enter(ctx, tx, req, nil)
		if err != nil {
			return err
		}
		if !fresh {
			_, err = recall(ctx, tx, req, &answer)
			return err
		}
		if answer, err = run(); err != nil {
			return err
		}
		done = true
		return note(ctx, tx, req, answer)
	})
	if err != nil && done { // it was carried out: that is the answer
		a.Log.WarnContext(ctx, "an answer could not be remembered", "error", err)
		return answer, nil
	}
	return answer, err
}

// onceOutside is once for a verb that asks Stripe and is itself the same when
// it is repeated: the answer is written down when it is there.
func onceOutside[T any](ctx context.Context, a *api, req market.Request, run func() (T, error)) (T, error) {
	var answer T
	if req.Key == "" {
		return run()
	}
	if again, err := recall(ctx, a.Pool, req, &answer); again || err != nil {
		return answer, err
	}
	answer, err := run()
	if err != nil {
		return answer, err
	}
	if _, err := enter(ctx, a.Pool, req, answer); err != nil {
		a.Log.WarnContext(ctx, "an answer could not be remembered", "error", err)
	}
	return answer, nil
}

// enter writes a request's row unless there is one of the last 24 hours, and
// reports whether it did.
func enter(ctx context.Context, q db.Querier, req market.Request, answer any) (bool, error) {
	const sql = `
		INSERT INTO requests AS r (scope, caller, key, body_hash, answer) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (scope, caller, key) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, created_at = now()
		WHERE r.created_at <= now() - interval '24 hours'`
	tag, err := q.Exec(ctx, sql, req.Scope, req.Caller, req.Key, hashOf(req), answer)
	if err != nil {
		return false, db.Explain("api: enter a request", err)
	}
	return tag.RowsAffected() == 1, nil
}

func note(ctx context.Context, q db.Querier, req market.Request, answer any) error {
	const sql = `UPDATE requests SET answer = $4 WHERE scope = $1 AND caller = $2 AND key = $3`
	_, err := q.Exec(ctx, sql, req.Scope, req.Caller, req.Key, answer)
	return db.Explain("api: note an answer", err)
}

// recall reads the answer that an earlier copy got. Another request under the
// same key is a fault of the key.
func recall(ctx context.Context, q db.Querier, req market.Request, answer any) (bool, error) {
	const sql = `SELECT body_hash, answer FROM requests
		WHERE scope = $1 AND caller = $2 AND key = $3 AND answer IS NOT NULL AND created_at > now() - interval '24 hours'`
	var hash, raw []byte
	err := q.QueryRow(ctx, sql, req.Scope, req.Caller, req.Key).Scan(&hash, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, db.Explain("api: look for a request", err)
	}
	if !bytes.Equal(hash, hashOf(req)) {
		return false, fault.Field(keyHeader, keyHeader+" was used for another request before")
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return false, fmt.Errorf("api: read a remembered answer: %w", err)
	}
	return true, nil
}

func hashOf(req market.Request) []byte {
	body, err := json.Marshal(req.Body)
	if err != nil {
		body = fmt.Append(nil, req.Body)
	}
	sum := sha256.Sum256(body)
	return sum[:]
}
