package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/fault"
	"tuval/internal/testdb"
)

func makeLink(ctx context.Context, pool *pgxpool.Pool, email, rental string) (string, error) {
	return inTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) (string, error) {
		return account.NewLinks(pool).Make(ctx, tx, email, rental)
	})
}

func useLink(ctx context.Context, pool *pgxpool.Pool, token string) (account.Link, error) {
	return inTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) (account.Link, error) {
		return account.NewLinks(pool).Use(ctx, tx, token)
	})
}

func TestALinkIsLookedAtOftenAndUsedOnce(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	token, err := makeLink(t.Context(), pool, "Ada@Example.com", "rental7")
	if err != nil {
		t.Fatal(err)
	}
	links := account.NewLinks(pool)
	for range 3 {
		l, err := links.Peek(t.Context(), token)
		if err != nil || l.Email != "Ada@example.com" || l.RentalKey != "rental7" {
			t.Fatalf("the link is %+v, %v", l, err)
		}
	}
	if l, err := useLink(t.Context(), pool, token); err != nil || l.RentalKey != "rental7" {
		t.Fatalf("used: %+v, %v", l, err)
	}
	_, err = useLink(t.Context(), pool, token)
	wantKind(t, err, fault.Gone)
	_, err = links.Peek(t.Context(), token)
	wantKind(t, err, fault.Gone)
}

func TestTheDatabaseDoesNotKnowTheToken(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	token := must(makeLink(t.Context(), pool, "ada@example.com", ""))
	var found int
	err := pool.QueryRow(t.Context(), `SELECT count(*) FROM sign_in_links l
		WHERE l::text LIKE '%' || $1 || '%' OR l.token_hash = convert_to($1, 'UTF8')`, token).Scan(&found)
	if err != nil || found != 0 {
		t.Errorf("the token is stored (%v)", err)
	}
}

// One microsecond decides.
func TestALinkEnds(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	token := must(makeLink(t.Context(), pool, "ada@example.com", ""))
	for _, c := range []struct {
		left string
		fine bool
	}{{"1 microsecond", true}, {"0", false}, {"-1 microsecond", false}} {
		// now() stands still in a transaction, so the edge can be hit.
		_, err := inTx(t.Context(), pool, func(ctx context.Context, tx pgx.Tx) (account.Link, error) {
			if _, err := tx.Exec(ctx, `UPDATE sign_in_links SET expires_at = now() + $1::interval`, c.left); err != nil {
				return account.Link{}, err
			}
			if _, err := account.NewLinks(pool).Use(ctx, tx, token); err != nil {
				return account.Link{}, err
			}
			return account.Link{}, errors.New("roll back")
		})
		if got := fault.As(err).Kind != fault.Gone; got != c.fine {
			t.Errorf("with %s left: %v", c.left, err)
		}
	}
	var minutes float64
	if err := pool.QueryRow(t.Context(), `SELECT extract(epoch FROM expires_at - created_at)::float8 / 60 FROM sign_in_links`).Scan(&minutes); err != nil || minutes != 15 {
		t.Errorf("a link lasts %v minutes (%v)", minutes, err)
	}
}

func TestNonsenseIsNoLink(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for _, token := range []string{"", "x", "tuval_link_", "tuval_link_" + strings.Repeat("A", 43), "tuval_admin_" + strings.Repeat("A", 43), "\x00", strings.Repeat("é", 100000)} {
		_, err := account.NewLinks(pool).Peek(t.Context(), token)
		wantKind(t, err, fault.Gone)
		_, err = useLink(t.Context(), pool, token)
		wantKind(t, err, fault.Gone)
	}
}

// A link used at once from many places lets one in.
func TestALinkUsedAtOnceIsUsedOnce(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for round := range 20 {
		token := must(makeLink(t.Context(), pool, "ada"+strings.Repeat("a", round)+"@example.com", ""))
		won := 0
		for _, err := range atOnce(12, func(int) error {
			_, err := useLink(t.Context(), pool, token)
			return err
		}) {
			if err == nil {
				won++
			} else {
				wantKind(t, err, fault.Gone)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d came in", round, won)
		}
	}
}

// A sign-in that fails after it took the link leaves the link for the next
// try, and one that waited for it gets it.
func TestAFailedSignInGivesTheLinkBack(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	token := must(makeLink(t.Context(), pool, "ada@example.com", ""))
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := account.NewLinks(pool).Use(t.Context(), tx, token); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := useLink(t.Context(), pool, token)
		second <- err
	}()
	waitForLock(t, pool)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Errorf("the link is lost: %v", err)
	}
}

// waitForLock returns when somebody waits for a lock.
func waitForLock(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		var waiting bool
		err := pool.QueryRow(t.Context(), `SELECT exists(SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		if waiting {
			return
		}
	}
	t.Fatal("nobody waits for a lock")
}

func TestNobodysMailboxIsFilled(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	var err error
	made := 0
	for range 20 {
		if _, err = makeLink(t.Context(), pool, "ada@example.com", ""); err == nil {
			made++
		}
	}
	f := fault.As(err)
	if made != 6 || f.Kind != fault.Limited || f.RetryAfter < 59*time.Minute || f.RetryAfter > time.Hour {
		t.Errorf("%d links were made, then %v, again in %v", made, err, f.RetryAfter)
	}
	if _, err := makeLink(t.Context(), pool, "bob@example.com", ""); err != nil {
		t.Errorf("Bob waits for Ada: %v", err)
	}
	exec(t, pool, `UPDATE sign_in_links SET created_at = created_at - interval '1 hour'`)
	if _, err := makeLink(t.Context(), pool, "ADA@example.com", ""); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	_, err = makeLink(t.Context(), pool, "ada@", "")
	wantKind(t, err, fault.Invalid)
}

func TestOldLinksAreRemoved(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	must(makeLink(t.Context(), pool, "old@example.com", ""))
	exec(t, pool, `UPDATE sign_in_links SET expires_at = now() - interval '25 hours'`)
	fresh := must(makeLink(t.Context(), pool, "new@example.com", ""))
	n, err := account.NewLinks(pool).Prune(t.Context())
	if err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := useLink(t.Context(), pool, fresh); err != nil {
		t.Error(err)
	}
}
