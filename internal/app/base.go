package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/capacity"
	"tuval/internal/config"
	"tuval/internal/db"
	"tuval/internal/gateway"
	"tuval/internal/grid"
	"tuval/internal/jobs"
	"tuval/internal/localpg"
	"tuval/internal/market"
)

// Base is what every command needs: the database and what stands on it.
type Base struct {
	Config config.Config
	Pool   *pgxpool.Pool
	Queue  *jobs.Queue
	Log    *slog.Logger
	Secret []byte

	cluster *localpg.Cluster // nil: the operator's own PostgreSQL
}

// poolSize is how many connections a process uses at most.
const poolSize = 24

// Open connects to the configured database, or starts or joins the private
// one. Progress that a person may wonder about goes to out.
func Open(ctx context.Context, c config.Config, log *slog.Logger, out io.Writer) (*Base, error) {
	b := &Base{Config: c, Log: log}
	url := c.Database.URL.Reveal()
	if url == "" {
		var err error
		if url, err = b.private(ctx, out); err != nil {
			return nil, err
		}
	}
	if err := b.open(ctx, url); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Base) private(ctx context.Context, out io.Writer) (string, error) {
	cluster, err := localpg.Start(ctx, localpg.Options{Dir: b.Config.Database.DataDir, Log: out})
	if err != nil {
		return "", err
	}
	b.cluster = cluster
	url, err := cluster.EnsureDatabase(ctx, "tuval")
	if err != nil {
		return "", errors.Join(err, b.Close())
	}
	return url, nil
}

func (b *Base) open(ctx context.Context, url string) error {
	var err error
	if b.Secret, err = secret(b.Config); err != nil {
		return err
	}
	if b.Pool, err = db.Open(ctx, db.Settings{URL: url, Name: "tuval", MaxConns: poolSize}); err != nil {
		return err
	}
	if err := b.Pool.Ping(ctx); err != nil {
		return fmt.Errorf("the database does not answer: %w", db.Pooled(err))
	}
	if err := db.Direct(ctx, b.Pool); err != nil {
		return err
	}
	b.Queue, err = jobs.NewQueue(b.Pool)
	return err
}

func secret(c config.Config) ([]byte, error) {
	if c.Secret.IsSet() {
		return []byte(c.Secret.Reveal()), nil
	}
	s, err := config.DevSecret(c.Database.DataDir)
	return []byte(s.Reveal()), err
}

// Close gives the database up. A private server that nobody else uses stops.
func (b *Base) Close() error {
	if b.Pool != nil {
		b.Pool.Close()
	}
	if b.cluster == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	return b.cluster.Stop(ctx)
}

// Market makes the market that calls the given payment service.
func (b *Base) Market(stripe gateway.Settings) *market.Market {
	client := gateway.New(stripe, b.Config.Stripe.Live)
	return market.New(b.Pool, b.Queue, client, rules(b.Config, b.Secret), b.Log)
}

func rules(c config.Config, secret []byte) market.Rules {
	m, l := c.Market, c.Limits
	return market.Rules{
		Currency: m.Currency, PricePerPixel: m.PricePerPixelWeek,
		HoldTTL: m.HoldTTL, HoldMax: m.HoldMax, CheckoutTTL: m.CheckoutTTL, CheckoutGrace: m.CheckoutGrace,
		ApprovalWindow: m.ApprovalWindow, RenewalWindow: m.RenewalWindow, MaxBlocks: m.MaxBlocks,
		Person: market.Limits{
			Holds: l.HoldsPerPerson, Blocks: l.BlocksPerPerson, BlockMinutes: l.BlockMinutesPerPerson, HoldMinutes: l.HoldMinutesPerPerson,
		},
		Address: market.Limits{
			Holds: l.HoldsPerAddress, Blocks: l.BlocksPerAddress, BlockMinutes: l.BlockMinutesPerAddress,
		},
		MaxHeldShare: l.HeldShare, BaseURL: c.HTTP.BaseURL, Secret: secret,
		Launch: capacity.Limits{
			ReviewsPerHour: int64(c.Launch.ReviewsPerHour), PixelsPerDay: int64(c.Launch.PixelsPerDay),
			CheckoutsPer15M: int64(c.Launch.CheckoutsPer15M), HeldBlocks: int64(l.HeldShare * grid.Blocks),
		},
	}
}
