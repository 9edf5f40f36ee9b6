package stripesim

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// apiVersion is what stripe-go v76 speaks and what our objects look like.
const apiVersion = "2023-10-16"

// Options say how a simulator is made. Pool and SecretKey are required.
type Options struct {
	Pool *pgxpool.Pool

	// SecretKey is the only key that is accepted: sk_test_ and more.
	SecretKey string

	// WebhookURL is where events are sent; empty: nowhere.
	WebhookURL string

	// WebhookSecrets sign what is sent, each of them: during the roll of a
	// secret Stripe signs with the old and the new one.
	WebhookSecrets []string

	// BaseURL is how a browser reaches the handler, for the address of the
	// pay page. Empty: the address that the request came to.
	BaseURL string

	// APIVersion is written on events; empty: the one of stripe-go v76.
	APIVersion string

	// Production must be false.
	Production bool

	Logger     *slog.Logger // nil: slog.Default()
	HTTPClient *http.Client // sends webhooks; nil: one with a limit of 10 s

	// Poll is how long Run looks away when nothing wakes it; it bounds how
	// late another process's events are sent. Zero: 500 ms.
	Poll time.Duration

	// RetryGap is the pause after the n-th failed attempt at a webhook
	// (n from 1). Nil: from 0.5 s, doubling, up to a minute.
	RetryGap func(attempt int) time.Duration
}

// Sim is the simulator. Handler answers, Run sends webhooks and ends sessions.
type Sim struct {
	o    Options
	wake chan struct{} // has a token when there may be something to send
}

// New makes a simulator over a migrated schema (see Migrate). It refuses to
// in production, with a live key, and without a pool or a key.
func New(o Options) (*Sim, error) {
	switch {
	case o.Production:
		return nil, errors.New("stripesim: the payment simulator does not run in production")
	case o.Pool == nil:
		return nil, errors.New("stripesim: no database")
	case !strings.HasPrefix(o.SecretKey, "sk_test_"):
		return nil, errors.New("stripesim: the secret key must begin with sk_test_")
	case o.WebhookURL != "" && len(o.WebhookSecrets) == 0:
		return nil, errors.New("stripesim: webhooks need a secret to be signed with")
	}
	return &Sim{o: o.withDefaults(), wake: make(chan struct{}, 1)}, nil
}

func (o Options) withDefaults() Options {
	if o.APIVersion == "" {
		o.APIVersion = apiVersion
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Timeout: 10 * time.Second}
	}
	if o.Poll <= 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.RetryGap == nil {
		o.RetryGap = doubling
	}
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	o.HTTPClient = withoutRedirects(o.HTTPClient)
	return o
}

// doubling is the usual gap: short enough to watch in development.
func doubling(attempt int) time.Duration {
	const first, longest = 500 * time.Millisecond, time.Minute
	if attempt > 7 {
		return longest
	}
	return min(first<<max(attempt-1, 0), longest)
}

// withoutRedirects copies the client: for Stripe a redirect is a failure.
func withoutRedirects(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// nudge tells Run that there may be something to send.
func (s *Sim) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
