package account_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/config"
	"tuval/internal/fault"
	"tuval/internal/testdb"
)

const password = "correct horse Zoë"

func newAdmins(t *testing.T) (*account.Admins, *pgxpool.Pool) {
	t.Helper()
	pool := testdb.New(t)
	a := account.NewAdmins(pool, cheap(), false)
	if _, err := a.AddAdmin(t.Context(), "Root@Example.com", password); err != nil {
		t.Fatal(err)
	}
	return a, pool
}

func TestAnAdminSignsIn(t *testing.T) {
	t.Parallel()
	a, _ := newAdmins(t)
	for _, c := range []struct {
		email, password string
		fine            bool
	}{
		{"root@example.com", password, true},
		{" ROOT@example.com", password, true},
		{"root@example.com", "correct horse Zoe\u0308", true}, // the same letters, composed otherwise
		{"root@example.com", strings.ToUpper(password), false},
		{"root@example.com", password + " ", false},
		{"root@example.com", "", false},
		{"root@example.com", strings.Repeat("x", 1<<20), false},
		{"root@example.com", "\xff\x00", false},
		{"other@example.com", password, false},
		{"nonsense", password, false},
		{"", "", false},
	} {
		admin, err := a.Authenticate(t.Context(), c.email, c.password)
		if c.fine != (err == nil) || c.fine && admin.Email != "root@example.com" {
			t.Errorf("%q signed in: %+v, %v", c.email, admin, err)
		}
		if !c.fine {
			wantKind(t, err, fault.Unauthenticated)
			if got := fault.As(err).Msg; got != "The address or the password is wrong." {
				t.Errorf("%q is told apart: %s", c.email, got)
			}
		}
	}
}

func TestPasswordsAreKeptAsArgon2id(t *testing.T) {
	t.Parallel()
	_, pool := newAdmins(t)
	var hash string
	if err := pool.QueryRow(t.Context(), `SELECT password_hash FROM admins`).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$") || strings.Contains(hash, "horse") {
		t.Errorf("the hash is %s", hash)
	}
}

// A hash stays valid when the cost is raised later.
func TestOldHashesStayGood(t *testing.T) {
	t.Parallel()
	_, pool := newAdmins(t)
	dearer := account.NewAdmins(pool, account.Cost{MemoryKiB: 128, Passes: 2, Lanes: 2}, false)
	if _, err := dearer.Authenticate(t.Context(), "root@example.com", password); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "$argon2i$v=19$m=64,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=64,t=0,p=0$AAAA$AAAA", "$argon2id$v=19$m=64,t=1,p=1$!$!"} {
		exec(t, pool, `UPDATE admins SET password_hash = $1`, bad)
		_, err := dearer.Authenticate(t.Context(), "root@example.com", password)
		wantKind(t, err, fault.Internal)
	}
}

func TestBadPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	a, _ := newAdmins(t)
	for password, field := range map[string]string{"short": "password", strings.Repeat("x", 1025): "password"} {
		_, err := a.AddAdmin(t.Context(), "new@example.com", password)
		if f := fault.As(err); f.Kind != fault.Invalid || f.Field != field {
			t.Errorf("answered %v", err)
		}
	}
	_, err := a.AddAdmin(t.Context(), "new", password)
	if f := fault.As(err); f.Field != "email" {
		t.Errorf("answered %v", err)
	}
	if account.PasswordMin != config.PasswordMin {
		t.Error("the settings promise another length")
	}
}

