package turnstile_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"tuval/internal/grid"
	"tuval/internal/turnstile"
)

// side is the size of the corner of the canvas that the model plays in.
const side = 7

// model is what the turnstile should do, on paper: claims with their rect, and
// whether their lease runs.
type model struct {
	c     canvas
	open  map[turnstile.ClaimID]*paper
	ended []turnstile.Lease // over: they possess nothing any more
}

type paper struct {
	turnstile.Lease
	runs bool
}

// Random sequences of calls do in the database exactly what they do on paper.
func TestModel(t *testing.T) {
	t.Parallel()
	c := newCanvas(t, 4)
	rapid.Check(t, func(t *rapid.T) {
		m := &model{c: c, open: map[turnstile.ClaimID]*paper{}}
		c.exec(`UPDATE blocks SET claim_id = NULL, leased_until = 'epoch' WHERE claim_id IS NOT NULL`)
		t.Repeat(map[string]func(*rapid.T){
			"claim": m.claim, "extend": m.extend, "release": m.release, "late": m.late, "": m.compare,
		})
	})
}

// claim asks for a rect and gives up any of the open claims, running or not.
func (m *model) claim(t *rapid.T) {
	r := corner(t)
	var gives []turnstile.Lease
	var alien []*paper
	for _, id := range slices.Sorted(maps.Keys(m.open)) {
		p := m.open[id]
		if rapid.Bool().Draw(t, "give") {
			gives = append(gives, p.Lease)
		} else if p.Rect.Overlaps(r) {
			alien = append(alien, p)
		}
	}
	l, runs := turnstile.Lease{Rect: r}, rapid.Bool().Draw(t, "runs")
	err := m.c.tx(func(ctx context.Context, tx pgx.Tx) (err error) {
		var until time.Time
		if l, until, err = newClaim(ctx, tx, r, lasting(runs)); err != nil {
			return err
		}
		return turnstile.Claim(ctx, tx, l, until, gives)
	})
	running := slices.ContainsFunc(alien, func(p *paper) bool { return p.runs })
	lapsed := slices.ContainsFunc(alien, func(p *paper) bool { return !p.runs })
	switch {
	case len(alien) == 0 && err == nil:
		m.open[l.Claim] = &paper{l, runs}
		for _, g := range gives {
			delete(m.open, g.Claim)
			m.ended = append(m.ended, g)
		}
	case running && errors.Is(err, turnstile.ErrTaken), lapsed && errors.Is(err, turnstile.ErrMoved):
	default:
		t.Fatalf("claim of %v over running %v, lapsed %v: %v", r, running, lapsed, err)
	}
}

func (m *model) extend(t *rapid.T) {
	p := m.some(t)
	p.runs = rapid.Bool().Draw(t, "runs")
	verb := turnstile.Extend
	if rapid.Bool().Draw(t, "by claiming again") {
		verb = func(ctx context.Context, tx pgx.Tx, l turnstile.Lease, until time.Time) error {
			return turnstile.Claim(ctx, tx, l, until, nil)
		}
	}
	if err := m.at(p.runs, func(ctx context.Context, tx pgx.Tx, until time.Time) error { return verb(ctx, tx, p.Lease, until) }); err != nil {
		t.Fatalf("extend %v: %v", p.Rect, err)
	}
}

func (m *model) release(t *rapid.T) {
	p := m.some(t)
	if err := m.c.tx(func(ctx context.Context, tx pgx.Tx) error { return turnstile.Release(ctx, tx, p.Lease) }); err != nil {
		t.Fatalf("release %v: %v", p.Rect, err)
	}
	delete(m.open, p.Claim)
	m.ended = append(m.ended, p.Lease)
}

