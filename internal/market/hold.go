package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/grid"
	"tuval/internal/ident"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// Who asks: the viewer and the keyed hash of the network address.
type Who struct {
	rental.Viewer
	Address []byte
}

// Person is whom a new hold belongs to: the account, else the session's or
// token's person, else 0, a person to be made.
func (w Who) Person() int64 {
	if w.Account != 0 {
		return w.Account
	}
	if len(w.Persons) > 0 {
		return w.Persons[len(w.Persons)-1]
	}
	return 0
}

// Held is a new hold, as its first answer said it.
type Held struct {
	ID           rental.ID    `json:"id"`
	Key          string       `json:"key"`
	Version      int          `json:"version"`
	Person       int64        `json:"person"`
	Rect         grid.Rect    `json:"rect"`
	State        rental.State `json:"state"`
	LeasedUntil  time.Time    `json:"leased_until"`
	PricePerWeek money.Money  `json:"price_per_week"`
	CheckoutBy   time.Time    `json:"checkout_by"`
}

// errTaken is the answer to a lost race. It never says who has the blocks.
func errTaken() *fault.Error {
	return fault.Taken("Somebody else has just taken some of these blocks.")
}

// Hold places a hold on all blocks of the rect for the caller, or on none. An
// unpaid hold of the same person that overlaps it is replaced in the same
// instant; if the new rect cannot be had, the old hold stays as it was.
//
// It refuses with Invalid (field w, h, x or y), Conflict code taken, Limited,
// or Unavailable when the blocks are too contended.
func (m *Market) Hold(ctx context.Context, who Who, rect grid.Rect, req Request) (Held, error) {
	done := m.attempted()
	held, err := m.hold(ctx, who, rect, req)
	done(err)
	return held, err
}

func (m *Market) hold(ctx context.Context, who Who, rect grid.Rect, req Request) (Held, error) {
	price, err := m.price(rect)
	if err != nil {
		return Held{}, err
	}
	if err := req.check(); err != nil {
		return Held{}, err
	}
	if held, again, err := m.turnAway(ctx, who, rect, req); again || err != nil {
		return held, err
	}
	waited, done, err := m.turns.take(ctx, string(who.Address))
	if err != nil {
		return Held{}, err
	}
	defer done()
	if waited { // whoever was ahead may have won
		if held, again, err := m.turnAway(ctx, who, rect, req); again || err != nil {
			return held, err
		}
	}
	held, err := once(ctx, m, "hold", req, func(ctx context.Context, tx pgx.Tx) (Held, error) {
		return m.holdTx(ctx, tx, who, rect, price)
	})
	if errors.Is(err, turnstile.ErrTaken) {
		err = errTaken()
	}
	return held, err
}

// price is what the rect costs a week, if anything of it can be sold: neither
// is one week too dear to be charged nor are fifty-two too cheap.
func (m *Market) price(rect grid.Rect) (money.Money, error) {
	if rect.Area() > m.rules.MaxBlocks {
		return money.Money{}, fault.Field("w", fmt.Sprintf("At most %d blocks can be held at once; this is %d.", m.rules.MaxBlocks, rect.Area()))
	}
	c := m.rules.Currency
	week, ok := money.Weekly(rect.Pixels(), m.rules.PricePerPixel)
	if !ok || week > c.Max {
		return money.Money{}, fault.Field("w", fmt.Sprintf("One week of this would cost more than the largest payment of %s.", c.Of(c.Max)))
	}
	if year, ok := money.Total(week, MaxWeeks); ok && year < c.Min {
		return money.Money{}, fault.Field("w", fmt.Sprintf("%d weeks of this would cost less than the smallest payment of %s.", MaxWeeks, c.Of(c.Min)))
	}
	return c.Of(week), nil
}

// turnAway answers without any lock what needs none: a repeated request, and
// a rect of which somebody else has a running lease.
func (m *Market) turnAway(ctx context.Context, who Who, rect grid.Rect, req Request) (Held, bool, error) {
	held, again, err := remembered[Held](ctx, m.pool, req)
	if again || err != nil {
		return held, again, err
	}
	owners, err := turnstile.Owners(ctx, m.pool, rect)
	if err != nil {
		return Held{}, false, db.Explain("hold", err)
	}
	mine, err := rental.UnpaidOverlapping(ctx, m.pool, who.Viewer, rect)
	if err != nil {
		return Held{}, false, err
	}
	for _, o := range owners {
		if o.Lapsed || owns(mine, o.Claim) {
			continue
		}
		if replaced, err := m.replacedSince(ctx, who, o.Claim); replaced || err != nil {
			return Held{}, false, err
		}
		// The first copy of this request may have won since the first look.
		held, again, err := remembered[Held](ctx, m.pool, req)
		if again || err != nil {
			return held, again, err
		}
		return Held{}, false, errTaken()
	}
	return Held{}, false, nil
}

// replacedSince reports whether a claim that was seen was the caller's own hold
// and is over: another hold of theirs replaced it between our two looks.
func (m *Market) replacedSince(ctx context.Context, who Who, c turnstile.ClaimID) (bool, error) {
	if who.Person() == 0 {
		return false, nil
	}
	r, err := rental.ByID(ctx, m.pool, rental.ID(c))
	if fault.Is(err, "not_found") {
		return false, nil // a blocked area
	}
	return err == nil && r.OwnedBy(who.Viewer) && r.State == rental.Closed, err
}

