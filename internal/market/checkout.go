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

// MaxWeeks is the longest time one payment buys.
const MaxWeeks = 52

// MaxGoLive is how far ahead a go-live time may be chosen.
const MaxGoLive = 14 * 24 * time.Hour

// Purchase is what a buyer asks to pay for.
type Purchase struct {
	Weeks          int
	Email          string // a contact address; it grants nothing
	GoLiveAt       *time.Time
	ExpectedAmount *int64 // what the page showed, minor units
}

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
	amount, err := m.total(r.PricePerWeek, want)
	if err != nil {
		return Offer{}, err
	}
	if err := m.makeRoom(ctx, r, want); err != nil {
		return Offer{}, err
	}
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
	if err != nil {
		if errors.Is(err, gateway.ErrRefused) {
			m.log.ErrorContext(ctx, "stripe refused a checkout", "payment", p.ID, "error", err)
			return Offer{}, fault.Away("The payment page cannot be opened at the moment. Nothing was charged.", time.Minute).Because(err)
		}
		return Offer{}, err
	}
	return m.opened(ctx, p, s)
}

func offer(p payment.Payment) Offer {
	return Offer{PaymentKey: p.Key, URL: *p.SessionURL, ExpiresAt: p.ExpiresAt, Amount: p.Amount}
}

// total judges what is asked and says what it costs.
func (m *Market) total(perWeek money.Money, want Purchase) (money.Money, error) {
	if want.Weeks < 1 || want.Weeks > MaxWeeks {
		return money.Money{}, fault.Field("weeks", fmt.Sprintf("weeks must be from 1 to %d", MaxWeeks))
	}
	c := m.rules.Currency
	amount, ok := money.Total(perWeek.Amount, want.Weeks)
	if !ok || amount > c.Max {
		return money.Money{}, fault.Field("weeks", fmt.Sprintf("%d weeks cost more than the largest payment of %s.", want.Weeks, c.Of(c.Max)))
	}
	if !c.Chargeable(amount) {
		return money.Money{}, fault.Field("weeks", fmt.Sprintf("%d weeks cost %s; the smallest payment is %s.", want.Weeks, c.Of(amount), c.Of(c.Min)))
	}
	total := money.Money{Amount: amount, Currency: perWeek.Currency}
	if want.ExpectedAmount != nil && *want.ExpectedAmount != amount {
		return money.Money{}, fault.New(fault.Conflict, fmt.Sprintf("The price is %s.", total)).With("amount", total)
	}
	return total, nil
}

// makeRoom expires the rental's open page when it offers something else than
// what is asked now.
func (m *Market) makeRoom(ctx context.Context, r rental.Rental, want Purchase) error {
	ps, err := payment.OfRental(ctx, m.pool, r.ID)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if p.State != payment.Open || p.SessionID == nil || p.SamePurchase(want.Weeks, want.Email, want.GoLiveAt) {
			continue
		}
		patience, stop := context.WithTimeout(ctx, sessionPatience)
		paid, err := m.expireAtStripe(patience, p, "change")
		stop()
		if paid {
			return errPaidMeanwhile()
		}
		if err != nil {
			return err // two payable pages for one rental are never risked
		}
		err = db.InTx(ctx, m.pool, "give up a page", func(ctx context.Context, tx pgx.Tx) error {
			if _, err := rental.Lock(ctx, tx, r.ID); err != nil {
				return err
			}
			_, err := payment.End(ctx, tx, p.ID, payment.Expired)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
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
			return p, false, fault.New(fault.Conflict, "Your payment is being processed.")
		case p.State != payment.Open:
			continue
		case p.SessionID == nil && now.Sub(p.CreatedAt) >= payment.RepeatFor:
			if _, err := payment.End(ctx, tx, p.ID, payment.Expired); err != nil {
				return p, false, err
			}
		case !p.SamePurchase(want.Weeks, want.Email, want.GoLiveAt):
			return p, false, fault.New(fault.Conflict, "Another payment for this hold is just being opened. Please try again in a minute.")
		case p.SessionID != nil && !now.Before(p.ExpiresAt):
			return p, false, fault.New(fault.Gone, "The time to pay is over. Please choose the blocks again.")
		default:
			return p, true, nil
		}
	}
	return payment.Payment{}, false, nil
}

