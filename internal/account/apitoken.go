package account

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// Token describes an API token; the token itself is known only to whom it was
// shown.
type Token struct {
	ID        int64
	Hint      string // its last characters
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    *time.Time // the last use, to the hour
	RevokedAt *time.Time
}

const (
	insertToken = `INSERT INTO admin_tokens (admin_id, token_hash, hint, expires_at)
SELECT id, @hash, @hint, now() + interval '365 days' FROM admins WHERE email = @email AND disabled_at IS NULL
FOR SHARE` // waits for whoever disables the admin

	listTokens = `SELECT t.id, t.hint, t.created_at, t.expires_at, t.used_at, t.revoked_at
FROM admin_tokens t JOIN admins a ON a.id = t.admin_id WHERE a.email = @email ORDER BY t.id`

	revokeToken = `UPDATE admin_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = @id`

	adminByToken = `SELECT a.id, a.email, a.created_at, t.id, coalesce(t.used_at < now() - interval '1 hour', true)
FROM admin_tokens t JOIN admins a ON a.id = t.admin_id
WHERE t.token_hash = @hash AND t.revoked_at IS NULL AND t.expires_at > now() AND a.disabled_at IS NULL`

	touchToken = `UPDATE admin_tokens SET used_at = now()
WHERE id = @id AND (used_at IS NULL OR used_at < now() - interval '1 hour')`
)

const hintChars = 4

// Token makes an API token for an admin, valid for a year. It is stored as a
// hash only, so it cannot be shown again. A fault of kind NotFound says that
// no enabled admin has the address.
func (a *Admins) Token(ctx context.Context, email string) (string, error) {
	key, err := adminKey(email)
	if err != nil {
		return "", err
	}
	token := newToken(adminPrefix)
	tag, err := a.pool.Exec(ctx, insertToken, pgx.NamedArgs{"hash": hashOf(token), "hint": token[len(token)-hintChars:], "email": key})
	if err != nil {
		return "", db.Explain("account: make token", err)
	}
	if tag.RowsAffected() == 0 {
		return "", noSuchAdmin(key)
	}
	return token, nil
}

// Tokens lists an admin's tokens, oldest first, also those that are over.
func (a *Admins) Tokens(ctx context.Context, email string) ([]Token, error) {
	key, err := adminKey(email)
	if err != nil {
		return nil, err
	}
	rows, err := a.pool.Query(ctx, listTokens, pgx.NamedArgs{"email": key})
	if err != nil {
		return nil, db.Explain("account: list tokens", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Token])
	return all, db.Explain("account: list tokens", err)
}

// Revoke ends a token at once; repeating it changes nothing. An unknown id is
// a fault of kind NotFound.
func (a *Admins) Revoke(ctx context.Context, id int64) error {
	tag, err := a.pool.Exec(ctx, revokeToken, pgx.NamedArgs{"id": id})
	if err != nil {
		return db.Explain("account: revoke token", err)
	}
	if tag.RowsAffected() == 0 {
		return fault.New(fault.NotFound, "There is no such token.")
	}
	return nil
}

// AdminByToken returns the admin a token was made for. A token that is
// unknown, revoked or over, or whose admin is disabled, is a fault of kind
// Unauthenticated.
func (a *Admins) AdminByToken(ctx context.Context, token string) (Admin, error) {
	if !looksLike(token, adminPrefix) {
		return Admin{}, badToken()
	}
	var admin Admin
	var id int64
	var stale bool
	err := a.pool.QueryRow(ctx, adminByToken, pgx.NamedArgs{"hash": hashOf(token)}).
		Scan(&admin.ID, &admin.Email, &admin.CreatedAt, &id, &stale)
	if errors.Is(err, pgx.ErrNoRows) {
		return Admin{}, badToken()
	}
	if err != nil {
		return Admin{}, db.Explain("account: find token", err)
	}
	if stale {
		if _, err := a.pool.Exec(ctx, touchToken, pgx.NamedArgs{"id": id}); err != nil {
			return Admin{}, db.Explain("account: note the use of a token", err)
		}
	}
	return admin, nil
}

func badToken() error {
	return fault.New(fault.Unauthenticated, "This needs a valid admin token, sent as Authorization: Bearer <token>.")
}

// IsAdminToken reports whether a token has the form of an admin's. It says
// nothing about whether it is valid.
func IsAdminToken(token string) bool { return looksLike(token, adminPrefix) }