func owns(rs []rental.Rental, c turnstile.ClaimID) bool {
	for _, r := range rs {
		if turnstile.ClaimID(r.ID) == c {
			return true
		}
	}
	return false
}

func (m *Market) holdTx(ctx context.Context, tx pgx.Tx, who Who, rect grid.Rect, price money.Money) (Held, error) {
	if err := lockPeople(ctx, tx, who); err != nil {
		return Held{}, err
	}
	mine, err := rental.UnpaidOverlapping(ctx, tx, who.Viewer, rect)
	if err != nil {
		return Held{}, err
	}
	own := make([]rental.ID, len(mine))
	for i, r := range mine {
		own[i] = r.ID
	}
	if err := m.allow(ctx, tx, who, rect, own); err != nil {
		return Held{}, err
	}
	fx := &effects{}
	c, err := m.clear(ctx, tx, rect, own, fx)
	if err != nil {
		return Held{}, err
	}
	terms, gives, err := m.replace(ctx, tx, c, fx)
	if err != nil {
		return Held{}, err
	}
	return m.place(ctx, tx, who, rect, price, terms, gives, fx)
}

// begun is what a hold inherits from the holds it replaces, so that placing
// the same hold again and again does not possess for longer.
type begun struct {
	From time.Time // when possession began
	Kept bool
	Till time.Time // the new lease
}

// replace closes the caller's own holds that the new one overlaps.
func (m *Market) replace(ctx context.Context, tx pgx.Tx, c cleared, fx *effects) (begun, []turnstile.Lease, error) {
	b, gives := begun{From: c.Now}, c.Others
	for _, r := range c.Own {
		if r.State == rental.Closed {
			return b, nil, turnstile.ErrMoved
		}
		if !r.Unpaid() {
			return b, nil, fault.New(fault.Conflict, "You have rented some of these blocks already.")
		}
		move, actor := rental.Move{To: rental.Closed, Reason: rental.Cancelled, At: c.Now}, ledger.Buyer
		if due, is := r.Next(c.Now); is {
			move, actor = due, ledger.System // it had lapsed: a new possession begins
		} else if err := m.mayReplace(ctx, tx, r); err != nil {
			return b, nil, err
		} else {
			b.From, b.Kept = earliest(b.From, r.CountedFrom), b.Kept || r.Kept
		}
		if _, err := m.closing(ctx, tx, r, move, actor, fx); err != nil {
			return b, nil, err
		}
		gives = append(gives, lease(r))
	}
	last := m.rules.checkoutBy(b.From)
	if !c.Now.Before(last) {
		return b, nil, fault.Limit("You have held these blocks without paying for too long. Finish the payment, or let the hold end and start again.", b.From.Add(m.rules.HoldMax).Sub(c.Now))
	}
	b.Till = earliest(c.Now.Add(m.rules.HoldTTL), b.From.Add(m.rules.HoldMax))
	return b, gives, nil
}

// mayReplace refuses while money for the old hold is under way.
func (m *Market) mayReplace(ctx context.Context, tx pgx.Tx, r rental.Rental) error {
	if r.Email == nil {
		return nil
	}
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if p.State == payment.Processing {
			return fault.New(fault.Conflict, "Your payment for these blocks is being processed. Nothing can be changed until the bank has made it or not.")
		}
	}
	return nil
}

// place writes the new hold and takes its blocks, late in the transaction.
func (m *Market) place(ctx context.Context, tx pgx.Tx, who Who, rect grid.Rect, price money.Money, b begun, gives []turnstile.Lease, fx *effects) (Held, error) {
	person, err := personOf(ctx, tx, who)
	if err != nil {
		return Held{}, err
	}
	n := rental.New{Key: ident.New(), PublicID: ident.New(), Person: person, Address: who.Address}
	if who.Account != 0 {
		n.Account = &who.Account
	}
	n.Rental = rental.Rental{Rect: rect, PricePerWeek: price, CountedFrom: b.From, Kept: b.Kept, LeasedUntil: &b.Till}
	r, err := rental.Insert(ctx, tx, n)
	if err != nil {
		return Held{}, err
	}
	if err := turnstile.Claim(ctx, tx, lease(r), b.Till, gives); err != nil {
		return Held{}, err
	}
	e := about(r, ledger.HoldPlaced, ledger.Buyer)
	e.Blocks = rect.Area()
	fx.event(e)
	fx.jobAt(b.Till, jobs.Settle{Rental: int64(r.ID), Why: jobs.HoldLapses})
	return m.held(r), m.write(ctx, tx, fx)
}

func (m *Market) held(r rental.Rental) Held {
	return Held{
		ID: r.ID, Key: r.Key, Version: r.TokenVersion, Person: r.PersonID, Rect: r.Rect, State: r.State, LeasedUntil: *r.LeasedUntil,
		PricePerWeek: r.PricePerWeek, CheckoutBy: m.rules.checkoutBy(r.CountedFrom),
	}
}

func personOf(ctx context.Context, tx pgx.Tx, who Who) (int64, error) {
	if p := who.Person(); p != 0 {
		return p, nil
	}
	var id int64
	if err := tx.QueryRow(ctx, `INSERT INTO persons DEFAULT VALUES RETURNING id`).Scan(&id); err != nil {
		return 0, fmt.Errorf("market: make a person: %w", err)
	}
	return id, nil
}
