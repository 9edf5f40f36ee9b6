package config

import (
	"net/netip"
	"net/url"
	"time"

	"tuval/internal/money"
)

// Env says for whom the server runs.
type Env string

// The two kinds of installation.
const (
	Development Env = "development" // one person, one machine, nothing real
	Production  Env = "production"
)

// Config is everything the process was told.
type Config struct {
	Env      Env
	Secret   Secret // keys of tokens are derived from it; see DevSecret when not set
	HTTP     HTTP
	Database Database
	Stripe   Stripe
	Mail     Mail
	Market   Market
	Limits   Limits
	Launch   Launch
	Admin    Admin
	Log      Log
}

// Production reports whether strangers and real money are expected.
func (c Config) Production() bool { return c.Env == Production }

// HTTP is for the web server.
type HTTP struct {
	Addr           string         // host:port to listen on
	BaseURL        string         // scheme and host people use, without a final slash
	MetricsAddr    string         // host:port for /metrics; empty: on the main one, for this machine only
	TrustedProxies []netip.Prefix // peers whose forwarding headers count
	RateLimits     bool           // false switches request rates off, nothing else
}

// Secure reports whether people reach us over TLS.
func (h HTTP) Secure() bool {
	u, err := url.Parse(h.BaseURL)
	return err == nil && u.Scheme == "https"
}

// Database is for the pool and the private cluster.
type Database struct {
	URL     Secret // empty: a private PostgreSQL in DataDir
	DataDir string
	Migrate bool // whether serve applies migrations
}

// Stripe is for the payment gateway.
type Stripe struct {
	Key            Secret   // empty: the simulator, in development only
	WebhookSecrets []Secret // all are valid at once; may be empty in development
	APIURL         string   // without a final slash
	Live           bool     // the key is a live one, so livemode is expected
}

// Simulated reports whether the payment simulator stands in.
func (s Stripe) Simulated() bool { return !s.Key.IsSet() }

// Mail is for the outbox.
type Mail struct {
	SMTP Secret // smtp:// or smtps://; empty: kept for the development mailbox
	From string // as in RFC 5322: Name <address>
}

// Market holds the rules of renting.
type Market struct {
	Currency          money.Currency
	PricePerPixelWeek int64 // minor units
	MaxBlocks         int   // of one hold
	HoldTTL           time.Duration
	HoldMax           time.Duration // no lease before payment ends later than this after the hold's creation
	CheckoutTTL       time.Duration
	CheckoutGrace     time.Duration
	ApprovalWindow    time.Duration
	RenewalWindow     time.Duration
	ReconcileEvery    time.Duration
	MatchWindow       time.Duration // 0: requests for a spot are not gathered
}

// CheckoutLatest is the age of a hold until which a checkout may begin: later
// ones could not end within HoldMax.
func (m Market) CheckoutLatest() time.Duration { return m.HoldMax - m.CheckoutTTL - m.CheckoutGrace }

// Limits bound what unpaid holds may keep from others, a rolling day.
type Limits struct {
	HoldsPerPerson         int
	HoldsPerAddress        int
	BlocksPerPerson        int // the largest hold is also what one person may hold at once
	BlocksPerAddress       int
	BlockMinutesPerPerson  int
	BlockMinutesPerAddress int
	HoldMinutesPerPerson   int
	HeldShare              float64 // of the grid, by everybody together; above 0, at most 1
}

// Launch bounds what the operator can serve.
type Launch struct {
	ReviewsPerHour  int
	PixelsPerDay    int
	CheckoutsPer15M int
}

// Admin is an admin to make sure of at start; both parts are set or none.
type Admin struct {
	Email    string
	Password Secret
}

// Log is for the logger.
type Log struct {
	Format string // text or json
	Level  string // debug, info, warn or error
}
