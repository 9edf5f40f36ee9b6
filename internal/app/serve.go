package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"tuval/internal/account"
	"tuval/internal/jobs"
	"tuval/internal/mail"
	"tuval/internal/session"
	"tuval/internal/telemetry"
	"tuval/internal/workers"
	"tuval/migrations"
)

// Roles say which halves of the work a process takes.
type Roles struct {
	Web, Workers bool
}

// Serve runs until ctx is done or something that cannot be done without
// fails, and then stops gracefully. What a person wants to know goes to out.
func Serve(ctx context.Context, b *Base, roles Roles, out io.Writer) error {
	if b.Config.Database.Migrate {
		if err := migrations.Apply(ctx, b.Pool); err != nil {
			return err
		}
	}
	s := &server{Base: b, roles: roles, out: out, metrics: telemetry.New(prometheus.NewRegistry())}
	s.metrics.WatchPool(b.Pool)
	s.metrics.WatchMarket(s.readMarket)
	s.touch()
	defer s.stop()
	if err := s.start(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// touch makes the counters that alerts are written for visible from the start.
func (s *server) touch() {
	for _, outcome := range []string{"won", "taken", "limit", "unavailable"} {
		s.metrics.Claims.WithLabelValues(outcome)
	}
	for kind := range jobs.Kinds() {
		s.metrics.Jobs.WithLabelValues(kind, "done")
		s.metrics.Jobs.WithLabelValues(kind, "failed")
		s.metrics.JobLateness.WithLabelValues(kind)
	}
	s.metrics.Webhooks.WithLabelValues("checkout.session.completed", "booked")
}

// server is a process that serves.
type server struct {
	*Base
	roles    Roles
	out      io.Writer
	metrics  *telemetry.Metrics
	failed   chan error
	listener net.Listener
	client   *river.Client[pgx.Tx]
	stops    []func(ctx context.Context) // run last first
}

// stopWithin bounds a graceful stop.
const stopWithin = 12 * time.Second

func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i](ctx)
	}
}

func (s *server) onStop(fn func(ctx context.Context)) { s.stops = append(s.stops, fn) }

func (s *server) start(ctx context.Context) error {
	s.failed = make(chan error, 4)
	if err := s.bind(); err != nil {
		return err
	}
	admins := account.NewAdmins(s.Pool, account.DefaultCost(), s.Config.HTTP.RateLimits)
	welcome, err := s.firstAdmin(ctx, admins)
	if err != nil {
		return err
	}
	pay, err := s.payments(ctx)
	if err != nil {
		return err
	}
	if pay.server != nil {
		s.background(pay.run)
		s.onStop(func(ctx context.Context) { _ = pay.server.Shutdown(ctx) })
	}
	if err := s.wake(ctx, pay); err != nil {
		return err
	}
	if err := s.startWorkers(ctx, pay); err != nil {
		return err
	}
	if s.Config.HTTP.MetricsAddr != "" {
		listener, err := bind(s.Config.HTTP.MetricsAddr)
		if err != nil {
			return err
		}
		s.serve(listener, s.metrics.Handler())
	}
	if !s.roles.Web {
		return nil
	}
	site, err := s.site(ctx, admins, pay)
	if err != nil {
		return err
	}
	s.serve(s.listener, site)
	s.greet(welcome)
	return nil
}

// background runs fn until the process stops, and waits for it then.
func (s *server) background(fn func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(ctx)
	}()
	s.onStop(func(context.Context) {
		cancel()
		<-done
	})
}

// startWorkers makes the client of the queue, which the admin's view of it
// needs too, and starts it if this process works.
func (s *server) startWorkers(ctx context.Context, pay payments) error {
	sender, err := s.sender()
	if err != nil {
		return err
	}
	links := account.NewLinks(s.Pool)
	s.client, err = workers.New(workers.Deps{
		Pool: s.Pool, Market: s.Market(pay.settings), Mail: sender, Metrics: s.metrics, Log: s.Log,
		Sweep: func(ctx context.Context) error {
			_, errSessions := session.Prune(ctx, s.Pool)
			_, errLinks := links.Prune(ctx)
			return errors.Join(errSessions, errLinks)
		},
		ReconcileEvery: s.Config.Market.ReconcileEvery,
	})
	if err != nil || !s.roles.Workers {
		return err
	}
	if err := jobs.Tune(ctx, s.Pool); err != nil {
		return err
	}
	if err := s.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	s.onStop(func(ctx context.Context) {
		soft, cancel := context.WithTimeout(ctx, stopWithin*2/3)
		defer cancel()
		if s.client.Stop(soft) != nil {
			_ = s.client.StopAndCancel(ctx) // jobs that did not finish are taken over
		}
	})
	return nil
}

func (s *server) sender() (mail.Sender, error) {
	if !s.Config.Mail.SMTP.IsSet() {
		return mail.Mailbox{}, nil
	}
	return mail.NewSMTP(s.Config.Mail.SMTP.Reveal(), s.Config.Mail.From)
}

// bind takes the site's port before anything refers to its address: port 0
// means any, and becomes the real one in the address people use.
func (s *server) bind() error {
	if !s.roles.Web {
		return nil
	}
	var err error
	if s.listener, err = bind(s.Config.HTTP.Addr); err != nil {
		return err
	}
	s.onStop(func(context.Context) { _ = s.listener.Close() })
	if base, any := strings.CutSuffix(s.Config.HTTP.BaseURL, ":0"); any {
		_, port, _ := net.SplitHostPort(s.listener.Addr().String())
		s.Config.HTTP.BaseURL = base + ":" + port
	}
	return nil
}

func bind(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (is Tuval running already?): %w", addr, err)
	}
	return listener, nil
}

// serve answers on the listener until the process stops.
func (s *server) serve(listener net.Listener, h http.Handler) {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 60 * time.Second, WriteTimeout: 90 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	s.onStop(func(ctx context.Context) {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	})
}
