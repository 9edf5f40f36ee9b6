package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/gateway"
	"tuval/internal/ident"
	"tuval/internal/jobs"
	"tuval/internal/ledger"
	"tuval/internal/money"
	"tuval/internal/payment"
	"tuval/internal/rental"
)

// Offer is a payment page that can be paid.
type Offer struct {
	PaymentKey string
	URL        string
	ExpiresAt  time.Time
	Amount     money.Money
}

// sessionPatience is how long a buyer waits for a payment page.
const sessionPatience = 8 * time.Second

// minLease is what a hold has at least while Stripe is asked for a page.
const minLease = time.Minute

// stripeMinimum is the shortest life of a page that Stripe accepts, and one
// minute for clocks that differ.
const stripeMinimum = 31 * time.Minute

// Checkout opens a payment page for a hold, or gives the open one again when
// the same is asked. Asking for something else makes the open page unpayable
// first; if that turns out to be paid it is booked and the answer is a
// Conflict.
//
// It refuses with Invalid (weeks, email, go_live_at), Gone when the hold is
// over, Conflict when it is past paying or the amount differs (details.amount)
// and Unavailable when Stripe does not answer; nothing is lost then.
func (m *Market) Checkout(ctx context.Context, who Who, key string, want Purchase) (Offer, error) {
	r, err := m.mine(ctx, key, who.Viewer)
	if err != nil {
		return Offer{}, err
	}
	now, err := rental.Now(ctx, m.pool)
	if err != nil {
		return Offer{}, err
	}
	if err := m.mayPay(r, now); err != nil { // a hold that is over is over for every click, whatever it says
		return Offer{}, err
	}
	amount, err := m.total(r.PricePerWeek, want)
	if err != nil {
		return Offer{}, err
	}
	if err := m.makeRoom(ctx, r, want, now); err != nil {
		return Offer{}, err
	}
	offered, err := m.open(ctx, r, want, amount)
	if errors.Is(err, gateway.ErrSpent) {
		// Stripe failed before and would say so for a day: with a new key.
		offered, err = m.open(ctx, r, want, amount)
	}
	if errors.Is(err, gateway.ErrRefused) {
		m.log.ErrorContext(ctx, "stripe refused a checkout", "rental", r.ID, "error", err)
		err = fault.Away("The payment page cannot be opened at the moment. Nothing was charged.", time.Minute).Because(err)
	}
	return offered, err
}

// open writes down what is wanted, asks Stripe for the page and stores it.
func (m *Market) open(ctx context.Context, r rental.Rental, want Purchase, amount money.Money) (Offer, error) {
	p, err := m.intend(ctx, r.ID, want, amount)
	if err != nil {
		return Offer{}, err
	}
	if p.SessionURL != nil {
		return offer(p), nil
	}
	patience, stop := context.WithTimeout(ctx, sessionPatience)
	defer stop()
	s, err := m.stripe.Begin(patience, m.page(r, p))
	if errors.Is(err, gateway.ErrSpent) {
		return Offer{}, errors.Join(err, m.drop(ctx, p))
	}
	if err != nil {
		return Offer{}, err
	}
	return m.opened(ctx, p, s)
}

func offer(p payment.Payment) Offer {
	return Offer{PaymentKey: p.Key, URL: *p.SessionURL, ExpiresAt: p.ExpiresAt, Amount: p.Amount}
}

