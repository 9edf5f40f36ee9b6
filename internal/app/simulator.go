package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"tuval/internal/gateway"
	"tuval/internal/stripesim"
)

// payments is where and with what keys money is asked for.
type payments struct {
	settings gateway.Settings
	secrets  []string // that sign webhooks
	origins  []string // of payment pages
	run      func(ctx context.Context)
	server   *http.Server // of the simulator; nil when Stripe is real
}

// callTimeout bounds one call to Stripe from a job; a buyer waits less.
const callTimeout = 25 * time.Second

// stripeItself is where Stripe's API is; its pages are elsewhere.
const stripeItself = "https://api.stripe.com"

func (b *Base) payments(ctx context.Context) (payments, error) {
	s := b.Config.Stripe
	if s.Simulated() {
		return b.simulator(ctx)
	}
	p := payments{
		settings: gateway.Settings{SecretKey: s.Key.Reveal(), URL: s.APIURL, Timeout: callTimeout},
		origins:  []string{"https://checkout.stripe.com"},
	}
	if s.APIURL != "" && s.APIURL != stripeItself { // a stand-in whose pages are there
		p.origins = append(p.origins, s.APIURL)
	}
	for _, secret := range s.WebhookSecrets {
		p.secrets = append(p.secrets, secret.Reveal())
	}
	return p, nil
}

// simulator starts the stand-in for Stripe on a port of its own: the next one
// after ours, so that payment pages stay where they were after a restart.
func (b *Base) simulator(ctx context.Context) (payments, error) {
	if err := stripesim.Migrate(ctx, b.Pool); err != nil {
		return payments{}, fmt.Errorf("prepare the payment simulator: %w", err)
	}
	listener, err := nextPort(b.Config.HTTP.Addr)
	if err != nil {
		return payments{}, fmt.Errorf("listen for the payment simulator: %w", err)
	}
	here := "http://" + listener.Addr().String()
	sum := sha256.Sum256(append([]byte("webhooks of the simulator\x00"), b.Secret...))
	webhookSecret, key := "whsec_"+hex.EncodeToString(sum[:16]), "sk_test_simulator"
	sim, err := stripesim.New(stripesim.Options{
		Pool: b.Pool, SecretKey: key, WebhookURL: b.Config.HTTP.BaseURL + "/webhooks/stripe", WebhookSecrets: []string{webhookSecret},
		BaseURL: here, Production: b.Config.Production(), Logger: b.Log,
	})
	if err != nil {
		return payments{}, err
	}
	server := &http.Server{Handler: sim.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Shutdown
	return payments{
		settings: gateway.Settings{SecretKey: key, URL: here, Timeout: callTimeout},
		secrets:  []string{webhookSecret}, origins: []string{here}, server: server,
		run: func(ctx context.Context) { _ = sim.Run(ctx) }, // always nil
	}, nil
}

// nextPort listens on the port after addr's on the loopback, or on any when
// that one is in use.
func nextPort(addr string) (net.Listener, error) {
	if _, port, err := net.SplitHostPort(addr); err == nil {
		if n, err := strconv.Atoi(port); err == nil && n > 0 && n < 65535 {
			if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n+1))); err == nil {
				return l, nil
			}
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}
