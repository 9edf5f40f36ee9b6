package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/payment"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// Proof is what Stripe says of one of our payments, by a signed event or in
// answer to a question.
type Proof struct {
	Session    string
	Reference  string // our payment key, as the session carries it
	PaymentKey string // the same, from the metadata
	RentalKey  string
	Intent     string
	Amount     int64
	Currency   string
	Livemode   bool
	Processing bool // the buyer is done, the money is under way
}

func proofOf(s gateway.Session) Proof {
	return Proof{
		Session: s.ID, Reference: s.Reference, PaymentKey: s.PaymentKey, RentalKey: s.RentalKey, Intent: s.PaymentIntent,
		Amount: s.Amount, Currency: s.Currency, Livemode: s.Livemode, Processing: s.Processing(),
	}
}

// BookOutcome names what was made of a proof.
type BookOutcome string

// The outcomes of a proof.
const (
	Booked     BookOutcome = "booked"
	Known      BookOutcome = "known"    // booked before
	Returned   BookOutcome = "returned" // booked, and goes back in full
	Pending    BookOutcome = "processing"
	Foreign    BookOutcome = "foreign"  // no payment of ours
	Mismatched BookOutcome = "mismatch" // not what we asked for; an admin looks
)

// Book records that a payment's money arrived, once, whatever became of its
// rental, and decides in the same transaction what it buys: the rental when
// its blocks are still its own or all free, else a refund in full. The proof
// must match the payment in id, amount, currency and livemode.
func (m *Market) Book(ctx context.Context, proof Proof) (BookOutcome, error) {
	p, err := m.proven(ctx, proof)
	if payment.IsNotFound(err) {
		return Foreign, nil
	}
	if err != nil {
		return "", err
	}
	if wrong := m.mismatch(p, proof); wrong != "" {
		return Mismatched, m.Report(ctx, Anomaly{
			Kind: "payment mismatch", Fact: "mismatch:" + p.Key, Payment: p.ID, Rental: p.Rental,
			Message: wrong + " Nothing was booked.", Action: "Compare the payment at Stripe and refund it there if it is not ours to keep.",
		})
	}
	if proof.Processing {
		return m.process(ctx, p, proof)
	}
	outcome := Known
	err = m.contend(ctx, "book a payment", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		outcome, err = m.bookTx(ctx, tx, p, proof)
		return err
	})
	return outcome, err
}

// proven finds the payment a proof speaks of.
func (m *Market) proven(ctx context.Context, proof Proof) (payment.Payment, error) {
	for _, key := range []string{proof.PaymentKey, proof.Reference} {
		if key == "" {
			continue
		}
		if p, err := payment.ByKey(ctx, m.pool, key); !payment.IsNotFound(err) {
			return p, err
		}
	}
	return payment.BySession(ctx, m.pool, proof.Session)
}

// mismatch says in words what of the proof is not what was asked for.
func (m *Market) mismatch(p payment.Payment, proof Proof) string {
	switch {
	case proof.Livemode != m.stripe.Livemode():
		return fmt.Sprintf("Stripe says livemode %t; this installation has %t.", proof.Livemode, m.stripe.Livemode())
	case proof.Reference != "" && proof.Reference != p.Key, proof.PaymentKey != "" && proof.PaymentKey != p.Key:
		return "The session names another payment than the one it belongs to."
	case proof.Session != "" && p.SessionID != nil && *p.SessionID != proof.Session:
		return "The payment belongs to another session."
	case proof.Amount != p.Amount.Amount || proof.Currency != p.Amount.Currency:
		return fmt.Sprintf("Paid were %d minor units of %s; asked were %d of %s.", proof.Amount, proof.Currency, p.Amount.Amount, p.Amount.Currency)
	}
	return ""
}