// makeRoom makes the rental's open page unpayable when it offers something
// else than what is asked now, or when its time is over.
func (m *Market) makeRoom(ctx context.Context, r rental.Rental, want Purchase, now time.Time) error {
	ps, err := payment.OfRental(ctx, m.pool, r.ID)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if p.State != payment.Open || p.SessionID == nil || p.SamePurchase(want.Weeks, want.Email, want.GoLiveAt) && now.Before(p.ExpiresAt) {
			continue
		}
		if err := m.retire(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// retire ends a page that its buyer wants to exchange for another. The wish is
// written down first: Stripe's word that the page is over may be here before
// its answer to us, and must not end the hold. When Stripe does not answer,
// neither do we go on: two payable pages for one rental are never risked.
func (m *Market) retire(ctx context.Context, p payment.Payment) error {
	if err := m.giveUp(ctx, p); err != nil {
		return err
	}
	outcome, err := m.expireAtStripe(ctx, p, ident.New(), sessionPatience)
	switch {
	case err != nil:
		return err
	case outcome == Booked || outcome == Known:
		return errPaidMeanwhile()
	case outcome == Pending:
		return errProcessing()
	}
	return m.drop(ctx, p)
}

func errProcessing() *fault.Error {
	return fault.New(fault.Conflict, "Your payment is being processed.")
}

func (m *Market) giveUp(ctx context.Context, p payment.Payment) error {
	return m.ofRental(ctx, "give up a page", p, payment.GiveUp)
}

// drop ends a payment of which no page can be paid any more.
func (m *Market) drop(ctx context.Context, p payment.Payment) error {
	return m.ofRental(ctx, "drop a payment", p, payment.Expire)
}

// ofRental moves one payment with its rental locked. Coming too late is fine.
func (m *Market) ofRental(ctx context.Context, name string, p payment.Payment, move func(context.Context, pgx.Tx, payment.ID) (bool, error)) error {
	return db.InTx(ctx, m.pool, name, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := rental.Lock(ctx, tx, p.Rental); err != nil {
			return err
		}
		_, err := move(ctx, tx, p.ID)
		return err
	})
}

// intend writes down what is about to be asked of Stripe, with its key, and
// sees to it that the hold lasts until the answer. It returns the rental's
// open payment when that offers the same.
func (m *Market) intend(ctx context.Context, id rental.ID, want Purchase, amount money.Money) (payment.Payment, error) {
	var p payment.Payment
	err := db.InTx(ctx, m.pool, "begin a checkout", func(ctx context.Context, tx pgx.Tx) error {
		r, now, err := lockNow(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := m.mayPay(r, now); err != nil {
			return err
		}
		if err := mayStart(want.GoLiveAt, now); err != nil {
			return err
		}
		ps, err := payment.LockOfRental(ctx, tx, id)
		if err != nil {
			return err
		}
		var again bool
		if p, again, err = m.openPayment(ctx, tx, ps, want, now); err != nil || again {
			return err
		}
		if !now.Before(m.rules.checkoutBy(r.CountedFrom)) {
			return fault.New(fault.Gone, "The time to begin paying for this hold is over. Please choose the blocks again.")
		}
		if p, err = payment.Insert(ctx, tx, newPayment(r, want, amount), m.rules.CheckoutTTL); err != nil {
			return err
		}
		return m.awaitAnswer(ctx, tx, r, want, p, now)
	})
	return p, err
}

func newPayment(r rental.Rental, want Purchase, amount money.Money) payment.Payment {
	return payment.Payment{
		Key: ident.New(), Rental: r.ID, Purpose: payment.New, Weeks: want.Weeks, Amount: amount,
		IdempotencyKey: "tuval-checkout-" + ident.New(), Email: want.Email, GoLiveAt: want.GoLiveAt,
	}
}

// openPayment finds the rental's open payment: the same purchase is offered
// again, a call that was never answered is repeated for a while and then
// given up.
func (m *Market) openPayment(ctx context.Context, tx pgx.Tx, ps []payment.Payment, want Purchase, now time.Time) (payment.Payment, bool, error) {
	for _, p := range ps {
		switch {
		case p.State == payment.Processing:
			return p, false, errProcessing()
		case p.State != payment.Open:
			continue
		case p.SessionID == nil && now.Sub(p.CreatedAt) >= payment.RepeatFor:
			if _, err := payment.Expire(ctx, tx, p.ID); err != nil {
				return p, false, err
			}
		case !p.SamePurchase(want.Weeks, want.Email, want.GoLiveAt), p.SessionID != nil && !now.Before(p.ExpiresAt):
			return p, false, errOpening()
		default:
			return p, true, nil
		}
	}
	return payment.Payment{}, false, nil
}

func errOpening() *fault.Error {
	return fault.New(fault.Conflict, "Another payment for this hold is just being opened. Please try again in a minute.")
}

// awaitAnswer lets the hold last until Stripe has had its chance to answer,
// and leaves a job for the end of the page.
func (m *Market) awaitAnswer(ctx context.Context, tx pgx.Tx, r rental.Rental, want Purchase, p payment.Payment, now time.Time) error {
	r.Email, r.GoLiveAt = &want.Email, want.GoLiveAt
	fx := &effects{}
	fx.jobAt(p.ExpiresAt.Add(m.rules.askAfter()), jobs.EndCheckout{Payment: int64(p.ID)})
	longer, err := m.lengthen(ctx, tx, r.State, r, now.Add(minLease), fx)
	if err != nil {
		return err
	}
	if longer {
		fx.event(about(r, ledger.HoldProlonged, ledger.System))
	}
	return m.write(ctx, tx, fx)
}

// lengthen writes a locked unpaid rental whose lease is to last at least until
// then, but not longer than possession without payment may. It reports whether
// the lease changed; whoever shows it must be told by an event then.
func (m *Market) lengthen(ctx context.Context, tx pgx.Tx, from rental.State, r rental.Rental, until time.Time, fx *effects) (bool, error) {
	until = earliest(until, r.CountedFrom.Add(m.rules.HoldMax))
	if !until.After(*r.LeasedUntil) {
		return false, rental.Write(ctx, tx, from, r)
	}
	r.LeasedUntil = &until
	fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.HoldLapses})
	return true, m.prolong(ctx, tx, from, r)
}

// askAfter is how long after the end of a page Stripe is asked what became of
// it. Where our deadline is before Stripe's, the page is still open then and
// nothing is waited for.
func (r Rules) askAfter() time.Duration {
	if r.CheckoutTTL < stripeMinimum {
		return 0
	}
	return min(time.Minute, r.CheckoutGrace/2)
}

// page is what Stripe is asked for. It follows from the stored payment alone,
// so that a repeat under the same key asks the very same.
func (m *Market) page(r rental.Rental, p payment.Payment) gateway.Purchase {
	weeks := fmt.Sprintf("%d weeks", p.Weeks)
	if p.Weeks == 1 {
		weeks = "1 week"
	}
	return gateway.Purchase{
		IdempotencyKey: p.IdempotencyKey, PaymentKey: p.Key, RentalKey: r.Key,
		Title:  fmt.Sprintf("%d x %d blocks at column %d, row %d for %s", r.Rect.W, r.Rect.H, r.Rect.X+1, r.Rect.Y+1, weeks),
		Amount: p.Amount.Amount, Currency: p.Amount.Currency, Email: p.Email,
		ExpiresAt:  latest(p.ExpiresAt, p.CreatedAt.Add(stripeMinimum)),
		SuccessURL: m.rentalURL(r) + "/return?session_id={CHECKOUT_SESSION_ID}",
		CancelURL:  m.rentalURL(r),
	}
}
