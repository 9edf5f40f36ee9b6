package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/jackc/pgx/v5/pgxpool"

	"tuval/internal/account"
	"tuval/internal/board"
	"tuval/internal/jobs"
	"tuval/internal/limits"
	"tuval/internal/market"
	"tuval/internal/picture"
	"tuval/internal/session"
	"tuval/internal/telemetry"
	"tuval/static"
	"tuval/web/repeat"
	"tuval/web/signin"
)

// Deps is what the site stands on.
type Deps struct {
	Pool    *pgxpool.Pool
	Market  *market.Market
	Board   Board
	Queue   *jobs.Queue // for the mails of sign-in links
	Admins  *account.Admins
	Limits  *limits.Set
	Studio  *picture.Studio
	Assets  *static.Assets
	Metrics *telemetry.Metrics
	Log     *slog.Logger

	// API answers everything below /api/. It finds who asks in package
	// visitor; tokens are its own business.
	API http.Handler
	// Jobs shows the queue of jobs below /admin/jobs/, to admins.
	Jobs http.Handler
	// Ready reports why the process cannot serve, or nil.
	Ready func(context.Context) error

	Settings Settings
}

// Settings are the operator's, as far as the site needs them.
type Settings struct {
	BaseURL         string // scheme and host people use, without a final slash
	Development     bool
	Secret          []byte // for the keys of network addresses
	TrustedProxies  []netip.Prefix
	CheckoutOrigins []string // where payment pages are, "https://checkout.stripe.com"
	WebhookSecrets  []string // all are valid at once
	MetricsHere     bool     // /metrics is answered here, for this machine only
	Mailbox         bool     // mails are kept and shown at /dev/mail; for development only
	Contact         string   // e-mail address of the operator, may be empty
}

// Board is the canvas as everybody sees it, kept in memory.
type Board interface {
	// Snapshot is the canvas now.
	Snapshot(ctx context.Context) (*board.Snapshot, error)
	// Picture is the composed canvas of a revision, kind "png" or "webp". An
	// unknown revision is a fault of kind NotFound.
	Picture(ctx context.Context, revision, kind string) ([]byte, error)
}

// site is the handlers and what they need.
type site struct {
	Deps
	mux      *http.ServeMux
	sessions *session.Sessions
	signin   *signin.Desk
	origins  *http.CrossOriginProtection
	policy   string // Content-Security-Policy of a page
	memory   *repeat.Memory
	alarms   gate // strange proxies
	refusals gate // refused webhooks
}

// New makes the handler of the whole site.
func New(d Deps) (http.Handler, error) {
	s := &site{Deps: d, mux: http.NewServeMux(), policy: policy(d.Settings.CheckoutOrigins), memory: repeat.New(d.Pool, d.Log)}
	s.sessions = session.New(d.Pool, session.Settings{Secure: s.secure(), Fail: s.refuse})
	s.signin = signin.New(d.Pool, d.Queue, d.Settings.BaseURL)
	s.origins = http.NewCrossOriginProtection()
	if err := s.origins.AddTrustedOrigin(d.Settings.BaseURL); err != nil {
		return nil, err
	}
	s.routes()
	return s.observed(s.protected(http.HandlerFunc(s.dispatch))), nil
}

// secure reports whether people reach us over TLS.
func (s *site) secure() bool { return isHTTPS(s.Settings.BaseURL) }