func TestGuessingIsSlow(t *testing.T) {
	t.Parallel()
	_, pool := newAdmins(t)
	a := account.NewAdmins(pool, cheap(), true)
	for range 10 {
		_, err := a.Authenticate(t.Context(), "root@example.com", "guess guess")
		wantKind(t, err, fault.Unauthenticated)
	}
	_, err := a.Authenticate(t.Context(), "Root@example.com", password)
	wantKind(t, err, fault.Limited)
	// Others are not held up, and unknown addresses are treated alike.
	for range 10 {
		_, err := a.Authenticate(t.Context(), "unknown@example.com", "guess guess")
		wantKind(t, err, fault.Unauthenticated)
	}
	_, err = a.Authenticate(t.Context(), "unknown@example.com", "guess guess")
	wantKind(t, err, fault.Limited)
	// The operator sets a new password and is let in.
	if _, err := a.AddAdmin(t.Context(), "root@example.com", "another password"); err != nil {
		t.Fatal(err)
	}
	for range 30 { // signing in does not use attempts up
		if _, err := a.Authenticate(t.Context(), "root@example.com", "another password"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDisablingEndsEverything(t *testing.T) {
	t.Parallel()
	a, pool := newAdmins(t)
	token := must(a.Token(t.Context(), "root@example.com"))
	admin := must(a.AdminByToken(t.Context(), token))
	addSession := func(name string) {
		exec(t, pool, `INSERT INTO sessions (token_hash, admin_id, expires_at) VALUES ($1, $2, now() + interval '1 day')`, name, admin.ID)
	}
	if got := must(a.ByID(t.Context(), admin.ID)); got.Email != "root@example.com" {
		t.Errorf("by id: %+v", got)
	}
	addSession("one")
	if err := a.Disable(t.Context(), "ROOT@example.com"); err != nil {
		t.Fatal(err)
	}
	_, err := a.AdminByToken(t.Context(), token)
	wantKind(t, err, fault.Unauthenticated)
	_, err = a.Authenticate(t.Context(), "root@example.com", password)
	wantKind(t, err, fault.Unauthenticated)
	_, err = a.Token(t.Context(), "root@example.com")
	wantKind(t, err, fault.NotFound)
	_, err = a.ByID(t.Context(), admin.ID)
	wantKind(t, err, fault.Unauthenticated)
	if n := count(t, pool, `SELECT count(*) FROM sessions`); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if all := must(a.All(t.Context())); len(all) != 1 || !all[0].Disabled {
		t.Errorf("the admins are %+v", all)
	}
	// Enabled again, the old token and sessions stay dead, whichever password.
	must(a.AddAdmin(t.Context(), "root@example.com", password))
	_, err = a.AdminByToken(t.Context(), token)
	wantKind(t, err, fault.Unauthenticated)
	must(a.Authenticate(t.Context(), "root@example.com", password))
	addSession("two")
	must(a.AddAdmin(t.Context(), "root@example.com", "another password"))
	if n := count(t, pool, `SELECT count(*) FROM sessions`); n != 0 {
		t.Error("a session outlives the password it began with")
	}
	wantKind(t, a.Disable(t.Context(), "nobody@example.com"), fault.NotFound)
}

func count(t *testing.T, pool *pgxpool.Pool, sql string) int {
	t.Helper()
	var n int
	if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEnsuringAnAdminTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	a, pool := newAdmins(t)
	first := must(a.EnsureAdmin(t.Context(), "ops@example.com", password))
	hash := `SELECT hashtext(string_agg(a::text, '' ORDER BY id)) FROM admins a`
	before := count(t, pool, hash)
	again := must(a.EnsureAdmin(t.Context(), "ops@example.com", password))
	if again.ID != first.ID || count(t, pool, hash) != before {
		t.Error("a restart writes")
	}
	must(a.EnsureAdmin(t.Context(), "ops@example.com", "another password"))
	must(a.Authenticate(t.Context(), "ops@example.com", "another password"))
	_, err := a.EnsureAdmin(t.Context(), "ops@example.com", "short")
	wantKind(t, err, fault.Invalid)
}

func TestATokenIsShownOnceAndWorksAYear(t *testing.T) {
	t.Parallel()
	a, pool := newAdmins(t)
	token := must(a.Token(t.Context(), "root@example.com"))
	second := must(a.Token(t.Context(), "root@example.com"))
	if admin := must(a.AdminByToken(t.Context(), token)); admin.Email != "root@example.com" {
		t.Errorf("the token is of %+v", admin)
	}
	if n := count(t, pool, `SELECT count(*) FROM admin_tokens t WHERE t::text LIKE '%tuval_admin%'`); n != 0 {
		t.Error("tokens are stored")
	}
	all := must(a.Tokens(t.Context(), "root@example.com"))
	if len(all) != 2 || !strings.HasSuffix(token, all[0].Hint) || all[0].UsedAt == nil || all[1].UsedAt != nil {
		t.Fatalf("the tokens are %+v", all)
	}
	if days := all[0].ExpiresAt.Sub(all[0].CreatedAt).Hours() / 24; days != 365 {
		t.Errorf("a token works for %v days", days)
	}
	for range 2 {
		if err := a.Revoke(t.Context(), all[1].ID); err != nil {
			t.Fatal(err)
		}
	}
	_, err := a.AdminByToken(t.Context(), second)
	wantKind(t, err, fault.Unauthenticated)
	must(a.AdminByToken(t.Context(), token))
	exec(t, pool, `UPDATE admin_tokens SET expires_at = now()`)
	_, err = a.AdminByToken(t.Context(), token)
	wantKind(t, err, fault.Unauthenticated)
	wantKind(t, a.Revoke(t.Context(), 4711), fault.NotFound)
	for _, nonsense := range []string{"", "tuval_admin_", strings.Repeat("x", 55), token + "x", strings.TrimPrefix(token, "tuval_admin_")} {
		_, err := a.AdminByToken(t.Context(), nonsense)
		wantKind(t, err, fault.Unauthenticated)
	}
}

// Tokens made while the admin is being disabled never work later.
func TestNoTokenSlipsThroughDisabling(t *testing.T) {
	t.Parallel()
	a, pool := newAdmins(t)
	for range 20 {
		tokens := make([]string, 9)
		atOnce(len(tokens), func(i int) (err error) {
			if i == len(tokens)/2 {
				return a.Disable(t.Context(), "root@example.com")
			}
			tokens[i], err = a.Token(t.Context(), "root@example.com")
			return err
		})
		exec(t, pool, `UPDATE admins SET disabled_at = NULL`)
		for _, token := range tokens {
			if _, err := a.AdminByToken(t.Context(), token); err == nil {
				t.Fatal("a token came through")
			}
		}
	}
}

// A visitor who gives up does not keep a place in the line.
func TestPasswordsAreHashedAFewAtATime(t *testing.T) {
	t.Parallel()
	_, pool := newAdmins(t)
	a := account.NewAdmins(pool, cheap(), false)
	release := account.FillTurns(a)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := account.Hash(ctx, a, password)
	wantKind(t, err, fault.Unavailable)
	done := make(chan error)
	go func() {
		_, err := a.Authenticate(t.Context(), "root@example.com", password)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("a third hash began: %v", err)
	default:
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
