package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"riverqueue.com/riverui"

	"tuval/internal/account"
	"tuval/internal/board"
	"tuval/internal/limits"
	"tuval/internal/picture"
	"tuval/internal/rental"
	"tuval/internal/telemetry"
	"tuval/migrations"
	"tuval/static"
	"tuval/web"
	"tuval/web/api"
)

// site puts the web side together.
func (s *server) site(ctx context.Context, admins *account.Admins, pay payments) (http.Handler, error) {
	assets, err := static.New()
	if err != nil {
		return nil, err
	}
	queue, err := s.queuePages(ctx)
	if err != nil {
		return nil, err
	}
	m := s.Market(pay.settings)
	m.Watch(s.claimed)
	deps := web.Deps{
		Pool: s.Pool, Market: m, Board: board.New(s.Pool, rental.Terms{RenewalWindow: m.Rules().RenewalWindow}),
		Queue: s.Queue, Admins: admins, Limits: limits.New(s.Config.HTTP.RateLimits),
		Studio: picture.NewStudio(picture.DefaultLimits()), Assets: assets, Metrics: s.metrics, Log: s.Log,
		Jobs: queue, Ready: s.ready, Settings: s.settings(pay),
	}
	deps.API = api.New(api.Deps{
		Pool: s.Pool, Market: m, Board: deps.Board, Admins: admins, Limits: deps.Limits, Studio: deps.Studio, Log: s.Log,
		Capacity: s.capacity(m),
	})
	return web.New(deps)
}

func (s *server) settings(pay payments) web.Settings {
	c := s.Config
	return web.Settings{
		BaseURL: c.HTTP.BaseURL, Development: !c.Production(), Secret: s.Secret, TrustedProxies: c.HTTP.TrustedProxies,
		CheckoutOrigins: pay.origins, WebhookSecrets: pay.secrets, MetricsHere: c.HTTP.MetricsAddr == "",
		Mailbox: !c.Production() && !c.Mail.SMTP.IsSet(),
	}
}

// queuePages shows the queue of jobs to admins.
func (s *server) queuePages(ctx context.Context) (http.Handler, error) {
	h, err := riverui.NewHandler(&riverui.HandlerOpts{
		Endpoints: riverui.NewEndpoints(s.client, nil), Prefix: "/admin/jobs", Logger: slog.New(backstage{s.Log.Handler()}),
	})
	if err != nil {
		return nil, fmt.Errorf("make the pages of the queue: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.onStop(func(context.Context) { cancel() })
	if err := h.Start(running); err != nil {
		return nil, fmt.Errorf("start the pages of the queue: %w", err)
	}
	return h, nil
}

// ready says why the process cannot serve, or nil.
func (s *server) ready(ctx context.Context) error {
	if err := s.Pool.Ping(ctx); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if s.roles.Workers {
		select {
		case <-s.client.Stopped():
			return errors.New("the workers have stopped")
		default:
		}
	}
	pending, err := migrations.Pending(ctx, s.Pool)
	if err != nil {
		return err
	}
	if pending {
		return errors.New("migrations are to be applied")
	}
	return nil
}

// readMarket reads the state of the canvas for the metrics.
func (s *server) readMarket(ctx context.Context) (telemetry.Market, error) {
	m, err := board.Measure(ctx, s.Pool)
	if err != nil {
		return m, err
	}
	return m, s.measurePasses(ctx, &m)
}

// claimed counts and times one attempt to take blocks.
func (s *server) claimed() func(outcome string) {
	begun := time.Now()
	return func(outcome string) {
		s.metrics.Claims.WithLabelValues(outcome).Inc()
		s.metrics.ClaimSeconds.Observe(time.Since(begun).Seconds())
	}
}
