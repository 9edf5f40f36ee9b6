package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/fault"
)

// store keeps sessions in the table of that name. The tokens it is given are
// hashed already.
type store struct{ pool *pgxpool.Pool }

const (
	findSession = `SELECT s.persons, coalesce(s.account_id, 0), coalesce(a.id, 0), s.flash, s.seen_at < now() - interval '1 hour'
FROM sessions s LEFT JOIN admins a ON a.id = s.admin_id AND a.disabled_at IS NULL
WHERE s.token_hash = @token AND s.expires_at > now()`

	touchSession = `UPDATE sessions
SET seen_at = now(), expires_at = least(created_at + make_interval(secs => @lifetime), now() + make_interval(secs => @idle))
WHERE token_hash = @token AND expires_at > now()`

	// A disabled admin cannot be signed in by a request that began before.
	insertSession = `INSERT INTO sessions (token_hash, persons, account_id, admin_id, flash, expires_at)
VALUES (@token, @persons, nullif(@account::bigint, 0),
        (SELECT id FROM admins WHERE id = @admin AND disabled_at IS NULL FOR SHARE),
        @flash, now() + make_interval(secs => @idle))`

	// Persons are only ever added to a session, so those that another request
	// added meanwhile are kept.
	updateSession = `UPDATE sessions s
SET persons = s.persons || ARRAY(SELECT p FROM unnest(@persons::bigint[]) p WHERE p <> ALL (s.persons)),
    account_id = nullif(@account::bigint, 0), admin_id = nullif(@admin::bigint, 0), flash = @flash
WHERE s.token_hash = @token AND s.expires_at > now()`

	deleteSession = `DELETE FROM sessions WHERE token_hash = $1`
)

// FindCtx returns a session that is not over and, once an hour, notes the
// visit. It marks the context's origin, so that CommitCtx knows this session
// from a new one.
func (s *store) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var r record
	var flash []byte
	var stale bool
	err := s.pool.QueryRow(ctx, findSession, pgx.NamedArgs{"token": token}).Scan(&r.Persons, &r.Account, &r.Admin, &flash, &stale)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, db.Explain("session: find", err)
	}
	if stale {
		if _, err := s.pool.Exec(ctx, touchSession, ends(token)); err != nil {
			return nil, false, db.Explain("session: note a visit", err)
		}
	}
	if err := json.Unmarshal(flash, &r.Flash); err != nil {
		return nil, false, fmt.Errorf("session: read messages: %w", err)
	}
	originOf(ctx).token = token
	b, err := json.Marshal(r)
	return b, true, err
}

// CommitCtx keeps a session. One that was found is updated, never made anew:
// if it is gone, it was ended while this request ran.
func (s *store) CommitCtx(ctx context.Context, token string, b []byte, _ time.Time) error {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("session: keep: %w", err)
	}
	args := ends(token)
	args["persons"], args["account"], args["admin"] = nonNil(r.Persons), r.Account, r.Admin
	flash, err := json.Marshal(nonNil(r.Flash))
	if err != nil {
		return fmt.Errorf("session: keep messages: %w", err)
	}
	args["flash"] = flash
	if originOf(ctx).token != token {
		_, err := s.pool.Exec(ctx, insertSession, args)
		return db.Explain("session: begin", err)
	}
	tag, err := s.pool.Exec(ctx, updateSession, args)
	if err != nil {
		return db.Explain("session: keep", err)
	}
	if tag.RowsAffected() == 0 {
		return fault.New(fault.Conflict, "You signed in or out in another tab meanwhile. Please try again.")
	}
	return nil
}

// DeleteCtx ends a session.
func (s *store) DeleteCtx(ctx context.Context, token string) error {
	_, err := s.pool.Exec(ctx, deleteSession, token)
	return db.Explain("session: end", err)
}

func ends(token string) pgx.NamedArgs {
	return pgx.NamedArgs{"token": token, "lifetime": lifetime.Seconds(), "idle": idle.Seconds()}
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// The methods without a context are what scs asks of every store; it prefers
// those above.
func (s *store) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s *store) Commit(token string, b []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, b, expiry)
}

func (s *store) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// origin remembers under which token, hashed, a request's session was found.
type origin struct{ token string }

type originKey struct{}

func originOf(ctx context.Context) *origin {
	if o, ok := ctx.Value(originKey{}).(*origin); ok {
		return o
	}
	return &origin{}
}
