package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/mailtext"
	"tuval/internal/rental"
	"tuval/internal/text"
)

// Desk hands out links and takes them.
type Desk struct {
	pool  *pgxpool.Pool
	queue *jobs.Queue
	links *account.Links
	base  string
}

// New makes a desk; base is the address of the site, without a final slash.
func New(pool *pgxpool.Pool, queue *jobs.Queue, base string) *Desk {
	return &Desk{pool: pool, queue: queue, links: account.NewLinks(pool), base: base}
}

// Mail sends a link to an address that somebody typed. rentalKey is the rental
// they came from, or empty; whether there is one does not matter. A bad
// address is Invalid, too many links within an hour are Limited.
func (d *Desk) Mail(ctx context.Context, email, rentalKey string) error {
	to, err := text.Email(email)
	if err != nil {
		return err
	}
	return db.InTx(ctx, d.pool, "mail a sign-in link", func(ctx context.Context, tx pgx.Tx) error {
		token, err := d.links.Make(ctx, tx, to, rentalKey)
		if err != nil {
			return err
		}
		letter, expires, err := d.letter(ctx, tx, token)
		if err != nil {
			return err
		}
		id, _, err := mail.Enqueue(ctx, tx, mail.Message{
			Fact: "sign_in:" + fact(token), Kind: "sign_in", To: to,
			Subject: letter.Subject, Text: letter.Text, HTML: letter.HTML, Confidential: true, StaleAt: expires,
		})
		if err != nil {
			return err
		}
		return d.queue.Put(ctx, tx, jobs.Request{Args: jobs.SendMail{Mail: id, Urgent: true}})
	})
}

// letter writes the mail of a link that was made in this transaction, and says
// when the link stops working.
func (d *Desk) letter(ctx context.Context, tx pgx.Tx, token string) (mailtext.Mail, time.Time, error) {
	now, err := rental.Now(ctx, tx)
	if err != nil {
		return mailtext.Mail{}, now, err
	}
	expires := now.Add(account.LinkTTL)
	return mailtext.SignIn(mailtext.SignInLink{URL: d.base + "/login/" + token, Expires: expires, ValidFor: account.LinkTTL}), expires, nil
}

// fact tells one mail from another without giving the token away.
func fact(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:16])
}

// MailFor sends a link to the address that was given with a rental, if there
// is such a rental and it has one. It says the same in every case, and too
// many links within an hour are sent as little as those nobody asked for.
func (d *Desk) MailFor(ctx context.Context, rentalKey string) error {
	r, err := rental.ByKey(ctx, d.pool, rentalKey)
	if fault.Is(err, "not_found") {
		return nil
	}
	if err != nil {
		return err
	}
	if r.Email == nil {
		return nil
	}
	err = d.Mail(ctx, *r.Email, r.Key)
	if fault.As(err).Kind == fault.Limited {
		return nil
	}
	return err
}

// Peek says what a link stands for. It changes nothing: scanners open links.
func (d *Desk) Peek(ctx context.Context, token string) (account.Link, error) {
	return d.links.Peek(ctx, token)
}

// Use takes a link and returns the account it signs in to and the rental it
// was asked for at. The rentals that the browser's anonymous persons made go
// into the account, as do those with its address. A link that is used, over or
// unknown is Gone.
func (d *Desk) Use(ctx context.Context, token string, anonymous []int64) (id int64, rentalKey string, err error) {
	err = db.InTx(ctx, d.pool, "use a sign-in link", func(ctx context.Context, tx pgx.Tx) error {
		link, err := d.links.Use(ctx, tx, token)
		if err != nil {
			return err
		}
		rentalKey = link.RentalKey
		id, err = account.SignIn(ctx, tx, link.Email, anonymous...)
		return err
	})
	return id, rentalKey, err
}