// bookTx locks, decides and writes. A payment that was booked before only
// learns what it did not know.
func (m *Market) bookTx(ctx context.Context, tx pgx.Tx, p payment.Payment, proof Proof) (BookOutcome, error) {
	fx := &effects{}
	before, err := payment.ByID(ctx, tx, p.ID)
	if err != nil {
		return "", err
	}
	if before.State == payment.Paid {
		return Known, payment.Learn(ctx, tx, p.ID, proof.Session, proof.Intent)
	}
	c, r, have, err := m.meet(ctx, tx, p, fx)
	if err != nil {
		return "", err
	}
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return "", err
	}
	v := weigh(r, p, have, c.Now, m.rules)
	if err := m.record(ctx, tx, r, p, proof, v, fx); err != nil {
		return "", err
	}
	if v.Back != "" {
		return Returned, m.giveBack(ctx, tx, r, p, v.Back, fx)
	}
	if err := dropOpen(ctx, tx, rivals(ps, p), fx); err != nil {
		return "", err
	}
	return Booked, m.give(ctx, tx, r, v.Rental, p, c, fx)
}

// rivals are the payments that nobody shall pay any more once this one is
// booked. One extension does not stand in the way of another.
func rivals(ps []payment.Payment, booked payment.Payment) []payment.Payment {
	var out []payment.Payment
	for _, p := range ps {
		if p.ID != booked.ID && (booked.Purpose != payment.Extend || p.Purpose != payment.Extend) {
			out = append(out, p)
		}
	}
	return out
}

// meet locks the rental of a payment that arrived, writes down what time has
// made of it short of closing it, and finds out how it stands to its blocks.
func (m *Market) meet(ctx context.Context, tx pgx.Tx, p payment.Payment, fx *effects) (cleared, rental.Rental, room, error) {
	seen, err := rental.ByID(ctx, tx, p.Rental)
	if err != nil {
		return cleared{}, seen, own, err
	}
	c, have, err := m.look(ctx, tx, seen, p, fx)
	if err != nil {
		return c, seen, own, err
	}
	r := c.Own[seen.ID]
	if r.State != seen.State || r.PaidAt != nil && seen.PaidAt == nil {
		return c, r, own, turnstile.ErrMoved
	}
	r, err = m.catchUp(ctx, tx, r, c.Now, fx)
	return c, r, have, err
}

// look locks the rental, and, when it is closed and might be had again,
// whoever lapsed on its blocks. It reports whether somebody has them.
func (m *Market) look(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, fx *effects) (cleared, room, error) {
	now, err := rental.Now(ctx, tx)
	if err != nil {
		return cleared{}, own, err
	}
	if !reopens(r, p.Purpose) || weigh(r, p, free, now, m.rules).Back != "" { // nobody is displaced for nothing
		c, err := m.clearLocked(ctx, tx, []rental.ID{r.ID}, nil, fx)
		return c, own, err
	}
	c, err := m.clear(ctx, tx, r.Rect, []rental.ID{r.ID}, fx)
	if errors.Is(err, turnstile.ErrTaken) {
		c, err = m.clearLocked(ctx, tx, []rental.ID{r.ID}, nil, fx)
		return c, taken, err
	}
	return c, free, err
}

// record notes that the money is there, once, whatever it buys.
func (m *Market) record(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, proof Proof, v verdict, fx *effects) error {
	outcome := payment.Applied
	if v.Back != "" {
		outcome = payment.Returned
	}
	first, err := payment.Book(ctx, tx, p.ID, outcome, proof.Session, proof.Intent)
	if err != nil {
		return err
	}
	if !first {
		// Somebody was faster. Whoever was displaced above stays where he is.
		return turnstile.ErrMoved
	}
	fx.event(ledger.Event{
		Kind: ledger.PaymentBooked, Claim: int64(r.ID), Payment: int64(p.ID), Rect: r.Rect,
		Amount: p.Amount.Amount, Currency: p.Amount.Currency, Actor: ledger.Stripe,
	})
	return m.earlierRefunds(ctx, tx, proof.Intent, fx)
}

