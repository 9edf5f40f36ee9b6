package creative_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"tuval/internal/creative"
	"tuval/internal/testdb"
)

// Each statement moves a revision exactly along the arrows of the machine.
func TestStatementsFollowTheTransitions(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.Options{Unchecked: true})
	exec(t, pool, `INSERT INTO persons DEFAULT VALUES;
		INSERT INTO pictures (hash, mime, width, height, bytes) VALUES ('p', 'image/png', 1, 1, '');
		INSERT INTO rentals (id, key, public_id, person_id, address, x, y, w, h, state, price_per_week, currency, counted_from, leased_until, paid_at, approve_by)
		VALUES (1, 'r', 'r', 1, '', 0, 0, 1, 1, 'paid', 1, 'usd', now(), now() + interval '1 d', now(), now() + interval '1 d')`)
	states := []creative.State{creative.Pending, creative.Approved, creative.Rejected, creative.Superseded}
	type statement struct {
		to creative.State
		do func(context.Context, pgx.Tx, creative.Creative) error
	}
	for name, s := range map[string]statement{
		"approve": {creative.Approved, func(ctx context.Context, tx pgx.Tx, c creative.Creative) error {
			moved, err := creative.Approve(ctx, tx, c, "admin")
			if moved != (c.State == creative.Pending) {
				t.Errorf("approve of a %s one reports %v", c.State, moved)
			}
			return err
		}},
		"reject": {creative.Rejected, func(ctx context.Context, tx pgx.Tx, c creative.Creative) error {
			moved, err := creative.Reject(ctx, tx, c, "blurred", "admin")
			if moved != (c.State == creative.Pending) {
				t.Errorf("reject of a %s one reports %v", c.State, moved)
			}
			return err
		}},
		"supersede": {creative.Superseded, func(ctx context.Context, tx pgx.Tx, c creative.Creative) error {
			return creative.Supersede(ctx, tx, c.Rental)
		}},
		"approve the next": {creative.Superseded, func(ctx context.Context, tx pgx.Tx, c creative.Creative) error {
			if err := creative.Supersede(ctx, tx, c.Rental); err != nil {
				return err
			}
			next, err := creative.Insert(ctx, tx, creative.Creative{Key: "next", Rental: 1, Picture: "p", Picture2x: "p", Fit: "cover"})
			if err != nil {
				return err
			}
			_, err = creative.Approve(ctx, tx, next, "admin")
			return err
		}},
	} {
		for _, from := range states {
			want := from
			if arrow(from, s.to) && !(name == "supersede" && from == creative.Approved) { // what shows stays until the next is approved
				want = s.to
			}
			if got := after(t, pool, from, s.do); got != want {
				t.Errorf("%s of a %s one makes it %s, want %s", name, from, got, want)
			}
		}
	}
}

func arrow(from, to creative.State) bool {
	for _, a := range creative.Transitions() {
		if a.From == from && a.To == to {
			return true
		}
	}
	return false
}

// after is the state of a revision after the statement, which is undone.
func after(t *testing.T, pool interface {
	Begin(context.Context) (pgx.Tx, error)
}, from creative.State, do func(context.Context, pgx.Tx, creative.Creative) error,
) (state creative.State) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	c, err := creative.Insert(t.Context(), tx, creative.Creative{Key: "c", Rental: 1, Picture: "p", Picture2x: "p", Fit: "cover"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `UPDATE creatives SET state = $1`, from); err != nil {
		t.Fatal(err)
	}
	c.State = from
	if err := do(t.Context(), tx, c); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `SELECT state FROM creatives WHERE id = $1`, c.ID).Scan(&state); err != nil {
		t.Fatal(err)
	}
	return state
}
