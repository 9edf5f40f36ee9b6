package account

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/text"
)

const insertPerson = `INSERT INTO persons DEFAULT VALUES RETURNING id`

// NewPerson makes a person without an address: a browser that is about to do
// something, or an API caller without a token.
func NewPerson(ctx context.Context, q db.Querier) (int64, error) {
	var id int64
	if err := q.QueryRow(ctx, insertPerson).Scan(&id); err != nil {
		return 0, db.Explain("account: new person", err)
	}
	return id, nil
}

const (
	// The update does nothing but lock the row and return it.
	findOrMakeAccount = `INSERT INTO persons (email) VALUES (@email)
ON CONFLICT (email) DO UPDATE SET email = EXCLUDED.email RETURNING id`

	// Rentals are locked by id, as everywhere. Those that another account has,
	// or got while we waited, are left alone. A person that is an account
	// itself was never this browser's anonymous one.
	adoptRentals = `WITH mine AS (
    SELECT id FROM rentals
    WHERE account_id IS NULL
      AND (lower(email) = @email
           OR person_id IN (SELECT id FROM persons WHERE id = ANY(@persons) AND email IS NULL))
    ORDER BY id FOR UPDATE)
UPDATE rentals r SET account_id = @account FROM mine WHERE r.id = mine.id AND r.account_id IS NULL`
)

// SignIn returns the account of a confirmed address, made if need be, and puts
// the rentals into it that are not in an account yet and have that contact
// address or were made by one of the browser's anonymous persons. It locks the
// account, then those rentals by id. The caller has used up a link in the same
// transaction.
func SignIn(ctx context.Context, tx pgx.Tx, email string, anonymous ...int64) (int64, error) {
	address, err := text.Email(email)
	if err != nil {
		return 0, err
	}
	args := pgx.NamedArgs{"email": text.EmailKey(address), "persons": anonymous}
	var id int64
	if err := tx.QueryRow(ctx, findOrMakeAccount, args).Scan(&id); err != nil {
		return 0, fmt.Errorf("account: find or make: %w", err)
	}
	args["account"] = id
	if _, err := tx.Exec(ctx, adoptRentals, args); err != nil {
		return 0, fmt.Errorf("account: adopt rentals: %w", err)
	}
	return id, nil
}

// Account is a person whose address was confirmed.
type Account struct {
	ID    int64
	Email string // in the form in which addresses are compared
}

const selectAccount = `SELECT id, email FROM persons WHERE id = @id AND email IS NOT NULL`

// Get returns an account. It returns pgx.ErrNoRows, wrapped, if the person is
// none.
func Get(ctx context.Context, q db.Querier, id int64) (Account, error) {
	var a Account
	if err := q.QueryRow(ctx, selectAccount, pgx.NamedArgs{"id": id}).Scan(&a.ID, &a.Email); err != nil {
		return Account{}, db.Explain("account: get", err)
	}
	return a, nil
}