// give writes what the money buys, keeps the blocks for it, or takes them
// again, and leaves the jobs of its deadlines.
func (m *Market) give(ctx context.Context, tx pgx.Tx, was, r rental.Rental, p payment.Payment, c cleared, fx *effects) error {
	if err := rental.Write(ctx, tx, was, r); err != nil {
		return err
	}
	if err := m.secure(ctx, tx, was, r, c.Others); err != nil {
		return err
	}
	e := about(r, ledger.RentalPaid, ledger.Stripe)
	e.Payment = int64(p.ID)
	switch p.Purpose {
	case payment.New:
		m.firstDeadlines(r, c.Now, fx)
	case payment.Extend:
		e.Kind = ledger.RentalExtended
		m.endDeadlines(r, c.Now, fx)
	case payment.Renew:
		e.Kind = ledger.RentalRenewed
		m.endDeadlines(r, c.Now, fx)
	}
	fx.event(e)
	fx.bought(was, r, p, c.Now)
	if was.State == rental.Closed {
		e.Kind, e.Blocks = ledger.BlocksRetaken, r.Rect.Area()
		fx.event(e)
	}
	m.mailReceipt(was, r, p, c.Now, fx)
	return m.write(ctx, tx, fx)
}

// secure keeps the blocks, or takes them again for a rental that was closed.
func (m *Market) secure(ctx context.Context, tx pgx.Tx, was, r rental.Rental, others []turnstile.Lease) error {
	if was.State != rental.Closed {
		return turnstile.Extend(ctx, tx, lease(r), *r.LeasedUntil)
	}
	err := turnstile.Claim(ctx, tx, lease(r), *r.LeasedUntil, others)
	if errors.Is(err, turnstile.ErrTaken) {
		return turnstile.ErrMoved // somebody was faster: decide anew
	}
	return err
}

// giveBack refunds a payment that buys nothing, and tells the buyer once.
func (m *Market) giveBack(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, why string, fx *effects) error {
	if _, err := m.refund(ctx, tx, p, p.Amount.Amount, why, ledger.System, fx); err != nil {
		return err
	}
	m.mailGivenBack(r, p, why, fx)
	return m.write(ctx, tx, fx)
}

// earlierRefunds makes refunds count that Stripe told of before we knew the
// payment.
func (m *Market) earlierRefunds(ctx context.Context, tx pgx.Tx, intent string, fx *effects) error {
	if intent == "" {
		return nil
	}
	var any bool
	const sql = `SELECT EXISTS (SELECT FROM stripe_events WHERE refunded_intent = $1)`
	if err := tx.QueryRow(ctx, sql, intent).Scan(&any); err != nil {
		return fmt.Errorf("market: look for earlier refunds: %w", err)
	}
	if any {
		fx.job(jobs.SyncRefunds{PaymentIntent: intent})
	}
	return nil
}

// processingLease is how long blocks wait for money that is under way.
const processingLease = 7 * 24 * time.Hour

// process keeps the blocks while the buyer's bank moves the money.
func (m *Market) process(ctx context.Context, p payment.Payment, proof Proof) (BookOutcome, error) {
	outcome := Known
	err := m.contend(ctx, "payment processing", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, p.Rental)
		if err != nil {
			return err
		}
		changed, err := payment.Process(ctx, tx, p.ID, proof.Session, proof.Intent)
		if err != nil || !changed {
			return err
		}
		outcome = Pending
		e := about(r, ledger.PaymentProcessing, ledger.Stripe)
		e.Payment = int64(p.ID)
		fx.event(e)
		if err := m.awaitMoney(ctx, tx, r, p, now, fx); err != nil {
			return err
		}
		return m.write(ctx, tx, fx)
	})
	return outcome, err
}

// awaitMoney gives the rental the lease of a payment that is under way, if it
// has not a longer one and the payment still can buy something of it.
func (m *Market) awaitMoney(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, now time.Time, fx *effects) error {
	was, until := r, now.Add(processingLease)
	switch {
	case r.Unpaid() && p.Purpose == payment.New:
		r.State = rental.Paying
	case r.State == rental.Closed || refusal(r, p.Purpose, own) != "" || !until.After(*r.LeasedUntil):
		return nil
	}
	r.LeasedUntil = &until
	if r.State != rental.Live { // its end leaves a job for the lease it has then
		fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: leaseEnds(r)})
	}
	return m.prolong(ctx, tx, was, r)
}
