package board_test

import (
	"bytes"
	"context"
	"image/png"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/age"
	"tuval/internal/board"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/jobs"
	"tuval/internal/market"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/internal/testdb"
)

// canvas is a market with boards of two processes.
type canvas struct {
	t    *testing.T
	pool *pgxpool.Pool
	m    *market.Market
	a, b *board.Board
}

func newCanvas(t *testing.T, o testdb.Options) *canvas {
	t.Helper()
	pool, err := db.Open(t.Context(), db.Settings{URL: testdb.URL(t, o), Name: "board test", MaxConns: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	queue, err := jobs.NewQueue(pool)
	if err != nil {
		t.Fatal(err)
	}
	usd, _ := money.Lookup("usd")
	most := market.Limits{Holds: 1 << 20, Blocks: 1 << 20, BlockMinutes: 1 << 30, HoldMinutes: 1 << 30}
	m := market.New(pool, queue, nil, market.Rules{
		Currency: usd, PricePerPixel: 100, HoldTTL: 10 * time.Minute, HoldMax: 90 * time.Minute, CheckoutTTL: 31 * time.Minute,
		CheckoutGrace: 10 * time.Minute, ApprovalWindow: 720 * time.Hour, RenewalWindow: 48 * time.Hour, MaxBlocks: 1000,
		Person: most, Address: most, MaxHeldShare: 1, Secret: []byte("secret"),
	}, slog.New(slog.DiscardHandler))
	terms := rental.Terms{RenewalWindow: 48 * time.Hour}
	return &canvas{t: t, pool: pool, m: m, a: board.New(pool, terms), b: board.New(pool, terms)}
}

func (c *canvas) who(n byte) market.Who {
	c.t.Helper()
	var id int64
	if err := c.pool.QueryRow(c.t.Context(), `INSERT INTO persons DEFAULT VALUES RETURNING id`).Scan(&id); err != nil {
		c.t.Fatal(err)
	}
	return market.Who{Viewer: rental.Viewer{Persons: []int64{id}}, Address: []byte{n}}
}

func (c *canvas) hold(who market.Who, r grid.Rect) market.Held {
	c.t.Helper()
	h, err := c.m.Hold(c.t.Context(), who, r, market.Request{})
	if err != nil {
		c.t.Fatal(err)
	}
	return h
}

func (c *canvas) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.pool.Exec(c.t.Context(), sql, args...); err != nil {
		c.t.Fatal(err)
	}
}

// shows fails the test unless both boards have exactly these counts, and the
// same revision.
func (c *canvas) shows(want board.Counts) *board.Snapshot {
	c.t.Helper()
	want.Free = grid.Blocks - want.Held - want.Taken - want.Reserved - want.Blocked
	var revisions []string
	var last *board.Snapshot
	for _, b := range []*board.Board{c.a, c.b, board.New(c.pool, rental.Terms{RenewalWindow: 48 * time.Hour})} {
		s, err := b.Snapshot(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		if s.Counts != want {
			c.t.Errorf("%+v, want %+v", s.Counts, want)
		}
		last, revisions = s, append(revisions, s.Revision)
	}
	if revisions[0] != revisions[1] || revisions[1] != revisions[2] {
		c.t.Errorf("the same content has the revisions %v", revisions)
	}
	return last
}

func rect(x, y, w, h int) grid.Rect { return grid.Rect{X: x, Y: y, W: w, H: h} }

// Every change is there for the very next question, at every process.
func TestBoardIsNeverOlderThanTheQuestion(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{})
	empty := c.shows(board.Counts{})
	ann := c.who(1)
	h := c.hold(ann, rect(1, 1, 6, 4))
	s := c.shows(board.Counts{Held: 24})
	if len(s.Areas) != 1 || s.Areas[0].State != board.Held || s.Areas[0].Rect != h.Rect || !s.Areas[0].Until.Equal(h.LeasedUntil) || s.Areas[0].ID == h.Key {
		t.Errorf("%+v", s.Areas)
	}
	if s.Taken.Count(rect(6, 4, 3, 3)) == 0 || s.Taken.Count(rect(7, 1, 3, 3)) > 0 {
		t.Error("the marks are not those of the areas")
	}
	kept, err := c.m.Keep(t.Context(), ann, h.Key, market.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if s := c.shows(board.Counts{Held: 24}); !s.Areas[0].Until.Equal(kept.LeasedUntil) {
		t.Error("a kept hold has its old end")
	}
	area, err := c.m.Block(t.Context(), "admin", rect(50, 50, 3, 3), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.shows(board.Counts{Held: 24, Blocked: 9}); s.Areas[1].ID != "" || s.Areas[1].State != board.Blocked {
		t.Errorf("%+v", s.Areas[1])
	}
	c.hold(ann, rect(2, 1, 6, 4)) // in place of the first
	c.shows(board.Counts{Held: 24, Blocked: 9})
	if err := c.m.Unblock(t.Context(), "admin", area.Key); err != nil {
		t.Fatal(err)
	}
	c.shows(board.Counts{Held: 24})
	if err := age.Move(t.Context(), c.pool, 11*time.Minute); err != nil { // no job has run
		t.Fatal(err)
	}
	if s := c.shows(board.Counts{}); s.Revision != empty.Revision {
		t.Error("an empty canvas has two revisions")
	}
}

// Time alone changes the board at the microsecond, without an event.
func TestBoardKnowsWhenTimeChangesIt(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{Unchecked: true})
	h := c.hold(c.who(1), rect(1, 1, 6, 4))
	soon := func(ms int) {
		c.exec(`UPDATE rentals SET leased_until = clock_timestamp() + make_interval(secs => $1 / 1000.0)`, ms)
		c.exec(`INSERT INTO ledger (kind, effective_at, claim_id, currency, actor) VALUES ('hold.prolonged', now(), $1, 'usd', 'x')`, int64(h.ID))
	}
	soon(150)
	for {
		s, err := c.a.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var over bool // asked after the answer: it may have ended in between, not before
		if err := c.pool.QueryRow(t.Context(), `SELECT leased_until <= $1 FROM rentals`, s.At).Scan(&over); err != nil {
			t.Fatal(err)
		}
		if over != (s.Counts.Held == 0) {
			t.Fatalf("over %v, %d held", over, s.Counts.Held)
		}
		var past bool
		if err := c.pool.QueryRow(t.Context(), `SELECT leased_until <= now() FROM rentals`).Scan(&past); err != nil {
			t.Fatal(err)
		}
		if past {
			break
		}
	}
	if s, err := c.a.Snapshot(t.Context()); err != nil || s.Counts.Held != 0 {
		t.Errorf("the lease is over, the board has %+v, %v", s.Counts, err)
	}
}

// A transaction that began before the board was read, and commits after it, is
// not lost though its events have lower numbers.
func TestBoardSeesLateCommits(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{Unchecked: true})
	slow, err := c.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // committed by then
	if _, err := slow.Exec(t.Context(), `INSERT INTO ledger (kind, effective_at, currency, actor) VALUES ('x', now(), 'usd', 'x')`); err != nil {
		t.Fatal(err)
	}
	c.hold(c.who(1), rect(1, 1, 2, 2)) // a later event, committed earlier
	c.shows(board.Counts{Held: 4})
	if _, err := slow.Exec(t.Context(), `INSERT INTO blocked_areas (key, x, y, w, h, note, until, created_by) VALUES ('k', 50, 50, 3, 3, '', now() + interval '1 h', 'x')`); err != nil {
		t.Fatal(err)
	}
	c.shows(board.Counts{Held: 4})
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.shows(board.Counts{Held: 4, Blocked: 9})
}

// Who has been told that a hold was placed finds it on the board, whatever
// else goes on, and however many ask.
func TestBoardUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		who := c.who(byte(i))
		all.Go(func() {
			for n := range 8 {
				r := rect(i*10, n*10, 5, 5)
				h, err := c.m.Hold(t.Context(), who, r, market.Request{})
				if err != nil {
					t.Error(err)
					return
				}
				s, err := []*board.Board{c.a, c.b}[n%2].Snapshot(t.Context())
				if err != nil || s.Taken.Count(r) == 0 {
					t.Errorf("the board does not have a hold that was placed: %v", err)
				}
				if n%2 == 0 {
					continue
				}
				if err := c.m.Cancel(t.Context(), who, h.Key); err != nil {
					t.Error(err)
				}
				if s, err := c.b.Snapshot(t.Context()); err != nil || s.Taken.Count(r) > 0 {
					t.Errorf("the board has a hold that was let go of: %v", err)
				}
			}
		})
	}
	all.Wait()
	c.shows(board.Counts{Held: 8 * 4 * 25})
}

