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
	"tuval/internal/mailtext"
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
	seen, err := rental.ByID(ctx, tx, p.Rental)
	if err != nil {
		return "", err
	}
	c, blocked, err := m.room(ctx, tx, seen, fx)
	if err != nil {
		return "", err
	}
	r := c.Own[seen.ID]
	if r.State != seen.State {
		return "", turnstile.ErrMoved
	}
	ps, err := payment.LockOfRental(ctx, tx, r.ID)
	if err != nil {
		return "", err
	}
	back := fate(r, blocked)
	outcome := payment.Applied
	if back != "" {
		outcome = payment.Returned
	}
	first, err := payment.Book(ctx, tx, p.ID, outcome, proof.Session, proof.Intent)
	if err != nil {
		return "", err
	}
	if !first {
		// Somebody was faster. Whoever was displaced above stays where he is.
		return "", turnstile.ErrMoved
	}
	fx.event(ledger.Event{
		Kind: ledger.PaymentBooked, Claim: int64(r.ID), Payment: int64(p.ID), Rect: r.Rect,
		Amount: p.Amount.Amount, Currency: p.Amount.Currency, Actor: ledger.Stripe,
	})
	if err := m.earlierRefunds(ctx, tx, proof.Intent, fx); err != nil {
		return "", err
	}
	if back != "" {
		return Returned, m.giveBack(ctx, tx, r, p, back, fx)
	}
	if err := dropOpen(ctx, tx, others(ps, p.ID), fx); err != nil {
		return "", err
	}
	return Booked, m.give(ctx, tx, r, p, c, fx)
}

// room locks the rental, and, when it is closed and might be had again,
// whoever lapsed on its blocks. It reports when somebody has them.
func (m *Market) room(ctx context.Context, tx pgx.Tx, r rental.Rental, fx *effects) (cleared, bool, error) {
	if !reopens(r) {
		c, err := m.clearLocked(ctx, tx, []rental.ID{r.ID}, nil, fx)
		return c, false, err
	}
	c, err := m.clear(ctx, tx, r.Rect, []rental.ID{r.ID}, fx)
	if errors.Is(err, turnstile.ErrTaken) {
		c, err = m.clearLocked(ctx, tx, []rental.ID{r.ID}, nil, fx)
		return c, true, err
	}
	return c, false, err
}

// reopens reports whether a first payment may still turn a closed rental into
// a paid one, if its blocks are free.
func reopens(r rental.Rental) bool {
	if r.State != rental.Closed || r.PaidAt != nil {
		return false
	}
	switch *r.ClosedReason {
	case rental.Expired, rental.Cancelled, rental.PaymentFailed:
		return true
	case rental.Unapproved, rental.NotRenewed, rental.Refunded, rental.Removed:
	}
	return false
}

// fate says why a first payment goes back, or nothing when it buys the rental.
func fate(r rental.Rental, blocked bool) string {
	switch {
	case r.Unpaid():
		return "" // not closed: the blocks are its own, lapsed or not
	case reopens(r) && !blocked:
		return ""
	case blocked:
		return payment.ReasonBlocksGone
	case r.State == rental.Closed:
		return payment.ReasonClosed
	}
	return payment.ReasonSecond
}

// give turns the rental paid and keeps its blocks for the approval window.
func (m *Market) give(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, c cleared, fx *effects) error {
	now := c.Now
	from, until := r.State, now.Add(m.rules.ApprovalWindow)
	r.State, r.PaidAt, r.ApproveBy, r.LeasedUntil = rental.Paid, &now, &until, &until
	r.ClosedReason, r.ClosedAt = nil, nil
	r.Email, r.GoLiveAt = &p.Email, p.GoLiveAt
	if err := rental.Write(ctx, tx, from, r); err != nil {
		return err
	}
	if err := m.secure(ctx, tx, r, from, until, c.Others); err != nil {
		return err
	}
	e := about(r, ledger.RentalPaid, ledger.Stripe)
	e.Payment = int64(p.ID)
	fx.event(e)
	if from == rental.Closed {
		e.Kind, e.Blocks = ledger.BlocksRetaken, r.Rect.Area()
		fx.event(e)
	}
	fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.ApprovalCloses})
	fx.mail(r, "paid", p.Key, mailtext.Paid(mailtext.Receipt{
		RentalURL: m.rentalURL(r), Receipt: p.Key, Rect: r.Rect, Weeks: p.Weeks, Amount: p.Amount,
		PaidAt: now, ApproveBy: until, GoLiveAt: p.GoLiveAt,
	}))
	return m.write(ctx, tx, fx)
}

// secure keeps the blocks, or takes them again for a rental that was closed.
func (m *Market) secure(ctx context.Context, tx pgx.Tx, r rental.Rental, from rental.State, until time.Time, others []turnstile.Lease) error {
	if from != rental.Closed {
		return turnstile.Extend(ctx, tx, lease(r), until)
	}
	err := turnstile.Claim(ctx, tx, lease(r), until, others)
	if errors.Is(err, turnstile.ErrTaken) {
		return turnstile.ErrMoved // somebody was faster: decide anew
	}
	return err
}

// giveBack refunds a payment that buys nothing, and tells the buyer once.
func (m *Market) giveBack(ctx context.Context, tx pgx.Tx, r rental.Rental, p payment.Payment, why string, fx *effects) error {
	if err := m.refund(ctx, tx, p, p.Amount.Amount, why, fx); err != nil {
		return err
	}
	cause := mailtext.LatePayment
	if why == payment.ReasonSecond {
		cause = mailtext.SecondPayment
	}
	if r.Email == nil {
		r.Email = &p.Email
	}
	fx.mail(r, "refunded", p.Key, mailtext.Refunded(mailtext.Refund{
		RentalURL: m.rentalURL(r), CanvasURL: m.rules.BaseURL + "/", Receipt: p.Key, Rect: r.Rect, Amount: p.Amount, Cause: cause,
	}))
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
		if r.Unpaid() {
			from, until := r.State, now.Add(processingLease)
			r.State, r.LeasedUntil = rental.Paying, &until
			if err := m.prolong(ctx, tx, from, r); err != nil {
				return err
			}
			fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.HoldLapses})
		}
		return m.write(ctx, tx, fx)
	})
	return outcome, err
}