func (m *Market) mayPay(r rental.Rental, now time.Time) error {
	switch seen := r.At(now, m.terms()); {
	case seen.State == rental.Closed && seen.PaidAt == nil:
		return ErrHoldOver()
	case seen.State == rental.Closed:
		return fault.New(fault.Conflict, "This rental is closed.")
	case !seen.Unpaid():
		return fault.New(fault.Conflict, "This rental is paid already.")
	}
	return nil
}

// mayStart judges a chosen go-live time against the database's clock.
func mayStart(at *time.Time, now time.Time) error {
	switch {
	case at == nil:
		return nil
	case !at.Equal(at.Truncate(time.Hour)):
		return fault.Field("go_live_at", "go_live_at must be on the hour, in UTC")
	case !at.After(now):
		return fault.Field("go_live_at", "go_live_at must be in the future")
	case at.After(now.Add(MaxGoLive)):
		return fault.Field("go_live_at", "go_live_at can be at most 14 days ahead")
	}
	return nil
}

// awaitAnswer lets the hold last until Stripe has had its chance to answer,
// and leaves a job for the end of the page.
func (m *Market) awaitAnswer(ctx context.Context, tx pgx.Tx, r rental.Rental, want Purchase, p payment.Payment, now time.Time) error {
	least := earliest(now.Add(minLease), r.CountedFrom.Add(m.rules.HoldMax))
	until := latest(*r.LeasedUntil, least)
	r.LeasedUntil, r.Email, r.GoLiveAt = &until, &want.Email, want.GoLiveAt
	if err := m.prolong(ctx, tx, r.State, r); err != nil {
		return err
	}
	fx := &effects{}
	fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.HoldLapses})
	fx.jobAt(p.ExpiresAt.Add(time.Minute), jobs.EndCheckout{Payment: int64(p.ID)})
	return m.write(ctx, tx, fx)
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

// opened stores the page and turns the hold into a checkout, if it still is
// a hold; else the page is made unpayable by a job.
func (m *Market) opened(ctx context.Context, p payment.Payment, s gateway.Session) (Offer, error) {
	over := false
	err := db.InTx(ctx, m.pool, "open a checkout", func(ctx context.Context, tx pgx.Tx) error {
		fx := &effects{}
		r, now, err := lockNow(ctx, tx, p.Rental)
		if err != nil {
			return err
		}
		stored, err := payment.SetSession(ctx, tx, p.ID, s.ID, s.URL)
		if err != nil {
			return err
		}
		if seen := r.At(now, m.terms()); !stored || !seen.Unpaid() {
			over = !seen.Unpaid() && r.PaidAt == nil || !stored
			return m.abandon(ctx, tx, p, s, fx)
		}
		from := r.State
		until := latest(*r.LeasedUntil, earliest(p.ExpiresAt.Add(m.rules.CheckoutGrace), r.CountedFrom.Add(m.rules.HoldMax)))
		r.State, r.LeasedUntil = rental.Paying, &until
		if err := m.prolong(ctx, tx, from, r); err != nil {
			return err
		}
		if from == rental.Held {
			e := about(r, ledger.CheckoutBegun, ledger.Buyer)
			e.Payment = int64(p.ID)
			fx.event(e)
		}
		fx.jobAt(until, jobs.Settle{Rental: int64(r.ID), Why: jobs.HoldLapses})
		return m.write(ctx, tx, fx)
	})
	if err == nil && over {
		err = ErrHoldOver()
	}
	p.SessionURL = &s.URL
	return offer(p), err
}

// abandon ends a page that came too late to be used.
func (m *Market) abandon(ctx context.Context, tx pgx.Tx, p payment.Payment, s gateway.Session, fx *effects) error {
	const sql = `UPDATE payments SET session_id = $2, session_url = $3 WHERE id = $1 AND session_id IS NULL`
	if _, err := tx.Exec(ctx, sql, p.ID, s.ID, s.URL); err != nil {
		return fmt.Errorf("market: note an abandoned page: %w", err)
	}
	fx.job(jobs.ExpireSession{Payment: int64(p.ID)})
	return m.write(ctx, tx, fx)
}
