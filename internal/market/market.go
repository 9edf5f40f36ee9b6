package market

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/capacity"
	"tuval/internal/db"
	"tuval/internal/fault"
	"tuval/internal/gateway"
	"tuval/internal/jobs"
	"tuval/internal/money"
	"tuval/internal/rental"
	"tuval/internal/turnstile"
)

// Rules are the operator's numbers. Their defaults and meaning stand in the
// settings.
type Rules struct {
	Currency       money.Currency
	PricePerPixel  int64 // minor units a week
	HoldTTL        time.Duration
	HoldMax        time.Duration // possession without payment, from its beginning
	CheckoutTTL    time.Duration
	CheckoutGrace  time.Duration
	ApprovalWindow time.Duration
	RenewalWindow  time.Duration
	MaxBlocks      int // of one hold
	Person         Limits
	Address        Limits
	MaxHeldShare   float64 // of the grid, unpaid, by all together
	Launch         capacity.Limits
	BaseURL        string
	Secret         []byte
}

// Limits bound the unpaid holds of one person or one network address.
type Limits struct {
	Holds        int
	Blocks       int
	BlockMinutes int // in a rolling day
	HoldMinutes  int // in a rolling day; 0: no limit
}

// Stripe is what the market asks of the payment service.
type Stripe interface {
	Livemode() bool
	Begin(ctx context.Context, p gateway.Purchase) (gateway.Session, error)
	Get(ctx context.Context, id string) (gateway.Session, error)
	Expire(ctx context.Context, id, idempotencyKey string) (gateway.Session, error)
	Refund(ctx context.Context, idempotencyKey, refundKey, intent string, amount int64) (gateway.Refund, error)
	Refunds(ctx context.Context, intent string) ([]gateway.Refund, error)
	Events(ctx context.Context, from, to time.Time) ([]gateway.Listed, error)
}

// Market runs the verbs.
type Market struct {
	pool   *pgxpool.Pool
	queue  *jobs.Queue
	stripe Stripe
	rules  Rules
	log    *slog.Logger
	turns  turns
	watch  func() func(outcome string) // nil: nobody watches
	pages  *capacity.Memory            // nil: payment pages are not counted
}

// New makes a market over the pool's database.
func New(pool *pgxpool.Pool, queue *jobs.Queue, stripe Stripe, rules Rules, log *slog.Logger) *Market {
	return &Market{pool: pool, queue: queue, stripe: stripe, rules: rules, log: log}
}

// Rules returns the operator's numbers.
func (m *Market) Rules() Rules { return m.rules }

func (m *Market) terms() rental.Terms { return rental.Terms{RenewalWindow: m.rules.RenewalWindow} }

// maxMoves is how often a claim starts over when owners change under it.
const maxMoves = 5

// contend runs a transaction that may take blocks, and starts it over when
// the owners it had locked are not the owners it met.
func (m *Market) contend(ctx context.Context, name string, fn func(ctx context.Context, tx pgx.Tx) error) error {
	for range maxMoves {
		err := db.InTx(ctx, m.pool, name, fn)
		if !errors.Is(err, turnstile.ErrMoved) {
			return err
		}
	}
	return fault.Away("Many people want these blocks at the moment. Please try again.", time.Second)
}

func lease(r rental.Rental) turnstile.Lease {
	return turnstile.Lease{Claim: turnstile.ClaimID(r.ID), Rect: r.Rect}
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// checkoutBy is the last moment at which a checkout of the rental can begin:
// its session and the grace after it must end within the longest possession.
func (r Rules) checkoutBy(from time.Time) time.Time {
	return from.Add(r.HoldMax - r.CheckoutTTL - r.CheckoutGrace)
}