// A rental through the states a visitor can see.
func TestAreasOfAPaidRental(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{Unchecked: true})
	h := c.hold(c.who(1), rect(10, 20, 3, 2))
	var drawn bytes.Buffer
	pixels := rect(0, 0, 3, 2).Px()
	if err := png.Encode(&drawn, filled(pixels)); err != nil {
		t.Fatal(err)
	}
	c.exec(`INSERT INTO pictures (hash, mime, width, height, bytes) VALUES ('red', 'image/png', 30, 20, $1)`, drawn.Bytes())
	c.exec(`INSERT INTO creatives (key, rental_id, revision, state, link, link_host, title, alt, fit, picture, picture_2x)
		VALUES ('c', $1, 1, 'approved', 'https://example.com/', 'example.com', 'Title', 'Alt', 'cover', 'red', 'red')`, int64(h.ID))
	// Dates are set relative to now; an event tells of each.
	is := func(sql string) {
		c.exec(`UPDATE rentals SET ` + sql)
		c.exec(`INSERT INTO ledger (kind, effective_at, currency, actor) VALUES ('x', now(), 'usd', 'x')`)
	}
	is(`state = 'paid', paid_at = now(), approve_by = now() + interval '1 d', leased_until = now() + interval '1 d'`)
	if s := c.shows(board.Counts{Taken: 6}); s.Areas[0].State != board.Taken || s.Areas[0].Title != "" || s.Areas[0].Picture != "" {
		t.Errorf("paid: %+v", s.Areas[0])
	}
	is(`live_from = now() + interval '1 h', ends_at = now() + interval '2 h', leased_until = now() + interval '50 h'`)
	if s := c.shows(board.Counts{Taken: 6}); s.Areas[0].State != board.Taken || s.Areas[0].Picture != "" {
		t.Errorf("scheduled: %+v", s.Areas[0])
	}
	is(`live_from = now()`) // no job has turned it live
	s := c.shows(board.Counts{Taken: 6})
	if a := s.Areas[0]; a.State != board.Live || a.Title != "Title" || a.Alt != "Alt" || a.LinkHost != "example.com" || a.Picture != "red" {
		t.Errorf("live: %+v", s.Areas[0])
	}
	live, err := c.b.Picture(t.Context(), s.Revision, board.PNG)
	if err != nil {
		t.Fatal(err)
	}
	canvas, err := png.Decode(bytes.NewReader(live))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, _, _ := canvas.At(100, 200).RGBA(); r>>8 != 255 || g != 0 {
		t.Errorf("the picture is not at its place: %v", canvas.At(100, 200))
	}
	if r, g, _, _ := canvas.At(130, 200).RGBA(); r == 0xffff && g == 0 {
		t.Error("the picture reaches over its blocks")
	}
	is(`hidden = true`)
	if s := c.shows(board.Counts{Taken: 6}); s.Areas[0].State != board.Taken || s.Areas[0].Picture != "" {
		t.Errorf("hidden: %+v", s.Areas[0])
	}
	is(`hidden = false, ends_at = now()`)
	if s := c.shows(board.Counts{Reserved: 6}); s.Areas[0].State != board.Reserved || s.Areas[0].Picture != "" {
		t.Errorf("ended: %+v", s.Areas[0])
	}
	is(`leased_until = now()`)
	c.shows(board.Counts{})
	if _, err := c.a.Picture(t.Context(), "never", board.PNG); fault.As(err).Kind != fault.NotFound {
		t.Errorf("an unknown revision: %v", err)
	}
	if _, err := c.a.Picture(t.Context(), s.Revision, "bmp"); fault.As(err).Kind != fault.NotFound {
		t.Errorf("an unknown kind: %v", err)
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{})
	c.hold(c.who(1), rect(1, 1, 2, 2))
	if _, err := c.m.Block(t.Context(), "admin", rect(50, 50, 3, 3), "", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.m.Report(t.Context(), market.Anomaly{Kind: "dispute", Fact: "x"}); err != nil {
		t.Fatal(err)
	}
	m, err := board.Measure(t.Context(), c.pool)
	if err != nil {
		t.Fatal(err)
	}
	if m.HoldsLive != 1 || m.Blocks["held"] != 4 || m.Blocks["blocked"] != 9 || m.Blocks["free"] != grid.Blocks-13 || m.Anomalies["dispute"] != 1 {
		t.Errorf("%+v", m)
	}
}

func TestBoardWithoutADatabase(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, testdb.Options{})
	c.shows(board.Counts{})
	gone, err := pgx.Connect(t.Context(), c.pool.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close(context.WithoutCancel(t.Context()))
	if _, err := gone.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.a.Snapshot(t.Context()); fault.As(err).Kind != fault.Unavailable {
		t.Errorf("%v", err)
	}
	c.pool.Reset()
	c.shows(board.Counts{})
}
