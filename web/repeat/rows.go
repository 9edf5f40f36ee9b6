package repeat

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
	"tuval/internal/market"
)

// enter writes a request's row unless there is one of the last 24 hours, and
// reports whether it did.
func enter(ctx context.Context, q db.Querier, req market.Request, answer any) (bool, error) {
	const sql = `
		INSERT INTO requests AS r (scope, caller, key, body_hash, answer) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (scope, caller, key) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, created_at = now()
		WHERE r.created_at <= now() - interval '24 hours'`
	tag, err := q.Exec(ctx, sql, req.Scope, req.Caller, req.Key, hashOf(req), answer)
	if err != nil {
		return false, db.Explain("repeat: enter a request", err)
	}
	return tag.RowsAffected() == 1, nil
}

func note(ctx context.Context, q db.Querier, req market.Request, answer any) error {
	const sql = `UPDATE requests SET answer = $4 WHERE scope = $1 AND caller = $2 AND key = $3`
	_, err := q.Exec(ctx, sql, req.Scope, req.Caller, req.Key, answer)
	return db.Explain("repeat: note an answer", err)
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
		return false, db.Explain("repeat: look for a request", err)
	}
	if !bytes.Equal(hash, hashOf(req)) {
		return false, fault.Field(req.Field, req.Field+" was used for another request before")
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return false, fmt.Errorf("repeat: read a remembered answer: %w", err)
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
