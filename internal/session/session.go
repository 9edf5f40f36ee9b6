package session

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/db"
)

// How long a session lasts: after it began, and after its last visit.
const (
	lifetime = 30 * 24 * time.Hour
	idle     = 14 * 24 * time.Hour
)

// Settings say what the cookie is like.
type Settings struct {
	Secure bool // people reach us over TLS

	// Fail answers a request whose session cannot be read or kept; the error
	// is a fault of kind Unavailable or Conflict, or Internal.
	Fail func(http.ResponseWriter, *http.Request, error)
}

// Sessions reads and keeps sessions. Its methods need a context of a request
// that went through Middleware, and panic without one.
type Sessions struct {
	scs  *scs.SessionManager
	fail func(http.ResponseWriter, *http.Request, error)
}

// New makes sessions that are kept in the pool's database. Over TLS the
// cookie is Secure and bound to this host alone by its name (__Host-).
func New(pool *pgxpool.Pool, s Settings) *Sessions {
	m := scs.New()
	m.Store = &store{pool}
	m.Codec = codec{}
	m.HashTokenInStore = true
	m.Lifetime = lifetime // of the cookie; the row's end is the database's business
	m.Cookie.Name = "tuval"
	m.Cookie.Secure = s.Secure
	if s.Secure {
		m.Cookie.Name = "__Host-tuval"
	}
	return &Sessions{scs: m, fail: s.Fail}
}

// The values of a session.
const (
	personsKey = "persons" // []int64
	accountKey = "account" // int64
	adminKey   = "admin"   // int64
	flashKey   = "flash"   // []Flash
)

// Persons returns everybody the browser is or was: its anonymous persons and,
// last, the account it is signed in to. What any of them made is the browser's.
func (s *Sessions) Persons(ctx context.Context) []int64 {
	all := slices.Clone(s.Anonymous(ctx))
	if id, ok := s.AccountID(ctx); ok && !slices.Contains(all, id) {
		all = append(all, id)
	}
	return all
}

// Anonymous returns the persons the browser was before it signed in.
func (s *Sessions) Anonymous(ctx context.Context) []int64 {
	ids, _ := s.scs.Get(ctx, personsKey).([]int64)
	return ids
}

// Person returns who acts now: the account, else the latest anonymous person.
// It reports false for a browser that has done nothing yet.
func (s *Sessions) Person(ctx context.Context) (int64, bool) {
	all := s.Persons(ctx)
	if len(all) == 0 {
		return 0, false
	}
	return all[len(all)-1], true
}

// AddPerson makes a person one of the browser's.
func (s *Sessions) AddPerson(ctx context.Context, id int64) {
	ids := s.Anonymous(ctx)
	if id > 0 && !slices.Contains(ids, id) {
		s.scs.Put(ctx, personsKey, append(slices.Clone(ids), id))
	}
}

// AccountID returns the account the browser is signed in to.
func (s *Sessions) AccountID(ctx context.Context) (int64, bool) { return s.id(ctx, accountKey) }

// AdminID returns the admin the browser is signed in as. A disabled admin is
// none.
func (s *Sessions) AdminID(ctx context.Context) (int64, bool) { return s.id(ctx, adminKey) }

func (s *Sessions) id(ctx context.Context, key string) (int64, bool) {
	id := s.scs.GetInt64(ctx, key)
	return id, id != 0
}

// SignInAccount signs the browser in to an account, under a new token. It
// stays the persons it was.
func (s *Sessions) SignInAccount(ctx context.Context, account int64) error {
	return s.signIn(ctx, accountKey, account)
}

// SignInAdmin signs the browser in as an admin, under a new token.
func (s *Sessions) SignInAdmin(ctx context.Context, admin int64) error {
	return s.signIn(ctx, adminKey, admin)
}

func (s *Sessions) signIn(ctx context.Context, key string, id int64) error {
	if err := s.scs.RenewToken(ctx); err != nil {
		return err
	}
	s.scs.Put(ctx, key, id)
	return nil
}

// SignOut ends the session: the browser is nobody.
func (s *Sessions) SignOut(ctx context.Context) error { return s.scs.Destroy(ctx) }

// Flash is a message for the next page.
type Flash struct {
	Kind string `json:"kind"` // how it looks; the pages know the kinds
	Text string `json:"text"`
}

// Flash keeps a message for the next page that shows messages.
func (s *Sessions) Flash(ctx context.Context, kind, text string) {
	all, _ := s.scs.Get(ctx, flashKey).([]Flash)
	s.scs.Put(ctx, flashKey, append(slices.Clone(all), Flash{kind, text}))
}

// Flashes returns the messages and forgets them.
func (s *Sessions) Flashes(ctx context.Context) []Flash {
	all, _ := s.scs.Pop(ctx, flashKey).([]Flash)
	return all
}

const prune = `DELETE FROM sessions WHERE expires_at <= now()`

// Prune removes sessions that are over and returns how many.
func Prune(ctx context.Context, q db.Querier) (int64, error) {
	tag, err := q.Exec(ctx, prune)
	return tag.RowsAffected(), db.Explain("session: prune", err)
}