// late calls for a claim that is over: extend and release find nothing, and a
// claim of it competes like any other.
func (m *model) late(t *rapid.T) {
	if len(m.ended) == 0 {
		t.Skip("nothing is over")
	}
	i := rapid.IntRange(0, len(m.ended)-1).Draw(t, "which")
	l := m.ended[i]
	err := m.at(true, func(ctx context.Context, tx pgx.Tx, until time.Time) error {
		if err := turnstile.Extend(ctx, tx, l, until); !errors.Is(err, turnstile.ErrLost) {
			t.Fatalf("late extend: %v", err)
		}
		if err := turnstile.Release(ctx, tx, l); !errors.Is(err, turnstile.ErrLost) {
			t.Fatalf("late release: %v", err)
		}
		return turnstile.Claim(ctx, tx, l, until, nil)
	})
	free := true
	for _, p := range m.open {
		free = free && !p.Rect.Overlaps(l.Rect)
	}
	if free != (err == nil) {
		t.Fatalf("late claim of %v, free %v: %v", l.Rect, free, err)
	}
	if free {
		m.ended = slices.Delete(m.ended, i, i+1)
		m.open[l.Claim] = &paper{l, true}
	}
}

// compare holds every block, and the owners of some rect, against the paper.
func (m *model) compare(t *rapid.T) {
	var want, got [side][side]turnstile.Owner
	for _, p := range m.open {
		for y := p.Rect.Y; y < p.Rect.Y+p.Rect.H; y++ {
			for x := p.Rect.X; x < p.Rect.X+p.Rect.W; x++ {
				want[y][x] = turnstile.Owner{Claim: p.Claim, Lapsed: !p.runs}
			}
		}
	}
	rows, err := m.c.Query(m.c.t.Context(), `SELECT y, x, claim_id, leased_until <= now() FROM blocks WHERE claim_id IS NOT NULL`)
	if err != nil {
		t.Fatal(err)
	}
	var x, y int
	var o turnstile.Owner
	if _, err := pgx.ForEachRow(rows, []any{&y, &x, &o.Claim, &o.Lapsed}, func() error { got[y][x] = o; return nil }); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("blocks are\n%v\nwant\n%v", got, want)
	}
	m.compareOwners(t, corner(t))
}

func (m *model) compareOwners(t *rapid.T, r grid.Rect) {
	var want []turnstile.Owner
	for _, id := range slices.Sorted(maps.Keys(m.open)) {
		if p := m.open[id]; p.Rect.Overlaps(r) {
			want = append(want, turnstile.Owner{Claim: id, Lapsed: !p.runs})
		}
	}
	got, err := turnstile.Owners(m.c.t.Context(), m.c, r)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("owners of %v: %v, %v, want %v", r, got, err, want)
	}
	running := slices.ContainsFunc(want, func(o turnstile.Owner) bool { return !o.Lapsed })
	if taken, err := turnstile.Taken(m.c.t.Context(), m.c, r); err != nil || taken != running {
		t.Fatalf("taken %v: %v, %v, want %v", r, taken, err, running)
	}
}

func (m *model) some(t *rapid.T) *paper {
	if len(m.open) == 0 {
		t.Skip("no claim is open")
	}
	return m.open[rapid.SampledFrom(slices.Sorted(maps.Keys(m.open))).Draw(t, "which")]
}

// at runs fn with an instant of the database, to come or gone by.
func (m *model) at(runs bool, fn func(ctx context.Context, tx pgx.Tx, until time.Time) error) error {
	return m.c.tx(func(ctx context.Context, tx pgx.Tx) error {
		var until time.Time
		if err := tx.QueryRow(ctx, `SELECT now() + $1::interval`, lasting(runs)).Scan(&until); err != nil {
			return err
		}
		return fn(ctx, tx, until)
	})
}

func lasting(runs bool) time.Duration {
	if runs {
		return time.Hour
	}
	return -time.Minute
}

func corner(t *rapid.T) grid.Rect {
	x, y := rapid.IntRange(0, side-1).Draw(t, "x"), rapid.IntRange(0, side-1).Draw(t, "y")
	return rect(x, y, rapid.IntRange(1, side-x).Draw(t, "w"), rapid.IntRange(1, side-y).Draw(t, "h"))
}
