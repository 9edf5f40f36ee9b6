package account

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/limits"
	"tuval/internal/text"
)

// Admins knows the admins. Use one in a process: it bounds how many passwords
// are hashed at once, and how often one admin's password is tried.
type Admins struct {
	pool     *pgxpool.Pool
	hasher   *hasher
	attempts *limits.Keyed // by address of the admin
	nobody   string        // what the password of an unknown admin is compared with
}

// NewAdmins hashes passwords at the given cost. Without rates, a password may
// be tried as often as one likes: for development and tests.
func NewAdmins(pool *pgxpool.Pool, cost Cost, rates bool) *Admins {
	a := &Admins{pool: pool, hasher: newHasher(cost)}
	a.nobody = a.hasher.nobodys()
	if rates {
		a.attempts = limits.NewKeyed(limits.Rate{Burst: 10, Every: time.Minute},
			"Too many attempts to sign in as this admin. Please wait a little.", time.Now)
	}
	return a
}

// Admin is somebody who may approve, refund and block.
type Admin struct {
	ID        int64
	Email     string
	CreatedAt time.Time
	Disabled  bool
}

const (
	upsertAdmin = `INSERT INTO admins (email, password_hash) VALUES (@email, @hash)
ON CONFLICT (email) DO UPDATE SET password_hash = EXCLUDED.password_hash, disabled_at = NULL
RETURNING id, email, created_at`

	selectAdmin = `SELECT id, email, created_at, password_hash FROM admins WHERE email = @email AND disabled_at IS NULL`

	adminByID = `SELECT id, email, created_at FROM admins WHERE id = @id AND disabled_at IS NULL`

	listAdmins = `SELECT id, email, created_at, disabled_at IS NOT NULL FROM admins ORDER BY email`

	disableAdmin = `UPDATE admins SET disabled_at = coalesce(disabled_at, now()) WHERE email = @email RETURNING id`

	endSessions = `DELETE FROM sessions WHERE admin_id = @id`

	endTokens = `UPDATE admin_tokens SET revoked_at = now() WHERE admin_id = @id AND revoked_at IS NULL`
)

// AddAdmin creates an admin, or enables one again, with this password. Sessions
// begun with an earlier password end; tokens stay. Faults of kind Invalid name
// the field "email" or "password".
func (a *Admins) AddAdmin(ctx context.Context, email, password string) (Admin, error) {
	key, err := adminKey(email)
	if err != nil {
		return Admin{}, err
	}
	if err := checkPassword(password); err != nil {
		return Admin{}, err
	}
	hash, err := a.hasher.hash(ctx, password)
	if err != nil {
		return Admin{}, err
	}
	var admin Admin
	err = db.InTx(ctx, a.pool, "account: add admin", func(ctx context.Context, tx pgx.Tx) error {
		row := tx.QueryRow(ctx, upsertAdmin, pgx.NamedArgs{"email": key, "hash": hash})
		if err := row.Scan(&admin.ID, &admin.Email, &admin.CreatedAt); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, endSessions, pgx.NamedArgs{"id": admin.ID})
		return err
	})
	if err != nil {
		return Admin{}, err
	}
	a.attempts.Forget(key)
	return admin, nil
}

// EnsureAdmin makes sure at start that an admin exists, is enabled and has
// this password. A server that starts again with the same settings writes
// nothing.
func (a *Admins) EnsureAdmin(ctx context.Context, email, password string) (Admin, error) {
	key, err := adminKey(email)
	if err != nil {
		return Admin{}, err
	}
	if admin, err := a.compare(ctx, key, password); err == nil {
		return admin, nil
	}
	return a.AddAdmin(ctx, email, password)
}

// Authenticate returns the enabled admin with this address and password. For
// any other pair it returns the same fault of kind Unauthenticated, in the
// same time; after ten tries in a row, one of kind Limited. Tokens and open
// sessions work on meanwhile.
func (a *Admins) Authenticate(ctx context.Context, email, password string) (Admin, error) {
	key, err := adminKey(email)
	if err != nil {
		key = "" // compared with nobody's password, like any unknown address
	}
	if err := a.attempts.Allow(key); err != nil {
		return Admin{}, err
	}
	admin, err := a.compare(ctx, key, password)
	if err != nil {
		return Admin{}, err
	}
	a.attempts.Forget(key)
	return admin, nil
}

func (a *Admins) compare(ctx context.Context, key, password string) (Admin, error) {
	if len(password) > PasswordMax {
		return Admin{}, wrongPassword()
	}
	var admin Admin
	hash := a.nobody
	err := a.pool.QueryRow(ctx, selectAdmin, pgx.NamedArgs{"email": key}).Scan(&admin.ID, &admin.Email, &admin.CreatedAt, &hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Admin{}, db.Explain("account: find admin", err)
	}
	same, err := a.hasher.matches(ctx, password, hash)
	if err != nil {
		return Admin{}, err
	}
	if !same || admin.ID == 0 {
		return Admin{}, wrongPassword()
	}
	return admin, nil
}

func wrongPassword() error {
	return fault.New(fault.Unauthenticated, "The address or the password is wrong.")
}

// Disable takes an admin's rights away: no password, session or token of
// theirs works any more. It returns a fault of kind NotFound for an unknown
// address.
func (a *Admins) Disable(ctx context.Context, email string) error {
	key, err := adminKey(email)
	if err != nil {
		return err
	}
	return db.InTx(ctx, a.pool, "account: disable admin", func(ctx context.Context, tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, disableAdmin, pgx.NamedArgs{"email": key}).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return noSuchAdmin(key)
		}
		if err != nil {
			return err
		}
		for _, sql := range []string{endSessions, endTokens} {
			if _, err := tx.Exec(ctx, sql, pgx.NamedArgs{"id": id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// ByID returns the enabled admin a session is signed in as. Anybody else is a
// fault of kind Unauthenticated.
func (a *Admins) ByID(ctx context.Context, id int64) (Admin, error) {
	var admin Admin
	err := a.pool.QueryRow(ctx, adminByID, pgx.NamedArgs{"id": id}).Scan(&admin.ID, &admin.Email, &admin.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return Admin{}, fault.New(fault.Unauthenticated, "Please sign in as an admin.")
	}
	return admin, db.Explain("account: get admin", err)
}

// All lists the admins by address, disabled ones too.
func (a *Admins) All(ctx context.Context) ([]Admin, error) {
	rows, err := a.pool.Query(ctx, listAdmins)
	if err != nil {
		return nil, db.Explain("account: list admins", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Admin])
	return all, db.Explain("account: list admins", err)
}

func noSuchAdmin(email string) error {
	return fault.New(fault.NotFound, "There is no admin "+email+".")
}

// adminKey is the form in which an admin's address is stored.
func adminKey(email string) (string, error) {
	address, err := text.Email(email)
	return text.EmailKey(address), err
}
