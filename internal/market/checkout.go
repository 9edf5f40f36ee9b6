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
// over, Conflict when it is past paying, the amount differs (details.amount) or
// the chosen go-live time is full (code full), Limited when very many pages are
// being opened, and Unavailable when Stripe does not answer; nothing is lost
// then.
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
	return m.sell(ctx, r, payment.Payment{
		Rental: r.ID, Purpose: payment.New, Weeks: want.Weeks, Amount: amount, Email: want.Email, GoLiveAt: want.GoLiveAt,
	}, now)
}

// sell offers a page at which what is wanted can be paid.
func (m *Market) sell(ctx context.Context, r rental.Rental, want payment.Payment, now time.Time) (Offer, error) {
	if err := m.mayChoose(ctx, r, want, now); err != nil {
		return Offer{}, err
	}
	if err := m.mayStartOne(ctx, r, want, now); err != nil {
		return Offer{}, err
	}
	if err := m.makeRoom(ctx, r, want, now); err != nil {
		return Offer{}, err
	}
	offered, err := m.open(ctx, r, want)
	if errors.Is(err, gateway.ErrSpent) {
		// Stripe failed before and would say so for a day: with a new key.
		offered, err = m.open(ctx, r, want)
	}
	if errors.Is(err, gateway.ErrRefused) {
		m.log.ErrorContext(ctx, "stripe refused a checkout", "rental", r.ID, "error", err)
		err = fault.Away("The payment page cannot be opened at the moment. Nothing was charged.", time.Minute).Because(err)
	}
	return offered, err
}

// open writes down what is wanted, asks Stripe for the page and stores it.
func (m *Market) open(ctx context.Context, r rental.Rental, want payment.Payment) (Offer, error) {
	p, err := m.intend(ctx, want)
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
// else than what is asked now, or when its time is over. A page that can be
// paid is not given away when it is too late to begin another one.
func (m *Market) makeRoom(ctx context.Context, r rental.Rental, want payment.Payment, now time.Time) error {
	ps, err := payment.OfRental(ctx, m.pool, r.ID)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if p.State != payment.Open || p.SessionID == nil || p.SamePurchase(want) && now.Before(p.ExpiresAt) {
			continue
		}
		if err := m.mayBegin(r.At(now, m.terms()), want.Purpose, now); err != nil && now.Before(p.ExpiresAt) {
			return err
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
	return gateway.Purchase{
		IdempotencyKey: p.IdempotencyKey, PaymentKey: p.Key, RentalKey: r.Key,
		Title:  fmt.Sprintf("%d x %d blocks at column %d, row %d for %s", r.Rect.W, r.Rect.H, r.Rect.X+1, r.Rect.Y+1, forWeeks(p)),
		Amount: p.Amount.Amount, Currency: p.Amount.Currency, Email: p.Email,
		ExpiresAt:  latest(p.ExpiresAt, p.CreatedAt.Add(stripeMinimum)),
		SuccessURL: m.rentalURL(r) + "/return?session_id={CHECKOUT_SESSION_ID}",
		CancelURL:  m.rentalURL(r),
	}
}

func forWeeks(p payment.Payment) string {
	more := ""
	if p.Purpose != payment.New {
		more = "more "
	}
	if p.Weeks == 1 {
		return "1 " + more + "week"
	}
	return fmt.Sprintf("%d %sweeks", p.Weeks, more)
}
