package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/text"
)

// LinkTTL is how long a mailed link works.
const LinkTTL = 15 * time.Minute

// linksAnHour is how many links one address is mailed in an hour, in all
// processes together: nobody's mailbox is filled by somebody else.
const linksAnHour = 6

// Links makes and takes mailed sign-in links.
type Links struct{ pool db.Querier }

// NewLinks reads and writes through the pool where no transaction is given.
func NewLinks(pool db.Querier) *Links { return &Links{pool} }

// Link is what a sign-in link stands for.
type Link struct {
	Email     string // the address it was mailed to
	RentalKey string // the rental it was asked for at; may be empty
	ExpiresAt time.Time
}

const (
	insertLink = `INSERT INTO sign_in_links (token_hash, email, rental_key, expires_at)
SELECT @hash, @email, nullif(@rental, ''), now() + make_interval(secs => @ttl)
WHERE (SELECT count(*) FROM sign_in_links WHERE lower(email) = @key AND created_at > now() - interval '1 hour') < @most`

	// When the oldest of the last hour's links is an hour old, one more may go.
	nextLink = `SELECT extract(epoch FROM min(created_at) + interval '1 hour' - now())::float8
FROM sign_in_links WHERE lower(email) = @key AND created_at > now() - interval '1 hour'`

	peekLink = `SELECT email, coalesce(rental_key, ''), expires_at FROM sign_in_links
WHERE token_hash = @hash AND used_at IS NULL AND expires_at > now()`

	useLink = `UPDATE sign_in_links SET used_at = now()
WHERE token_hash = @hash AND used_at IS NULL AND expires_at > now()
RETURNING email, coalesce(rental_key, ''), expires_at`

	pruneLinks = `DELETE FROM sign_in_links WHERE expires_at < now() - interval '1 day'`
)

// Make stores a link for an address and returns its token, to be mailed in the
// same transaction. The rental is the one at whose page it was asked for, or
// empty. A bad address is a fault of kind Invalid; too many links in an hour
// are one of kind Limited, which a page must not tell from success when it
// does not want to say whose rental it is.
func (l *Links) Make(ctx context.Context, tx pgx.Tx, email, rentalKey string) (string, error) {
	address, err := text.Email(email)
	if err != nil {
		return "", err
	}
	token := newToken(linkPrefix)
	args := pgx.NamedArgs{
		"hash": hashOf(token), "email": address, "key": text.EmailKey(address), "rental": rentalKey,
		"ttl": LinkTTL.Seconds(), "most": linksAnHour,
	}
	tag, err := tx.Exec(ctx, insertLink, args)
	if err != nil {
		return "", fmt.Errorf("account: make a link: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return "", tooManyLinks(ctx, tx, args)
	}
	return token, nil
}

func tooManyLinks(ctx context.Context, tx pgx.Tx, args pgx.NamedArgs) error {
	var wait float64
	if err := tx.QueryRow(ctx, nextLink, args).Scan(&wait); err != nil {
		return fmt.Errorf("account: count links: %w", err)
	}
	return fault.Limit("Several sign-in links were sent to this address within the last hour. Please look for the latest one, also among unwanted mail.",
		time.Duration(wait*float64(time.Second)))
}

// Peek returns what a link stands for and changes nothing, so that scanners
// may open it. A link that is used, over or unknown is a fault of kind Gone.
func (l *Links) Peek(ctx context.Context, token string) (Link, error) {
	return takeLink(ctx, l.pool, "account: look at a link", peekLink, token)
}

// Use takes a link: of any number of attempts one gets it, and that one only
// if its transaction commits. The others, and all for a link that is over or
// unknown, get a fault of kind Gone.
func (l *Links) Use(ctx context.Context, tx pgx.Tx, token string) (Link, error) {
	return takeLink(ctx, tx, "account: use a link", useLink, token)
}

func takeLink(ctx context.Context, q db.Querier, name, sql, token string) (Link, error) {
	if !looksLike(token, linkPrefix) {
		return Link{}, linkIsOver()
	}
	var l Link
	err := q.QueryRow(ctx, sql, pgx.NamedArgs{"hash": hashOf(token)}).Scan(&l.Email, &l.RentalKey, &l.ExpiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return Link{}, linkIsOver()
	}
	if err != nil {
		return Link{}, db.Explain(name, err)
	}
	return l, nil
}

func linkIsOver() error {
	return fault.New(fault.Gone, "This sign-in link was used already or is too old. You can have a new one sent.")
}

// Prune removes links that have been over for a day and returns how many.
func (l *Links) Prune(ctx context.Context) (int64, error) {
	tag, err := l.pool.Exec(ctx, pruneLinks)
	if err != nil {
		return 0, db.Explain("account: prune links", err)
	}
	return tag.RowsAffected(), nil
}
