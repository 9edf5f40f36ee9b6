package creative_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/creative"
	"tuval/internal/fault"
	"tuval/internal/testdb"
)

// gallery has three rentals, one of them with a revision of each kind. Its
// rentals have no blocks: it is about pictures only.
func gallery(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	for _, hash := range []string{"live", "old", "rejected", "pending", "free", "ended", "hidden"} {
		if err := creative.Keep(t.Context(), pool, creative.Picture{Hash: hash, MIME: "image/png", Width: 1, Height: 2, Bytes: []byte(hash)}); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, pool, `INSERT INTO persons DEFAULT VALUES;
		INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, price_per_week, currency, counted_from, leased_until, paid_at, approve_by, live_from, ends_at, hidden) VALUES
		(1, 'live', '1', 1, '', 0, 0, 1, 1, 'live', 1, 'usd', now(), now() + interval '9 d', now(), now() + interval '1 d', now() - interval '1 d', now() + interval '7 d', false),
		(2, 'ended', '2', 1, '', 0, 0, 1, 1, 'ended', 1, 'usd', now(), now() + interval '1 d', now(), now(), now() - interval '9 d', now() - interval '1 d', false),
		(3, 'hidden', '3', 1, '', 0, 0, 1, 1, 'live', 1, 'usd', now(), now() + interval '9 d', now(), now(), now() - interval '1 d', now() + interval '7 d', true),
		(4, 'paid', '4', 1, '', 0, 0, 1, 1, 'paid', 1, 'usd', now(), now() + interval '2 d', now(), now() + interval '2 d', NULL, NULL, false),
		(5, 'over', '5', 1, '', 0, 0, 1, 1, 'paid', 1, 'usd', now(), now(), now(), now(), NULL, NULL, false);
		INSERT INTO creatives (key, rental_id, revision, state, link, link_host, title, alt, fit, picture, picture_2x, decided_at) VALUES
		('c1', 1, 1, 'superseded', '', '', '', '', 'cover', 'old', 'old', now()), ('c2', 1, 2, 'approved', '', '', '', '', 'cover', 'live', 'live', now()),
		('c3', 1, 3, 'rejected', '', '', '', '', 'cover', 'rejected', 'rejected', now()), ('c4', 1, 4, 'pending', '', '', '', '', 'cover', 'pending', 'pending', NULL),
		('c5', 2, 1, 'approved', '', '', '', '', 'cover', 'ended', 'ended', now()), ('c6', 3, 1, 'approved', '', '', '', '', 'cover', 'hidden', 'hidden', now()),
		('c7', 4, 1, 'pending', '', '', '', '', 'cover', 'pending', 'pending', NULL), ('c8', 5, 1, 'pending', '', '', '', '', 'cover', 'pending', 'pending', NULL),
		('c9', 1, 5, 'superseded', '', '', '', '', 'cover', 'free', 'free', NULL)`)
	return pool
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// A visitor sees what is on the canvas, is told that what was there is over,
// and nothing at all of what nobody approved.
func TestShowing(t *testing.T) {
	t.Parallel()
	pool := gallery(t)
	for hash, want := range map[string]creative.Showing{
		"live": creative.Visible, "old": creative.Over, "ended": creative.Over, "hidden": creative.Over,
		"rejected": creative.Unknown, "pending": creative.Unknown, "free": creative.Unknown, "nothing": creative.Unknown,
	} {
		if got, err := creative.ShowingOf(t.Context(), pool, hash); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", hash, got, err, want)
		}
	}
}

// The queue has what waits and can still be approved, the most urgent first.
func TestQueue(t *testing.T) {
	t.Parallel()
	pool := gallery(t)
	queue, err := creative.Queue(t.Context(), pool, 10)
	if err != nil || len(queue) != 2 || queue[0].Key != "c7" || queue[1].Key != "c4" || queue[0].Live || !queue[1].Live || queue[0].RentalKey != "paid" {
		t.Errorf("%+v, %v", queue, err)
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	pool := gallery(t)
	p, err := creative.PictureByHash(t.Context(), pool, "live")
	if err != nil || string(p.Bytes) != "live" || p.MIME != "image/png" || p.Width != 1 || p.Height != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := creative.Keep(t.Context(), pool, p); err != nil {
		t.Errorf("the same bytes again: %v", err)
	}
	if _, err := creative.PictureByHash(t.Context(), pool, "nothing"); fault.As(err).Kind != fault.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := creative.ByKey(t.Context(), pool, "nothing"); fault.As(err).Kind != fault.NotFound {
		t.Errorf("%v", err)
	}
	all, err := creative.OfRental(t.Context(), pool, 1)
	if err != nil || len(all) != 5 || all[0].Revision != 5 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}

// What no revision names goes after a day, unless it was just sent again.
func TestSweep(t *testing.T) {
	t.Parallel()
	pool := gallery(t)
	for _, hash := range []string{"orphan", "again", "young"} {
		if err := creative.Keep(t.Context(), pool, creative.Picture{Hash: hash, MIME: "image/png", Bytes: []byte{}}); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, pool, `UPDATE pictures SET created_at = now() - interval '25 h' WHERE hash <> 'young'`)
	if err := creative.Keep(t.Context(), pool, creative.Picture{Hash: "again", MIME: "image/png", Bytes: []byte{}}); err != nil {
		t.Fatal(err)
	}
	if err := creative.Sweep(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	for hash, stays := range map[string]bool{"orphan": false, "again": true, "young": true, "live": true, "old": true, "pending": true} {
		if _, err := creative.PictureByHash(t.Context(), pool, hash); (err == nil) != stays {
			t.Errorf("%s: %v", hash, err)
		}
	}
}
